"""Fewer rows: one alone, copies of one, or one with the fewest companions."""

from __future__ import annotations

from dataclasses import replace

from simulacrum.harness.shrink.ddmin import fewest
from simulacrum.harness.shrink.trial import Trial
from simulacrum.trace.case import Case, Line

SIZES = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 257, 512, 513, 1024, 2048, 4096)


def fewer_rows(trial: Trial) -> str | None:
    """Make the batch of the best case smaller; what was done, in words."""
    case = trial.case
    before = case.num_envs
    if before == 1:
        return None
    if not trial.take(only(case, [])):
        if trial.take(replace(case, lines=(case.line,))):
            _smaller_size(trial)
        else:
            _fewer_companions(trial)
            _copies(trial)
    after = trial.case.num_envs
    return None if after == before else f"{before} rows to {after}"


def only(case: Case, companions: list[Line]) -> Case:
    """The case of its row and some of the others, all in their order."""
    ordered = sorted([case.line, *companions], key=lambda line: line.row)
    place = ordered.index(case.line)
    lines = [replace(line, row=number) for number, line in enumerate(ordered)]
    return replace(case, num_envs=len(lines), lines=(lines[place], *lines[:place], *lines[place + 1 :]))


def _smaller_size(trial: Trial) -> None:
    """The row among copies of itself: what counts is the batch's size or the place in it."""
    case = trial.case
    row = case.line.row
    sizes = sorted({*(size for size in SIZES if size < case.num_envs), row + 1} - {case.num_envs, 1})
    for size in sizes:
        for place in dict.fromkeys((0, size - 1, row % size, row if row < size else 0)):
            if trial.take(replace(case, num_envs=size, lines=(replace(case.line, row=place),))):
                return
    trial.take(replace(case, lines=(replace(case.line, row=0),)))


def _fewer_companions(trial: Trial) -> None:
    """The others have other values, and those matter: the neighbours first, then the first and last row, then any."""
    case = trial.case
    others = sorted(case.lines[1:], key=lambda line: line.row)
    near = [line for line in others if line.row in (case.line.row - 1, case.line.row + 1, 0, case.num_envs - 1)]
    if len(others) > 1 and any(trial.take(only(case, [line])) for line in near):
        return
    fewest(others, lambda kept: trial.take(only(case, kept)))


def _copies(trial: Trial) -> None:
    """Leave out the lines of companions that may as well be copies of the row."""
    for line in trial.case.lines[1:]:
        case = trial.case
        trial.take(replace(case, lines=tuple(one for one in case.lines if one.row != line.row)))
