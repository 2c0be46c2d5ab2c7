"""Choosing a few episodes out of many: the worst, the best, the longest, those that broke something, some at
random.

Work with `summarise` first: one `EpisodeRow` per episode, cheap to sort, print and keep. Every picker
takes rows and returns rows, best match first, at most `count`; `PICKERS` names them for a command line."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulacrum.errors import UsageError
from simulacrum.trace.trajectory import Start, Step, Trajectory

# A check of one moment: the texts of the invariants that do not hold for its state.
Broken = Callable[[Trajectory, "Start | Step"], Sequence[str]]


@dataclass(frozen=True)
class EpisodeRow:
    """One episode of one trajectory, in short.

    trajectory: its index in the list given to `summarise`. total: the sum of rewards. ending:
    "terminated", "truncated", "both", or "open" where the recording stopped inside the episode. broken:
    texts of invariants that did not hold, in order of time. first_divergence: the number of steps taken
    before the twins parted, None where they agree."""

    trajectory: int
    seed: int
    episode: int
    total: float
    length: int
    ending: str
    broken: tuple[str, ...] = ()
    first_divergence: int | None = None


def summarise(
    trajectories: Iterable[Trajectory],
    *,
    broken: Broken | None = None,
    divergences: Mapping[int, tuple[int, int]] | None = None,
) -> list[EpisodeRow]:
    """One row per episode. broken: called for each start and step. divergences: trajectory index ->
    (episode, t) of its first divergence."""
    rows: list[EpisodeRow] = []
    for number, trajectory in enumerate(trajectories):
        parted = (divergences or {}).get(number)
        for start, steps in trajectory.episodes():
            moments: list[Start | Step] = [start, *steps]
            texts = [text for moment in moments for text in (broken(trajectory, moment) if broken else ())]
            rows.append(
                EpisodeRow(
                    trajectory=number,
                    seed=trajectory.seed,
                    episode=start.episode,
                    total=sum((step.reward for step in steps), 0.0),
                    length=len(steps),
                    ending=_ending(steps),
                    broken=tuple(dict.fromkeys(texts)),
                    first_divergence=parted[1] if parted and parted[0] == start.episode else None,
                )
            )
    return rows


def _ending(steps: Sequence[Step]) -> str:
    if not steps or not steps[-1].ended:
        return "open"
    last = steps[-1]
    return "both" if last.terminated and last.truncated else "terminated" if last.terminated else "truncated"


def _first(rows: Iterable[EpisodeRow], key: Callable[[EpisodeRow], Any], count: int) -> list[EpisodeRow]:
    return sorted(rows, key=key)[:count]


def _rank(total: float, sign: float) -> float:
    """A NaN return is worse than any number, and never the best."""
    return -math.inf if math.isnan(total) and sign > 0 else math.inf if math.isnan(total) else sign * total


def worst_return(rows: Iterable[EpisodeRow], count: int = 1) -> list[EpisodeRow]:
    """Lowest return first."""
    return _first(rows, lambda row: _rank(row.total, 1.0), count)


def best_return(rows: Iterable[EpisodeRow], count: int = 1) -> list[EpisodeRow]:
    """Highest return first."""
    return _first(rows, lambda row: _rank(row.total, -1.0), count)


def longest(rows: Iterable[EpisodeRow], count: int = 1) -> list[EpisodeRow]:
    """Most steps first."""
    return _first(rows, lambda row: -row.length, count)


def shortest(rows: Iterable[EpisodeRow], count: int = 1) -> list[EpisodeRow]:
    """Fewest steps first, of the episodes that ended."""
    return _first((row for row in rows if row.ending != "open"), lambda row: row.length, count)


def broken_invariants(rows: Iterable[EpisodeRow], count: int = 1) -> list[EpisodeRow]:
    """Only episodes in which an invariant did not hold; the shortest first, being the easiest to read."""
    return _first((row for row in rows if row.broken), lambda row: row.length, count)


def first_divergence(rows: Iterable[EpisodeRow], count: int = 1) -> list[EpisodeRow]:
    """Only episodes in which the twins parted; the earliest parting first."""
    parted = (row for row in rows if row.first_divergence is not None)
    return _first(parted, lambda row: (row.episode, row.first_divergence), count)


def at_random(rows: Iterable[EpisodeRow], count: int = 1, *, seed: int = 0) -> list[EpisodeRow]:
    """Some episodes without repetition, the same ones for the same seed."""
    pool = list(rows)
    return random.Random(seed).sample(pool, min(count, len(pool)))


PICKERS: dict[str, Callable[..., list[EpisodeRow]]] = {
    "worst": worst_return,
    "best": best_return,
    "longest": longest,
    "shortest": shortest,
    "broken": broken_invariants,
    "divergent": first_divergence,
    "random": at_random,
}


def pick(rows: Iterable[EpisodeRow], how: str, count: int = 1, *, seed: int = 0) -> list[EpisodeRow]:
    """Pick by name (a key of `PICKERS`). Raises UsageError for another name or a count below 1."""
    if how not in PICKERS:
        raise UsageError("no such way to pick episodes", expected=", ".join(PICKERS), found=how)
    if count < 1:
        raise UsageError("nothing would be picked", expected="a count of at least 1", found=count)
    return at_random(rows, count, seed=seed) if how == "random" else PICKERS[how](rows, count)


def cut_out(trajectory: Trajectory, episode: int) -> Trajectory:
    """The trajectory with only one of its episodes. Raises UsageError when it has no such episode."""
    starts = tuple(start for start in trajectory.starts if start.episode == episode)
    if not starts:
        known = ", ".join(str(start.episode) for start in trajectory.starts) or "none is recorded"
        raise UsageError("no such episode in this trajectory", expected=known, found=episode)
    steps = tuple(step for step in trajectory.steps if step.episode == episode)
    return replace(trajectory, starts=starts, steps=steps)
