"""What a run of mutants adds up to: the score, by kind and by check, and how soon and how exactly faults were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.verdict import DUPLICATE, EQUIVALENT, KILLED, LOST, STILLBORN, SURVIVED, TIMEOUT, Verdict

Pair = tuple[Mutant, Verdict]


@dataclass(frozen=True)
class Tally:
    """Mutants of one kind, or of all, by how they ended.

    The score is killed over counted: faults of their own that had the time they needed.
    """

    planted: int
    stillborn: int
    equivalent: int
    duplicate: int
    killed: int
    survived: int
    timeout: int
    lost: int
    by_reading: int

    @property
    def counted(self) -> int:
        """Mutants that are faults of their own and were judged to the end."""
        return self.killed + self.survived

    @property
    def share(self) -> float | None:
        """Killed over counted; None where nothing is counted."""
        return self.killed / self.counted if self.counted else None

    @property
    def score(self) -> str:
        """`312/312`."""
        return f"{self.killed}/{self.counted}"


@dataclass(frozen=True)
class Killer:
    """One check or sub-check. first: kills for which it was the first to fail. all: mutants that it fails on, and
    unique: those that nothing else fails on; both None where runs stopped at the first failure."""

    path: str
    first: int
    all: int | None
    unique: int | None
    steps: float | None
    seconds: float


def tally(verdicts: Iterable[Verdict]) -> Tally:
    """Count verdicts."""
    every = list(verdicts)
    of = Counter(one.status for one in every)
    return Tally(
        len(every), of[STILLBORN], of[EQUIVALENT], of[DUPLICATE], of[KILLED], of[SURVIVED], of[TIMEOUT], of[LOST],
        sum(one.by_reading for one in every),
    )  # fmt: skip


def by_kind(pairs: Sequence[Pair]) -> dict[str, Tally]:
    """A tally for each kind, in their order."""
    kinds = sorted({mutant.kind for mutant, _ in pairs})
    return {kind: tally(verdict for mutant, verdict in pairs if mutant.kind == kind) for kind in kinds}


def by_check(verdicts: Sequence[Verdict], *, matrix: bool) -> list[Killer]:
    """Every check and sub-check that killed, the most kills first."""
    killed = [one for one in verdicts if one.status == KILLED]
    paths = {one.killer for one in killed} | {path for one in killed for path in one.killers if matrix}
    made: list[Killer] = []
    for path in paths:
        first = [one for one in killed if one.killer == path]
        every = [one for one in killed if path in one.killers]
        steps = [one.step for one in first if one.step is not None]
        made.append(
            Killer(
                path, len(first), len(every) if matrix else None,
                sum(one.killers == [path] for one in every) if matrix else None,
                median(steps) if steps else None, round(median([one.seconds for one in first]), 2) if first else 0.0,
            )
        )  # fmt: skip
    return sorted(made, key=lambda one: (-one.first, -(one.all or 0), one.path))


def check_by_kind(pairs: Sequence[Pair], *, matrix: bool) -> dict[str, Counter[str]]:
    """For every check and sub-check that killed: how many mutants of each kind it fails on.

    With `matrix` a mutant counts for each check that fails on it, otherwise for the first alone.
    """
    found: dict[str, Counter[str]] = {}
    for mutant, verdict in pairs:
        if verdict.status == KILLED:
            for path in (verdict.killers or [verdict.killer]) if matrix else [verdict.killer]:
                found.setdefault(path, Counter())[mutant.kind] += 1
    return found


def smallest_set(verdicts: Sequence[Verdict]) -> list[str]:
    """Checks that together fail on every killed mutant, chosen greedily: the one with most mutants left first."""
    left = [set(one.killers) for one in verdicts if one.status == KILLED and one.killers]
    chosen: list[str] = []
    while left:
        counts = Counter(path for one in left for path in one)
        best = min(counts, key=lambda path: (-counts[path], path))
        chosen.append(best)
        left = [one for one in left if best not in one]
    return chosen


def located(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    """(kills whose first report names the changed line's rule or field, kills that name a field at all)."""
    named = [one for one in verdicts if one.status == KILLED and one.located is not None]
    return sum(bool(one.located) for one in named), len(named)


def summary(pairs: Sequence[Pair], *, matrix: bool) -> dict[str, Any]:
    """All of it as a JSON object."""
    verdicts = [verdict for _, verdict in pairs]
    whole, (right, named) = tally(verdicts), located(verdicts)
    killed = [one for one in verdicts if one.status == KILLED]
    seconds = sorted(one.seconds for one in killed)
    made: dict[str, Any] = {
        "total": _told(whole),
        "kinds": {kind: _told(one) for kind, one in by_kind(pairs).items()},
        "checks": [vars(one) for one in by_check(verdicts, matrix=matrix)],
        "located": right,
        "named": named,
        "median_seconds": round(median(seconds), 2) if seconds else None,
        "survivors": [mutant.id for mutant, verdict in pairs if verdict.status == SURVIVED],
    }
    if matrix:
        made["smallest_set"] = smallest_set(verdicts)
    return made


def _told(one: Tally) -> Mapping[str, Any]:
    return {**vars(one), "counted": one.counted, "score": one.score}
