"""`invariant_sweep`: the stated invariants hold after every step of long, wide rollouts.

Looked at after every reset and step, in every row: each invariant, and that every value is one the schema allows
(bounds, NaN, infinities, -0.0, dtype, shape). Illegal actions must leave a row as it was, to the bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gymnasium.vector import AutoresetMode

from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import FROM_SCHEMA
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, seeds_for
from simulacrum.harness.frames import row_action
from simulacrum.harness.illegal import unheld
from simulacrum.harness.parts import Parts
from simulacrum.harness.relations.dead import dead, fresh_memory
from simulacrum.harness.relations.declared import Found, derived, judged, no_op, symmetry
from simulacrum.harness.relations.moments import moments
from simulacrum.harness.relations.unused_draws import unused_draws
from simulacrum.harness.sweep import Sweep
from simulacrum.trace.divergence import Divergence
from simulacrum.twin.invariant import invariants_of
from simulacrum.twin.relations import Dead, Derived, NoOp, Symmetry

# Sub-checks of what relations.py declares, in the order in which they run.
KINDS: Mapping[str, tuple[type[Any], Callable[..., Found]]] = {
    "dead_operands": (Dead, dead),
    "symmetries": (Symmetry, symmetry),
    "no_op": (NoOp, no_op),
    "derived_fields": (Derived, derived),
}
LONG, LONGEST = 120, 600  # steps of a long rollout, at least and at most


@dataclass(frozen=True)
class Plan:
    """One rollout: rows, steps (None: three episodes and more), autoreset mode, time limit, parameters per row."""

    num_envs: int
    steps: int | None = None
    mode: AutoresetMode = AutoresetMode.NEXT_STEP
    limit: Any = FROM_SCHEMA
    params: bool = False


FULL = (
    Plan(1024),
    Plan(1024, params=True),
    Plan(512, mode=AutoresetMode.SAME_STEP, params=True),
    Plan(257, 12, limit=1),
    Plan(257, 24, limit=2, mode=AutoresetMode.SAME_STEP),
    Plan(257, 48, limit=7, params=True),
)
QUICK = (Plan(128, 40), Plan(65, 12, limit=2))
REFERENCE_ROWS, REFERENCE_EPISODES, REFERENCE_STEPS = 6, 3, 400


def run(bench: Bench) -> Outcome:
    """The reference on a few rows, the batched twin far and wide, illegal actions, and what holds step by step."""
    parts, evidence = Parts(bench), dict[str, Any]()
    parts.run("stated_truths", lambda: _stated(bench, evidence))
    parts.run("illegal_actions", lambda: _illegal(bench, evidence))
    visited = functools.cache(lambda: moments(bench))  # made once, by the first relation that needs it
    for name, (kind, attempt) in KINDS.items():
        bench.say(name.replace("_", " "))
        parts.run(name, lambda kind=kind, attempt=attempt: judged(bench, visited, kind, attempt))
    parts.run("unused_draws", lambda: unused_draws(bench, visited()))
    parts.run("fresh_memory", lambda: fresh_memory(bench))
    if "stated_truths" not in parts.results:
        return parts.joined()
    held, looked = len(evidence.get("invariants", ())), evidence.get("row_moments", 0)
    return parts.outcome(f"{held} invariants held in {looked:,} rows times moments", **evidence)


def _illegal(bench: Bench, evidence: dict[str, Any]) -> Outcome:
    bench.say("illegal actions")
    problem, tried = unheld(bench)
    evidence["illegal_actions_tried"] = tried
    if problem is not None:
        return failed(problem, tried=tried)
    return passed(f"{tried} kinds of illegal actions", tried=tried)


def _stated(bench: Bench, evidence: dict[str, Any]) -> Outcome:
    """Invariants and the schema's limits; what was counted goes into `evidence`."""
    invariants = invariants_of(bench.package.twin_class("fast"))
    plans = QUICK if bench.quick else FULL
    bench.say("reference", 0, len(plans) + 1)
    broken, moments = _reference(bench)
    evidence.update(
        invariants={found.method: found.rule for found in invariants}, reference_moments=moments, row_moments=0,
        episode_ends=0,
    )
    if broken is not None:
        return failed(broken)
    for number, plan in enumerate(plans, start=1):
        bench.say(f"{plan.num_envs} rows", number, len(plans) + 1)
        sweep, found = _sweep(bench, plan, bench.seed + number)
        evidence["row_moments"] += sweep.looked
        evidence["episode_ends"] += sweep.ends
        if found is not None:
            return failed(f"{found.difference.path} does not hold", found)
    if not invariants:
        return inconclusive("no invariants are declared: state what always holds, and mark it @invariant in both twins")
    if not evidence["episode_ends"]:
        return inconclusive(f"{len(invariants)} invariants held, but no episode ended")
    return passed(f"{len(invariants)} invariants held", row_moments=evidence["row_moments"])


def _sweep(bench: Bench, plan: Plan, seed: int) -> tuple[Sweep, Divergence | None]:
    params = bench.row_params(plan.num_envs, seed) if plan.params else None
    env = bench.env(plan.num_envs, mode=plan.mode, limit=plan.limit, params=params)
    limit = env.max_episode_steps
    long = LONGEST if limit is None else min(max(3 * (limit + 1), LONG), LONGEST)
    driver = drivers.standard(bench.schema, plan.num_envs, seed)
    sweep = Sweep(bench, env)
    return sweep, sweep.run(driver, seeds_for(plan.num_envs, seed), plan.steps or long)


def _reference(bench: Bench) -> tuple[str | None, int]:
    """What the reference breaks in some episodes of a few rows, and at how many moments it was looked at."""
    schema, moments = bench.schema, 0
    driver = drivers.standard(schema, REFERENCE_ROWS, bench.seed)
    steps = [driver.actions({}, step) for step in range(REFERENCE_STEPS)]
    for row, seed in enumerate(seeds_for(REFERENCE_ROWS, bench.seed)):
        runner = ReferenceRunner(bench.package, max_episode_steps=schema.max_episode_steps)
        runner.reset(seed)
        action: Any = None
        for actions in steps:
            moments += 1
            for found in runner.broken_invariants():
                return (
                    f"the reference breaks {found.method} ({found.rule}: {found.text})\n"
                    f"  seed {seed}, episode {runner.episode}, t {runner.t}, after action {action}\n"
                    f"  state: {runner.state}"
                ), moments
            if runner.ended:
                if runner.episode + 1 >= REFERENCE_EPISODES:
                    break
                runner.reset()
                continue
            action = row_action(schema, actions, row)
            runner.step(action)
    return None, moments
