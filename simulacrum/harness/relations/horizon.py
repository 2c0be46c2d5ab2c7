"""M17: a longer time limit changes nothing up to the first cut of a shorter one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, skipped
from simulacrum.harness.compare import differences
from simulacrum.harness.frames import Array, Frame, frame_fields, rows_of
from simulacrum.harness.recording import Parting, Recording, explain
from simulacrum.harness.world import World
from simulacrum.trace.divergence import Divergence

MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)
PAIRS = ((1, 2), (2, 9), (8, 15), (15, 40))  # time limits, in steps
ROWS, QUICK_ROWS = 65, 17


@dataclass
class Compared:
    """What was held against each other: transitions, and rows that only the shorter limit cut."""

    transitions: int = 0
    cuts: int = 0


def longer_horizon(bench: Bench) -> Outcome:
    """Rollouts under pairs of time limits, in both modes that reset by themselves."""
    rows, compared = QUICK_ROWS if bench.quick else ROWS, Compared()
    pairs = _pairs(bench.schema.max_episode_steps)[: 2 if bench.quick else None]
    if not pairs:
        return skipped("the schema's own time limit is one step: there is no longer one")
    for mode in MODES:
        for short, long in pairs:
            one, other = (World(bench, rows, short + 1, limit, bench.seed + 17).run(range(rows), mode=mode)
                          for limit in (short, long))
            found = _until_the_cut(bench, one, other, compared)
            if found is not None:
                message = f"{found.difference.path} of row {found.row} differs between the limits {short} and {long}"
                return failed(f"{message} ({mode.name.lower()})", found, compared_transitions=compared.transitions)
    counted = {"compared_transitions": compared.transitions, "cuts": compared.cuts}
    if not compared.cuts:
        return inconclusive("no row was cut by the shorter limit alone", **counted)
    return passed(f"{compared.transitions:,} transitions up to {compared.cuts} cuts", **counted)


def _pairs(declared: int | None) -> list[tuple[int, int]]:
    """Pairs of limits, none beyond the schema's own: the rules may count on that one."""
    most = PAIRS[-1][1] if declared is None else declared
    return [(short, min(long, most)) for short, long in PAIRS if short < most]


def _until_the_cut(bench: Bench, one: Recording, other: Recording, compared: Compared) -> Divergence | None:
    """The first difference of `other`, under a longer limit, from `one`, in rows that have not ended yet."""
    same = one.env.autoreset_mode == AutoresetMode.SAME_STEP
    fields = frame_fields(bench.schema, final=same)
    rows: Array = np.arange(one.env.num_envs)
    for number, (a, b) in enumerate(zip(one.frames, other.frames, strict=True)):
        cut: Array = a["truncated"] & ~b["truncated"] & (_length(a) == one.env.max_episode_steps)
        ended: Array = a["terminated"] | a["truncated"]
        patched = {**b, "truncated": np.where(cut, a["truncated"], b["truncated"])}
        going = rows[~ended[rows]] if same else rows
        found = differences(rows_of(a, going), rows_of(patched, going), fields)
        chosen = going
        if not found and same:  # what a row shows after its cut belongs to the next episode
            chosen = rows
            found = differences(rows_of(a, rows), rows_of(b, rows), fields, names=("reward", "terminated"))
        if found:
            places = chosen.tolist()
            notes = (f"the other run's time limit is {one.env.max_episode_steps}",)
            side = f"the run under a limit of {one.env.max_episode_steps}"
            return explain(bench, Parting(number, found), one, other, places, places, side=side, notes=notes)
        compared.cuts += int(cut[rows].sum())
        compared.transitions += len(rows) if number else 0
        rows = rows[~ended[rows]]
    return None


def _length(frame: Frame) -> Array:
    """Steps of the episode that a frame shows the end of; in SAME_STEP `t` is that of the next one."""
    return frame["episode_length"]
