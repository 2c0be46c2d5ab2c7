"""`batch_independence`: a row alone, in a batch of any size, at any position, gives the same bits.

Rows are picked from one crowd in which each has its own seed, parameters and actions. A wide batch holds all of the
crowd; some rows are run alone; then batches of many sizes, orders and companies are held against the wide one
(`relations.company`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gymnasium.vector import AutoresetMode

from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.parts import Parts
from simulacrum.harness.relations.company import FAR, RELATIONS, Company, judged, whole_episodes
from simulacrum.harness.relations.padding import padded_with_dead_rows
from simulacrum.harness.world import World

# Vectors hold 4, 8 or 16 numbers, and a loop over rows has a body and a tail: sizes around their multiples.
SIZES = (2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 1000)
QUICK_SIZES = (2, 7, 16, 17, 33)


@dataclass(frozen=True)
class Size:
    """How much is done: rows in the wide batch, steps of each batch, and a time limit short enough for many ends."""

    wide: int
    steps: int
    limit: int
    long: int  # steps of the run over whole episodes, at most; half as many are its longest time limit


FULL = Size(wide=4096 + FAR, steps=40, limit=13, long=200)
QUICK = Size(wide=129, steps=20, limit=7, long=40)


def run(bench: Bench) -> Outcome:
    """The crowd in all its batches, then a long run in SAME_STEP; the first divergence ends the check."""
    size, parts = QUICK if bench.quick else FULL, Parts(bench)
    world = World(bench, size.wide, size.steps, size.limit, bench.seed)
    short = Company(bench, world, QUICK_SIZES if bench.quick else SIZES)
    declared, longest = bench.schema.max_episode_steps, size.long // 2
    limit = longest if declared is None else min(declared, longest)  # of longer episodes none would end
    steps = min(size.long, 2 * (limit + 1))
    long = Company(bench, World(bench, 17, steps, limit, bench.seed + 1), mode=AutoresetMode.SAME_STEP)
    for name, relation in RELATIONS.items():
        bench.say(name.replace("_", " "), len(parts.results), len(RELATIONS) + 2)
        parts.run(name, lambda relation=relation: judged(short, relation))
    parts.run("padded_with_dead_rows", lambda: padded_with_dead_rows(bench))
    bench.say("whole episodes in SAME_STEP against rows alone", len(RELATIONS) + 1, len(RELATIONS) + 2)
    parts.run("whole_episodes", lambda: judged(long, whole_episodes, ends=not bench.quick))
    evidence: dict[str, Any] = {
        "batch_sizes": sorted(short.tried | long.tried),
        "compared_transitions": short.transitions + long.transitions,
        "episodes_ended": short.ended + long.ended,
        "rows_run_alone": len(short.solos) + len(long.solos),
    }
    if not short.batches:  # a level, or a choice of parts, that runs none of these
        return parts.joined()
    return parts.outcome(f"{evidence['compared_transitions']:,} transitions in {short.batches} batches", **evidence)
