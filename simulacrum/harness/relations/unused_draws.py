"""M16: a draw that a row's step does not use may have any value; one that it uses changes only what it feeds.

Which draws a row uses is what the reference asks for in the same state, as its ledger tells; so is what they feed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from simulacrum.engine.draws import NO_DRAW
from simulacrum.engine.params import row_params
from simulacrum.engine.single import scalar_action
from simulacrum.harness.bench import Bench, Outcome, failed, passed, skipped
from simulacrum.harness.frames import Array, frame_fields, take
from simulacrum.harness.relations.moments import Moments, changed
from simulacrum.harness.relations.spliced import Noted, Spliced, SplicedScalar
from simulacrum.harness.relations.told import apart
from simulacrum.rng.batched import episode_key as batched_key
from simulacrum.rng.scalar import ScalarDraw
from simulacrum.rng.scalar import episode_key as scalar_key
from simulacrum.trace.divergence import Divergence
from simulacrum.twin.batched import dump_state
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state, params_type, params_values

ROWS, QUICK_ROWS = 96, 24
OWN = "the row with its own draws"
ELSEWHERE = (1_000_003, 2_000_003)  # episodes whose draws stand in for the rows' own


@dataclass
class Scalar:
    """The reference in the same moments, one row after the other."""

    bench: Bench
    at: Moments

    def __post_init__(self) -> None:
        self.twin = self.bench.package.reference()
        self.layout = self.at.env.core.layout
        group, action = self.bench.schema.action, self.at.action
        given = action.cpu().numpy() if group.single else {k: v.cpu().numpy() for k, v in action.items()}
        self.rows: list[tuple[Any, Any, Any]] = []
        for row in range(len(self.at)):
            params = params_type(self.bench.schema)(
                **params_values(self.bench.schema, row_params(self.at.params, row))
            )
            state = load_state(self.bench.schema, dump_state(self.bench.schema, self.at.state.env, row))
            one = take(given, [row])
            plain = one[0] if group.single else {name: value[0] for name, value in one.items()}
            self.rows.append((state, scalar_action(group, plain), params))

    def run(self, row: int, phase: str, slot: str | None) -> tuple[dict[str, Any], list[Any]]:
        """(what the row shows, its ledger), with the values of `slot` drawn elsewhere."""
        state, action, params = self.rows[row]
        seed, t = self.at.seeds[row], int(self.at.state.t[row])
        ledger: list[Any] = []
        key = scalar_key(seed, int(self.at.state.episode[row]))
        draw: Any = ScalarDraw(self.layout, phase, key, t, ledger=ledger)
        if slot is not None:
            other = ScalarDraw(self.layout, phase, scalar_key(seed, ELSEWHERE[0]), t)
            draw = SplicedScalar(draw, other, frozenset((slot,)), self.layout)
        shown: dict[str, Any] = {}
        if phase == "step":
            taken = self.twin.step(state, action, Context(draw, t, params))
            shown.update(reward=taken.reward, terminated=taken.terminated, truncated=bool(taken.truncated))
            state, t = taken.state, t + 1
        else:
            state, t = self.twin.reset(Context(draw, 0, params)), 0
        ctx, schema = Context(NO_DRAW, t, params), self.bench.schema
        shown.update({f"state.{name}": value for name, value in zip(state._fields, state, strict=True)})
        observed = self.twin.observe(state, ctx)
        shown.update({"observation": observed} if schema.observation.single else
                     {f"observation.{name}": value for name, value in observed.items()})
        if schema.info.fields:
            shown.update({f"info.{name}": value for name, value in self.twin.info(state, ctx).items()})
        if schema.action_mask is not None:
            shown["action_mask"] = self.twin.action_mask(state, ctx)
        return shown, ledger


def unused_draws(bench: Bench, at: Moments) -> Outcome:
    """Both phases: unused draws of all slots at once, then each used slot by itself."""
    if not bench.schema.draws:
        return skipped("the schema declares no draws")
    rows = QUICK_ROWS if bench.quick else ROWS
    places = np.random.default_rng(bench.seed + 41).permutation(len(at))[:rows]
    at = at.only(torch.from_numpy(np.sort(places)).to(at.env.device))
    scalar, counted = Scalar(bench, at), {"compared_transitions": 0, "unused_values": 0, "used_slots": 0}
    for phase in ("reset", "step"):
        slots = [draw.name for draw in bench.schema.draws if draw.phase == phase]
        if not slots:
            continue
        found = _of_phase(bench, scalar, phase, slots, counted)
        if found is not None:
            return failed(f"at {phase}: {found.difference.path}; {found.hints[-1]}", found, **counted)
    return passed(f"{counted['compared_transitions']:,} transitions, {counted['unused_values']:,} unused values",
                  **counted)


def _of_phase(bench: Bench, scalar: Scalar, phase: str, slots: list[str], counted: dict[str, int]) -> Divergence | None:
    at, layout = scalar.at, scalar.layout
    plain = [scalar.run(row, phase, None) for row in range(len(at))]
    used = used_places(at, slots, [ledger for _, ledger in plain])
    _, shown = at.go(phase, at.draw(phase))
    unused = {slot: ~mask for slot, mask in used.items() if not bool(mask.all())}
    for elsewhere in ELSEWHERE if unused else ():
        other = at.draw(phase, key=_key(at, elsewhere))
        draw = Noted(Spliced(at.draw(phase), other, unused, layout), layout)
        _, again = at.go(phase, draw)
        notes = (f"a draw that the row does not use changes it: {', '.join(unused)}",)
        found = apart(bench, at, shown, again, side=OWN, notes=notes, reset=phase == "reset", forced=draw.values,
                      kinds=("K10", "K04"))
        if found is not None:
            return found
        counted["compared_transitions"] += len(at)
        counted["unused_values"] += sum(int(mask.sum()) for mask in unused.values())
    for slot in slots:
        rows = [row for row in range(len(at)) if bool(used[slot][row].any())]
        if not rows:
            continue
        everywhere = {slot: torch.ones_like(used[slot])}
        other = at.draw(phase, key=_key(at, ELSEWHERE[0]))
        draw = Noted(Spliced(at.draw(phase), other, everywhere, layout), layout)
        _, again = at.go(phase, draw)
        feeds = _fed(scalar, phase, slot, rows, [plain[row][0] for row in rows])
        live = _live(bench, shown, again, feeds, rows)
        notes = (f"the draw {slot} changes it, which in the reference does not depend on that draw",)
        found = apart(bench, at, shown, again, side=OWN, notes=notes, live=live, reset=phase == "reset",
                      forced=draw.values, kinds=("K10", "K20"))
        if found is not None:
            return found
        counted["compared_transitions"] += len(rows)
        counted["used_slots"] += 1
    return None


def used_places(at: Moments, slots: list[str], ledgers: list[list[Any]]) -> dict[str, Tensor]:
    """Of each slot, which values each row asked for: bool `[M]`, or `[M, K]` where the slot has a count."""
    counts = {slot.name: slot.count for slot in at.env.core.layout.slots}
    blank = torch.zeros(len(at), dtype=torch.bool, device=at.env.device)
    used = {slot: blank.clone() for slot in slots}
    used.update({s: blank.new_zeros(len(at), count) for s in slots if (count := counts[s]) is not None})
    for row, ledger in enumerate(ledgers):
        for slot, index, _ in ledger:
            used[slot][row if index is None else (row, index)] = True
    return used


def _key(at: Moments, episode: int) -> Tensor:
    return batched_key(at.state.seed, torch.full_like(at.state.episode, episode))


def _fed(scalar: Scalar, phase: str, slot: str, rows: list[int], plain: list[dict[str, Any]]) -> dict[str, list[bool]]:
    """Of each name, whether another value of the slot changes it in the reference, row by row."""
    again = [scalar.run(row, phase, slot)[0] for row in rows]
    return {
        name: [repr(one[name]) != repr(other[name]) for one, other in zip(plain, again, strict=True)]
        for name in plain[0]
    }


def _live(
    bench: Bench, shown: dict[str, Tensor], again: dict[str, Tensor], feeds: dict[str, list[bool]], rows: list[int]
) -> dict[str, Array]:
    """What may not have changed: rows of names that the slot does not feed. Rows that were not asked do not count, nor
    do fields with a tolerance, within which one twin may notice what the other rounds away."""
    fields, live = frame_fields(bench.schema), dict[str, Array]()
    for name, mask in changed(shown, again).items():
        counts: Array = np.zeros(len(mask), dtype=bool)
        if fields[name].tolerance is None:
            counts[rows] = [not fed for fed in feeds[name]]
        live[name] = counts
    return live
