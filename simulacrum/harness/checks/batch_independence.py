"""`batch_independence`: a row alone, in a batch of any size, at any position, gives the same bits.

Rows are picked from one crowd in which each has its own seed, parameters and actions. A wide batch holds all of the
crowd; some rows are run alone; then batches of many sizes, orders and companies are held against the wide one, every
field at every step, and the rows that ran alone tell which side is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed
from simulacrum.harness.recording import Recording, explain, parting
from simulacrum.harness.world import World, picked
from simulacrum.trace.divergence import Divergence

# Vectors hold 4, 8 or 16 numbers, and a loop over rows has a body and a tail: sizes around their multiples.
SIZES = (2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 1000)
QUICK_SIZES = (2, 7, 16, 17, 33)
ALONE = 6  # rows that are also run by themselves


@dataclass(frozen=True)
class Size:
    """How much is done: rows in the wide batch, steps of each batch, and a time limit short enough for many ends."""

    wide: int
    steps: int
    limit: int
    long: int  # steps of the run with the package's own time limit, at most


FULL = Size(wide=4097, steps=40, limit=13, long=200)
QUICK = Size(wide=129, steps=20, limit=7, long=40)


@dataclass
class Judge:
    """Holds batches of one crowd against its wide batch, and both against rows run alone."""

    bench: Bench
    world: World
    mode: AutoresetMode = AutoresetMode.NEXT_STEP
    solos: dict[int, Recording] = field(default_factory=dict[int, Recording])
    sizes: list[int] = field(default_factory=list[int])
    transitions: int = 0
    ended: int = 0
    wide: Recording | None = None

    def solo(self, row: int) -> Recording:
        """The row in a batch of its own."""
        if row not in self.solos:
            self.solos[row] = self.run([row])
        return self.solos[row]

    def run(self, rows: Sequence[int]) -> Recording:
        """A batch of these rows, counted."""
        made = self.world.run(rows, mode=self.mode)
        self.sizes.append(len(rows))
        self.transitions += made.transitions
        self.ended += int(made.ends.sum())
        return made

    def against_solo(self, rows: Sequence[int], batch: Recording, what: str, only: Sequence[int]) -> Divergence | None:
        """The first parting of `batch`, made of `rows`, from those of its rows in `only` run alone."""
        for row in only:
            place = list(rows).index(row)
            alone = self.solo(row)
            parted = parting(self.bench, alone, batch, [0], [place])
            if parted is not None:
                notes = (f"row {place} of {len(rows)} ({what})", self._cause(row, len(rows)))
                return explain(self.bench, parted, alone, batch, [0], [place], side="the row alone", notes=notes)
        return None

    def against_wide(self, rows: Sequence[int], batch: Recording, what: str) -> Divergence | None:
        """The first parting of `batch` from the wide batch; the row is then run alone to see which one is wrong."""
        assert self.wide is not None
        parted = parting(self.bench, self.wide, batch, rows, range(len(rows)))
        if parted is None:
            return None
        row = rows[parted.place]
        found = self.against_solo(rows, batch, what, [row])
        found = found or self.against_solo(range(self.world.size), self.wide, "the whole crowd", [row])
        if found is not None:
            return found
        notes = (f"row {parted.place} of {len(rows)} ({what}) agrees with itself alone in a second run of it",)
        return explain(
            self.bench, parted, self.wide, batch, rows, range(len(rows)), side=f"the row among {self.world.size}",
            notes=notes,
        )

    def _cause(self, row: int, num_envs: int) -> str:
        """Whether it is the neighbours' values or the size of the batch, by giving the row copies of itself."""
        copies = self.world.run([row] * num_envs, mode=self.mode)
        parted = parting(self.bench, self.solo(row), copies, [0] * num_envs, range(num_envs))
        if parted is None:
            return f"among {num_envs} copies of itself the row is as it is alone: its neighbours' values leak into it"
        return f"it differs among {num_envs} copies of itself too: the batch's size or the place in it changes the row"


def run(bench: Bench) -> Outcome:
    """The crowd in all its batches, then a long run in SAME_STEP; the first divergence ends the check."""
    size = QUICK if bench.quick else FULL
    short = Judge(bench, World(bench, size.wide, size.steps, size.limit, bench.seed))
    found = _short(bench, short, QUICK_SIZES if bench.quick else SIZES)
    limit = bench.schema.max_episode_steps
    steps = size.long if limit is None else min(size.long, 2 * (limit + 1))
    long = Judge(bench, World(bench, 17, steps, limit, bench.seed + 1), AutoresetMode.SAME_STEP)
    found = found or _long(long)
    evidence: dict[str, Any] = {
        "batch_sizes": sorted(set(short.sizes + long.sizes)),
        "relations": ["alone", "any size", "permuted", "split", "among strangers", "among copies", "same_step"],
        "compared_transitions": short.transitions + long.transitions,
        "episodes_ended": short.ended + long.ended,
        "rows_run_alone": len(short.solos) + len(long.solos),
    }
    if found is not None:
        where = f"row {found.row} of {found.configuration.num_envs} differs"
        return failed(f"{where}: {found.difference.path}; {found.hints[-1]}", found, **evidence)
    if not short.ended:
        return inconclusive("no row's episode ended in any batch", **evidence)
    return passed(f"{evidence['compared_transitions']:,} transitions in {len(short.sizes)} batches", **evidence)


def _short(bench: Bench, judge: Judge, sizes: Sequence[int]) -> Divergence | None:
    crowd = judge.world.size
    rows = list(range(crowd))
    alone = sorted({0, 1, 2, 7, crowd - 2, crowd - 1})[:ALONE]
    judge.wide = judge.run(rows)
    bench.say(f"{crowd} rows against rows alone", 0, len(sizes) + 4)
    found = judge.against_solo(rows, judge.wide, "the whole crowd", alone)
    for number, (what, chosen) in enumerate(_companies(crowd, alone, sizes, bench.seed)):
        if found is not None:
            return found
        bench.say(f"{len(chosen)} rows, {what}", number + 1, len(sizes) + 4)
        found = judge.against_wide(chosen, judge.run(chosen), what)
    return found


def _companies(
    crowd: int, alone: Sequence[int], sizes: Sequence[int], seed: int
) -> list[tuple[str, list[int]]]:
    """The batches to try: (what it is, rows of the crowd)."""
    made = [(f"a batch of {size}", picked(crowd, size, alone, seed + size)) for size in sizes]
    base = picked(crowd, 16, alone, seed)
    made.append(("the same rows in another order", [int(r) for r in np.random.default_rng(seed).permutation(base)]))
    made.append(("split in two, the first part", base[:7]))
    made.append(("split in two, the second part", base[7:]))
    strangers = [row for row in range(crowd - 9, crowd) if row not in base[:7]]
    made.append(("padded with strangers", [*base[:7], *strangers]))
    made.append(("copies of one row", [base[0]] * 9))
    return made


def _long(judge: Judge) -> Divergence | None:
    rows = list(range(judge.world.size))
    judge.bench.say("whole episodes in SAME_STEP against rows alone")
    return judge.against_solo(rows, judge.run(rows), "whole episodes", [0, 5, judge.world.size - 1])
