"""A row and its company: M1, M2, M4, M5 and M7, relations between batches of one crowd.

A wide batch holds all of the crowd, some rows are run alone, and every other batch is held against the wide one, each
field at every step. The rows that ran alone tell which side is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed
from simulacrum.harness.recording import Recording, explain, parting
from simulacrum.harness.world import World, picked
from simulacrum.trace.divergence import Divergence

ALONE = 6  # rows that are also run by themselves
FAR = 64  # rows at the far end of the crowd that are also a batch by themselves
SHORT = 20  # steps of a batch whose seeds are given
Batches = Sequence[tuple[str, Sequence[int]]]  # (what the batch is, its rows of the crowd)


@dataclass
class Company:
    """Holds batches of one crowd against its wide batch, and both against rows run alone.

    sizes: of the batches of M5. transitions, ended: compared so far, and episodes that ended in them.
    """

    bench: Bench
    world: World
    sizes: Sequence[int] = ()
    mode: AutoresetMode = AutoresetMode.NEXT_STEP
    solos: dict[int, Recording] = field(default_factory=dict[int, Recording])
    tried: set[int] = field(default_factory=set[int])
    transitions: int = 0
    ended: int = 0
    batches: int = 0
    _wide: Recording | None = None

    @property
    def alone(self) -> list[int]:
        """The rows that are run by themselves."""
        crowd = self.world.size
        return sorted({0, 1, 2, 7, crowd - 2, crowd - 1})[:ALONE]

    @property
    def wide(self) -> Recording:
        """The whole crowd as one batch, run once."""
        if self._wide is None:
            self._wide = self.run(range(self.world.size))
        return self._wide

    def solo(self, row: int) -> Recording:
        """The row in a batch of its own."""
        if row not in self.solos:
            self.solos[row] = self.run([row])
        return self.solos[row]

    def run(self, rows: Sequence[int], seeds: Sequence[int] | int | None = None) -> Recording:
        """A batch of these rows, counted; `seeds` in the place of the rows' own."""
        made = self.world.run(rows, mode=self.mode, seeds=seeds, steps=None if seeds is None else SHORT)
        self.tried.add(len(rows))
        self.batches += 1
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


def rows_alone(company: Company) -> Divergence | None:
    """Some rows of the wide batch, run by themselves."""
    rows = range(company.world.size)
    return company.against_solo(rows, company.wide, "the whole crowd", company.alone)


def whole_episodes(company: Company) -> Divergence | None:
    """Whole episodes in a batch of rows, against rows alone."""
    rows = list(range(company.world.size))
    return company.against_solo(rows, company.run(rows), "whole episodes", [0, 5, company.world.size - 1])


def batch_sizes(company: Company) -> Divergence | None:
    """M5: batches of many sizes; loops over rows have a body of full vectors and a tail."""
    crowd, seed = company.world.size, company.bench.seed
    return _each(
        company,
        [(f"a batch of {size}", picked(crowd, size, company.alone, seed + size)) for size in company.sizes],
    )


def permuted_rows(company: Company) -> Divergence | None:
    """M1: the same rows in another order, turned by one place, and from the last to the first."""
    base, seed = _base(company), company.bench.seed
    shuffled = [int(row) for row in np.random.default_rng(seed).permutation(base)]
    return _each(company, [
        ("the same rows in another order", shuffled),
        ("the same rows, each one place further", [*base[1:], base[0]]),
        ("the same rows, the last first", base[::-1]),
    ])  # fmt: skip


def split_and_joined(company: Company) -> Divergence | None:
    """M2: a batch, its two parts apart, its first part among strangers; and the far end of the crowd by itself."""
    base, crowd = _base(company), company.world.size
    strangers = [row for row in range(crowd - 9, crowd) if row not in base[:7]]
    return _each(company, [
        ("both parts together", base),
        ("split in two, the first part", base[:7]),
        ("split in two, the second part", base[7:]),
        ("padded with strangers", [*base[:7], *strangers]),
        ("the far end of the crowd by itself", range(max(0, crowd - FAR), crowd)),
    ])  # fmt: skip


def copies_of_one_row(company: Company) -> Divergence | None:
    """M4: a batch that is one row many times."""
    base = _base(company)
    return _each(company, [("copies of one row", [base[0]] * 9), ("copies of one row", [base[-1]] * 32)])


def shifted_seeds(company: Company) -> Divergence | None:
    """M7: rows alike but for their seeds, with the seeds moved on by one, in another order, and given as a number."""
    generator = np.random.default_rng(company.bench.seed + 7)
    for row in _base(company)[:2]:
        rows, count = [row] * 17, 17
        seeds = [*company.world.seeds[:count], 11]
        order = [int(place) for place in generator.permutation(count)]
        plain, first = company.run(rows, seeds[:count]), company.world.seeds[row] >> 1
        moved = company.run(rows, seeds[1:])
        mixed = company.run(rows, [seeds[place] for place in order])
        listed, counted = company.run(rows, [first + place for place in range(count)]), company.run(rows, first + 1)
        for one, other, ones, others, what in (
            (plain, moved, range(1, count), range(count - 1), "every seed given to the row before"),
            (plain, mixed, order, range(count), "the seeds in another order"),
            (listed, counted, range(1, count), range(count - 1), "one seed for the batch, counted on from row to row"),
        ):
            parted = parting(company.bench, one, other, ones, others)
            if parted is not None:
                notes = (what, f"row {others[parted.place]} of {count} depends on more than its own seed",)
                side = f"the same seed in row {ones[parted.place]}"
                return explain(company.bench, parted, one, other, ones, others, side=side, notes=notes)
    return None


def _base(company: Company) -> list[int]:
    """Sixteen rows, in random order, those that are run alone among them."""
    return picked(company.world.size, 16, company.alone, company.bench.seed)


def _each(company: Company, batches: Batches) -> Divergence | None:
    """The first divergence of these batches from the wide one."""
    for number, (what, rows) in enumerate(batches):
        company.bench.say(f"{len(rows)} rows, {what}", number, len(batches))
        found = company.against_wide(rows, company.run(rows), what)
        if found is not None:
            return found
    return None


RELATIONS: Mapping[str, Callable[[Company], Divergence | None]] = {
    "rows_alone": rows_alone,
    "batch_sizes": batch_sizes,
    "permuted_rows": permuted_rows,
    "split_and_joined": split_and_joined,
    "copies_of_one_row": copies_of_one_row,
    "shifted_seeds": shifted_seeds,
}


def judged(
    company: Company, relation: Callable[[Company], Divergence | None], *, ends: bool = True
) -> Outcome:
    """A relation's outcome, with what it has compared; inconclusive without an episode's end, where `ends` asks."""
    before = company.transitions, company.ended, company.batches
    found = relation(company)
    transitions, ended, batches = (
        now - then
        for now, then in zip((company.transitions, company.ended, company.batches), before, strict=True)
    )
    evidence = {"compared_transitions": transitions, "episodes_ended": ended, "batches": batches}
    if found is not None:
        where = f"row {found.row} of {found.configuration.num_envs} differs"
        return failed(f"{where}: {found.difference.path}; {found.hints[-1]}", found, **evidence)
    if ends and not ended:
        return inconclusive("no row's episode ended in any batch", **evidence)
    return passed(f"{transitions:,} transitions in {batches} batches", **evidence)
