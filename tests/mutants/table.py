"""The planted faults, by kind. The kinds are those in which fast forms of environments have gone wrong in public.

`RULES` is what every rule fault of a batched twin runs into: whatever drives it beside the reference sees it.
"""

from __future__ import annotations

from mutants.mutant import planted

RULES = "differential auto_reset replay"
RETURNS = f"{RULES} scripted_policies"  # and whoever counts what a policy earns
FAST = "fast.py"

TWINS = (
    planted(
        "K01 rewards broadcast over the batch", "toywalk",
        f"{RETURNS} batch_independence invariant_sweep spec_contract",
        (FAST, "return torch.where(at_goal, GOAL_REWARD, step_reward)",
         "return torch.where(at_goal[:, None], GOAL_REWARD, step_reward).amax(dim=0)"),
    ),
    planted(
        "K02 the clock of the slowest row shown to all", "toywalk", f"{RULES} batch_independence spec_contract",
        (FAST, "elapsed = ctx.t.clamp(", "elapsed = ctx.t.amax().expand_as(ctx.t).clamp("),
    ),
    planted(
        "K02 energy from the row before", "forager", f"{RETURNS} batch_independence invariant_sweep spec_contract",
        (FAST, "energy = (state.energy - STEP_ENERGY", "energy = (state.energy.roll(1) - STEP_ENERGY"),
    ),
    planted(
        "K03 all in place of any", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "terminated = ~alive.any(dim=-1)", "terminated = ~alive.all(dim=-1)"),
    ),
    planted(
        "K04 berries sought from the old place", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "eaten = self._eaten(state, x, y)  # R9: K times bool [N]",
         "eaten = self._eaten(state, state.x, state.y)  # R9"),
    ),
    planted(
        "K05 walls before the move", "toywalk", f"{RULES} invariant_sweep",
        (FAST, "(state.position + move).clamp(LEFT_END, GOAL)", "state.position.clamp(LEFT_END, GOAL) + move"),
    ),
    planted(
        "K06 the shown clock is one ahead", "toywalk", RULES,
        (FAST, "elapsed = ctx.t.clamp(", "elapsed = (ctx.t + 1).clamp("),
    ),
    planted(
        "K07 terminated given as truncated", "toywalk", f"{RULES} invariant_sweep",
        (FAST, "reward, at_goal)  # R7", "reward, torch.zeros_like(at_goal), at_goal)  # R7"),
    ),
    planted(
        "K09 berries eaten are not taken away", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "state.replace(x=x, y=y, energy=energy, alive=alive)", "state.replace(x=x, y=y, energy=energy)"),
    ),
    planted(
        "K10 one slot drawn twice", "forager", f"{RETURNS} invariant_sweep spec_contract",
        (FAST, 'berry_y=draw.integers("berry_y", SIZE)', 'berry_y=draw.integers("berry_x", SIZE)'),
    ),
    planted(
        "K11 a draw from the global generator", "toywalk", f"{RETURNS} batch_independence determinism invariant_sweep "
        "spec_contract throughput",
        (FAST, 'slips = ctx.draw.bernoulli("slip", ctx.params.slip)',
         'slips = ctx.draw.bernoulli("slip", ctx.params.slip) | (torch.rand(ctx.t.shape) < ctx.params.slip)'),
    ),
    planted(
        "K12 offsets in unsigned bytes", "forager", f"{RULES} invariant_sweep",
        (FAST, "east = (state.berry_x - state.x[:, None]).to(torch.float32)",
         "east = (state.berry_x.to(torch.uint8) - state.x[:, None].to(torch.uint8)).to(torch.float32)"),
    ),
    planted(
        "K13 a product in place of a quotient", "toywalk", RULES,
        (FAST, ".to(torch.float32) / MAX_EPISODE_STEPS", ".to(torch.float32) * (1.0 / MAX_EPISODE_STEPS)"),
    ),
    planted(
        "K13 gains added from the last berry to the first", "forager", "differential auto_reset invariant_sweep",
        (FAST, "in range(BERRIES):\n            # A berry", "in reversed(range(BERRIES)):\n            # A berry"),
    ),
    planted(
        "K14 a mask as a factor gives -0.0", "forager", f"{RULES} invariant_sweep",
        (FAST, "torch.where(state.alive, column, 0.0) for column", "state.alive * column for column"),
    ),
    planted(
        "K15 nothing eaten eats the first berry", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "return torch.stack(left, dim=-1)  # bool [N, K]",
         "first = left[0] & torch.stack(list(eaten), dim=-1).any(dim=-1)\n"
         "        return torch.stack([first, *left[1:]], dim=-1)"),
    ),
    planted(
        "K16 walls that wrap around", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "(x + east_west).clamp(0, SIZE - 1)", "(x + east_west) % SIZE"),
    ),
    planted(
        "K17 the wall one cell too early", "toywalk", f"{RETURNS} invariant_sweep",
        (FAST, "clamp(LEFT_END, GOAL)  # R5", "clamp(LEFT_END + 1, GOAL)  # R5"),
    ),
    planted(
        "K18 distance without its sign", "toywalk", f"{RULES} invariant_sweep",
        (FAST, "GOAL - state.position}", "GOAL - state.position.abs()}"),
    ),
    planted(
        "K19 the state moved in place", "toywalk", "determinism differential invariant_sweep spec_contract throughput",
        (FAST, "(state.position + move).clamp(LEFT_END, GOAL)", "state.position.add_(move).clamp_(LEFT_END, GOAL)"),
    ),
    planted(
        "K20 two rows of a table swapped", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "torch.where(kind == 1, GAIN_MEDIUM, small)", "torch.where(kind == 0, GAIN_MEDIUM, small)"),
    ),
    planted(
        "K21 north and south exchanged", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3", "NORTH, EAST, SOUTH, WEST = 2, 1, 0, 3"),
    ),
    planted(
        "K22 of two berries in one cell only the first is eaten", "forager", f"{RETURNS} invariant_sweep",
        (FAST, "return [state.alive[:, k] & here[k] for k in range(BERRIES)]",
         "hit, taken, first = [state.alive[:, k] & here[k] for k in range(BERRIES)], x != x, []\n"
         "        for k in range(BERRIES):\n"
         "            first, taken = [*first, hit[k] & ~taken], taken | hit[k]\n"
         "        return first"),
    ),
    planted(
        "K23 another result in whole vectors", "toywalk", "batch_independence differential",
        (FAST, "move = self._move(action, slips)  # R4: int32 [N]",
         "move = self._move(action, slips)  # R4\n        if len(move) % 16 == 0:\n            move = -move"),
    ),
    planted(
        "K24 a metric that misses the last berry", "forager", f"{RULES} invariant_sweep",
        (FAST, "eaten = BERRIES - self._living(state)", "eaten = (BERRIES - self._living(state)).clamp(max=1)"),
    ),
)

# The reference is wrong, or both twins are, or what they say of themselves.
OTHERS = (
    planted(
        "the reference forgets slips", "toywalk", f"{RETURNS} invariant_sweep",
        ("reference.py", "return -move if slips else move", "return move"),
    ),
    planted(
        "both twins exchange left and right", "toywalk", "invariant_sweep scripted_policies",
        ("reference.py", "move = -1 if action == LEFT else 1", "move = 1 if action == LEFT else -1"),
        (FAST, "right = (action == 1) ^ slips", "right = (action == 0) ^ slips"),
    ),
    planted(
        "both twins hash a string", "toywalk", "determinism",
        ("reference.py", "return Float32(state.position) / GOAL,",
         'return Float32(state.position) / (GOAL + 1 + hash("toywalk") % 4096),'),
        (FAST, "where = state.position.to(torch.float32) / GOAL",
         'where = state.position.to(torch.float32) / (GOAL + 1 + hash("toywalk") % 4096)'),
    ),
    planted(
        "an invariant that does not hold", "toywalk", "invariant_sweep",
        (FAST, "(state.position >= LEFT_END) &", "(state.position > LEFT_END) &"),
    ),
    planted(
        "the schema has another time limit than the spec", "toywalk", "spec_contract",
        ("schema.json", '"x-max-episode-steps": 60', '"x-max-episode-steps": 50'),
    ),
    planted(
        "one twin reads the other", "toywalk", "spec_contract",
        (FAST, "from . import GOAL,", "from .reference import LEFT as _LEFT\nfrom . import GOAL,"),
    ),
    planted(
        "a rule that the code never names", "toywalk", "spec_contract",
        (FAST, "GOAL - state.position}  # R10: int32 [N]", "GOAL - state.position}"),
    ),
    planted(
        "a slot that nobody draws", "toywalk", "invariant_sweep scripted_policies spec_contract",
        ("reference.py", 'slips = ctx.draw.bernoulli("slip", ctx.params.slip)', "slips = False"),
        (FAST, 'slips = ctx.draw.bernoulli("slip", ctx.params.slip)', "slips = torch.zeros_like(action == 0)"),
    ),
)

BOUNDARY = "simulacrum/engine/boundary.py"
FRAMEWORK = (
    planted(
        "K06 the time limit one step late", "toywalk", RETURNS,
        (BOUNDARY, "truncated | (t >= limit)", "truncated | (t > limit)"),
    ),
    planted(
        "K08 SAME_STEP starts the same episode again", "toywalk", "auto_reset differential",
        (BOUNDARY, "after = merge(last.ended, self.fresh(es.seed, es.episode + 1, params), last)",
         "after = merge(last.ended, self.fresh(es.seed, es.episode, params), last)"),
    ),
    planted(
        "K08 the final observation is the next one", "toywalk", "auto_reset differential",
        (BOUNDARY, "  final_observation=final_observation,", "  final_observation=out.observation.clone(),"),
    ),
    planted(
        "K09 a reset by hand resets all rows", "toywalk", "auto_reset differential replay",
        (BOUNDARY, "merge(mask, self.fresh(seed, episode, params), es)", "self.fresh(seed, episode, params)"),
    ),
    planted(
        "K09 the return is carried over", "toywalk", RULES,
        (BOUNDARY, "merge(resetting, self.fresh(es.seed, es.episode + 1, params), after)",
         "merge(resetting, self.fresh(es.seed, es.episode + 1, params), after)._replace(returns=after.returns)"),
    ),
    planted(
        "K11 step draws keyed after the step", "toywalk", RETURNS,
        (BOUNDARY, 'draw = self._draw("step", es.key, es.t)', 'draw = self._draw("step", es.key, es.t + 1)'),
    ),
    planted(
        "K19 outputs share memory with the state", "counter", "determinism",
        ("simulacrum/engine/output.py", "if identity in self.taken or not tensor.is_contiguous():", "if False:"),
    ),
    planted(
        "K11 a saved state with the draws of other rows", "toywalk", "determinism",
        ("simulacrum/engine/snapshot.py", "        state = EngineState(env=inner, **clock)",
         "        state = EngineState(env=inner, **{**clock, \"key\": clock[\"key\"].roll(1, 0)})"),
    ),
)

# Wrong only in the compiled form: whoever trains on it would never know.
COMPILED = (
    planted(
        "K23 another rule while compiling", "toywalk", "spec_contract benchmark_factory_parity throughput",
        (FAST, "return right.to(torch.int32) * 2 - 1",
         "return right.to(torch.int32) * (1 if torch.compiler.is_compiling() else 2) - 1"),
    ),
)

# Rewrites that change nothing: a check that minds one of them is wrong.
HARMLESS = (
    planted(
        "a sum of selections in place of arithmetic", "toywalk", "",
        (FAST, "return right.to(torch.int32) * 2 - 1", "return torch.where(right, 1, -1).to(torch.int32)"),
    ),
    planted(
        "two bounds one after the other", "toywalk", "",
        (FAST, ".clamp(LEFT_END, GOAL)", ".clamp(max=GOAL).clamp(min=LEFT_END)"),
    ),
    planted(
        "draws asked for in another order, and one twice", "forager", "",
        (FAST, 'kind = draw.integers("berry_kind", KINDS)',
         'draw.integers("start_y", SIZE)\n        kind = draw.integers("berry_kind", KINDS)'),
    ),
    planted(
        "wider integers on the way", "forager", "",
        (FAST, "return (x + east_west).clamp(0, SIZE - 1),",
         "return (x.to(torch.int64) + east_west).clamp(0, SIZE - 1).to(torch.int32),"),
    ),
    planted(
        "truncation said in so many words", "toywalk", "",
        (FAST, "reward, at_goal)  # R7", "reward, at_goal, torch.zeros_like(at_goal))  # R7"),
    ),
    planted(
        "a loop in the reference", "forager", "",
        ("reference.py", "return self._gain(state.berry_kind, tuple(not alive for alive in state.alive))",
         "gone = [not alive for alive in state.alive]\n        return self._gain(state.berry_kind, tuple(gone))"),
    ),
    planted(
        "a view of the state given as a metric", "forager", "",
        (FAST, 'return {"eaten": eaten, "gain"', 'return {"eaten": eaten.view(-1), "gain"'),
    ),
)
