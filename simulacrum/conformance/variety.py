"""How much the seed changes, measured first: two runs that look alike say something only where most do not."""

from __future__ import annotations

from typing import Any

from simulacrum.conformance.rule import NotJudged
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Tape, play
from simulacrum.conformance.values import clone, difference, row_of

STARTS, RUNS = 24, 8  # seeds that are tried: first observations, and whole runs
CHANCE = 1e-5  # of a wrong verdict, at most


def run_of(tape: Tape, row: int) -> list[Any]:
    """All that one row showed: its first observation, then what each step gave."""
    return [row_of(tape.observation, row), *(step.row(row) for step in tape.steps)]


def alike(runs: list[Any]) -> bool:
    """Whether all of them are the same."""
    return all(difference(run, runs[0]) is None for run in runs[1:])


def share(runs: list[Any]) -> float:
    """The share of the commonest one."""
    kinds: list[list[Any]] = []
    for run in runs:
        kind = next((kind for kind in kinds if difference(run, kind[0]) is None), None)
        if kind is None:
            kinds.append([run])
        else:
            kind.append(run)
    return max(map(len, kinds)) / len(runs)


def share_of_starts(subject: Subject) -> float:
    """Among first observations of one row with many seeds, the share of the commonest."""

    def measure() -> float:
        with subject.env(1, **subject.course.extra) as env:
            return share([clone(env.reset(seed=subject.seed + 100 * k)[0]) for k in range(STARTS)])

    return subject.once("share of starts", measure)


def share_of_runs(subject: Subject) -> float:
    """Among runs of one row with several seeds and the same actions, the share of the commonest."""

    def measure() -> float:
        runs: list[Any] = []
        for k in range(RUNS):
            with subject.env(1, **subject.course.extra) as env:
                tape = play(env, subject.actions, subject.course.steps, seed=subject.seed + 100 * k)
            runs.append(run_of(tape, 0))
        return share(runs)

    return subject.once("share of runs", measure)


def starts_vary(subject: Subject, repeats: int) -> None:
    """`NotJudged` unless so many repeats of one first observation can be no chance."""
    common = share_of_starts(subject)
    if common**repeats > CHANCE:
        percent = f"{common:.0%} of {STARTS} seeds give the same first observation"
        raise NotJudged(f"{percent}, so that {repeats} alike may be chance")


def steps_to_tell(subject: Subject, repeats: int) -> int:
    """How many steps a run needs so that `repeats` repeats of it can be no chance: none, or all of the course.

    Raises:
        NotJudged: nothing depends on the seed, or too little does.
    """
    if share_of_starts(subject) ** repeats <= CHANCE:
        return 0
    common = share_of_runs(subject)
    if common == 1 and share_of_starts(subject) == 1:
        raise NotJudged(f"nothing in it depends on the seed, as far as {RUNS} runs show")
    if common**repeats > CHANCE:
        raise NotJudged(f"{common:.0%} of {RUNS} seeds give the same run, so that {repeats} alike may be chance")
    return subject.course.steps
