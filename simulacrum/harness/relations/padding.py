"""M3: rows that have ended, or that hold extreme values, change no row beside them."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor

from simulacrum.engine.boundary import EngineState
from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.extremes import extreme_states
from simulacrum.harness.relations.dead import poisons
from simulacrum.harness.relations.moments import Moments, Shown, joined, moments, named, tried
from simulacrum.harness.relations.told import apart
from simulacrum.twin.batched import dump_state, load_states

LIVE, BATCHES, QUICK_BATCHES = 15, 10, 4
# In DISABLED rows that have ended wait, and are shown as they stand.
MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)


def padded_with_dead_rows(bench: Bench) -> Outcome:
    """Live rows alone, and with padding before, between and after them, one step in every mode."""
    at = moments(bench, ended=True)
    going, over = at.only(~at.state.ended), at.only(at.state.ended)
    kinds = {"rows that have ended": over, "rows at the ends of what the schema allows": _extreme(bench, going)}
    kinds["ended rows with values beyond all bounds"] = _beyond(over if len(over) else going)
    counted: dict[str, Any] = {"compared_transitions": 0, "padding": {}, "refused": 0}
    for what, padding in kinds.items():
        kept = _steppable(padding)
        counted["padding"][what] = len(kept)
        counted["refused"] += len(padding) - len(kept)
        for number in range(QUICK_BATCHES if bench.quick else BATCHES):
            if not len(kept):
                break
            bench.say(what, number, BATCHES)
            live, beside = _some(going, number, LIVE), _some(kept, number, 2 * LIVE)
            for mode in MODES:
                found = _one(bench, live, beside, mode, what)
                if found is not None:
                    return failed(f"{found.difference.path}; {found.hints[-1]}", found, **counted)
                counted["compared_transitions"] += len(live)
    counted["padding"] = {what: count for what, count in counted["padding"].items() if count}
    return passed(f"{counted['compared_transitions']:,} transitions beside {', '.join(counted['padding'])}", **counted)


def _some(at: Moments, number: int, count: int) -> Moments:
    """`count` moments, others for each number; some twice where there are not enough."""
    places = (torch.arange(count) * max(len(at) // count, 1) + number * 7) % len(at)
    return at.only(places.to(at.env.device))


def _one(bench: Bench, live: Moments, beside: Moments, mode: AutoresetMode, what: str) -> Any:
    """The first difference of the live rows, alone and among the others."""
    half = len(live) // 2
    order = [live.only(torch.arange(half)), live.only(torch.arange(half, len(live)))]
    pads = [beside.only(torch.arange(start, len(beside), 3)) for start in range(3)]
    parts = [pads[0], order[0], pads[1], order[1], pads[2]]
    whole = joined(*((part.state, part.action, part.params) for part in parts))
    first, second = len(pads[0]), len(pads[0]) + half + len(pads[1])
    rows = torch.cat([torch.arange(first, first + half), torch.arange(second, second + len(live) - half)])
    alone = _stepped(live, mode, (live.state, live.action, live.params))
    among = {name: value[rows] for name, value in _stepped(live, mode, whole).items()}
    notes = (f"it changes beside {what} ({mode.name.lower()})",)
    return apart(bench, live, alone, among, side="the live rows alone", notes=notes, kinds=("K02", "K14"))


def _stepped(at: Moments, mode: AutoresetMode, given: tuple[EngineState, Any, Any]) -> Shown:
    """What a step of the engine shows, by the names that frames use."""
    schema = at.schema
    after, out = at.env.core.step(mode, *given)
    shown: Shown = {f"state.{name}": value for name, value in zip(after.env._fields, after.env, strict=True)}
    shown.update(reward=out.reward, terminated=out.terminated, truncated=out.truncated, t=after.t)
    shown.update(episode=after.episode, episode_return=after.returns, episode_length=out.episode_length)
    shown.update(named("observation", schema.observation, out.observation))
    shown.update({f"info.{name}": out.info[name] for name in schema.info.fields})
    if out.action_mask is not None:
        shown["action_mask"] = out.action_mask
    return shown


def _extreme(bench: Bench, going: Moments) -> Moments:
    """Going rows with every field of the state at the ends of what it may hold."""
    schema = bench.schema
    host = type(going.state.env)(*(value[:1].cpu() for value in going.state.env))
    states = extreme_states(schema, dump_state(schema, host, 0))
    at = going.only(torch.arange(len(states), device=going.env.device) % len(going))
    loaded = load_states(schema, states, going.env.device)
    return at.instead(state=loaded)


def _beyond(at: Moments) -> Moments:
    """Rows that wait for their reset, with NaN, infinities and the ends of the dtypes in all fields."""
    most, rows = 6, list[EngineState]()
    for number in range(most):
        one = at.only(torch.tensor([number % len(at)], device=at.env.device))
        changed = {name: _poison(one, name, number) for name in one.schema.state.fields}
        ended = torch.ones_like(one.state.ended)
        rows.append(one.state._replace(env=one.state.env._replace(**changed), ended=ended))
    chosen = at.only(torch.arange(most, device=at.env.device) % len(at))
    return Moments(at.env, joined(*rows), chosen.action, chosen.params, chosen.seeds)


def _poison(at: Moments, name: str, number: int) -> Tensor:
    values = [value for _, value in poisons(at.schema.state.fields[name], at)]
    like: Tensor = getattr(at.state.env, name)
    return values[-1 - number % len(values)].to(like.dtype).expand_as(like).clone()


def _steppable(at: Moments) -> Moments:
    """The rows that a step by themselves does not refuse: a value beyond all bounds may be no index at all."""
    def works(one: Moments) -> bool:
        given = (one.state, one.action, one.params)
        return not any(tried(lambda mode=mode: one.env.core.step(mode, *given))[1] for mode in MODES)

    if not len(at) or works(at):
        return at
    good = [place for place in range(len(at)) if works(at.only(torch.tensor([place], device=at.env.device)))]
    return at.only(torch.tensor(good, dtype=torch.int64, device=at.env.device))

