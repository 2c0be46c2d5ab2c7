"""Fewer steps: a later start, then actions left out or replaced by the plainest one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from simulacrum.contract.schema import Schema
from simulacrum.harness import drivers
from simulacrum.harness.shrink.ddmin import fewest
from simulacrum.harness.shrink.trial import Trial
from simulacrum.trace.case import RESET, WAIT, Case, Line
from simulacrum.trace.values import spell_group

SEEDS = 12  # tried in the place of the seed that was met


def start_later(trial: Trial, case_from: Callable[[int], Case], first: int, last: int) -> str | None:
    """Begin at the latest frame from which the failure still shows: steps of 1, 2, 4, ... back from the end."""
    before, back = trial.case.steps, 1
    bad = last + 1  # a start from which it does not show
    while last - back > first:
        if trial.take(case_from(last - back)):
            break
        bad, back = last - back, 2 * back
    good = max(last - back, first)
    while bad - good > 1 and trial.case.steps < before:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if trial.take(case_from(middle)) else (good, middle)
    after = trial.case.steps
    return None if after == before else f"{before} steps to {after}, by a later start"


def plain_reset(trial: Trial) -> str | None:
    """A reset of some seed in the place of the step in which an ended row is reset: then the state does not matter."""
    case = trial.case
    if case.steps != 1 or case.line.start is None or not (case.line.ended or _by_hand(case.line.actions[0])):
        return None
    for seed in dict.fromkeys((case.line.seed, *range(SEEDS))):
        lines = [replace(line, seed=seed, start=None, episode=0, t=0, ended=False, actions=()) for line in case.lines]
        if trial.take(replace(case, lines=tuple(lines))):
            return "the reset alone"
    return None


def plainest(schema: Schema) -> Any:
    """The lowest action nearest to zero, as JSON."""

    def make(field: Any) -> Any:
        low, high = drivers.limits(field)
        return np.clip(np.zeros(field.shape), low, high).astype(field.dtype).tolist()

    return spell_group(schema.action, drivers.per_field(schema.action, make))


def simpler_actions(trial: Trial) -> str | None:
    """Replace actions by the plainest (draws are keyed by t, so the others keep theirs), then leave out steps."""
    plain, before = plainest(trial.package.schema), trial.case
    if before.steps > 1:
        special = [i for i in range(before.steps) if _action(before.line, i) != plain]
        fewest(special, lambda kept: trial.take(_replaced(before, kept, plain)))
        case = trial.case
        fewest(list(range(case.steps)), lambda kept: trial.take(_kept(case, kept)))
    case = trial.case
    for step in range(case.steps):
        trial.take(_one(trial.case, step, plain))
    after = trial.case
    if after.steps != before.steps:
        return f"{before.steps} steps to {after.steps}, by leaving some out"
    return None if after == before else "plainer actions"


def _action(line: Line, step: int) -> Any:
    return line.actions[step]


def _by_hand(taken: Any) -> bool:
    return (isinstance(taken, str) and taken in (RESET, WAIT)) or (isinstance(taken, dict) and RESET in taken)


def _plain(taken: Any, plain: Any) -> Any:
    return taken if _by_hand(taken) else plain


def _replaced(case: Case, kept: list[int], plain: Any) -> Case:
    def change(line: Line) -> Line:
        actions = [a if i in kept else _plain(a, plain) for i, a in enumerate(line.actions)]
        return replace(line, actions=tuple(actions))

    return replace(case, lines=tuple(change(line) for line in case.lines))


def _one(case: Case, step: int, plain: Any) -> Case:
    return _replaced(case, [i for i in range(case.steps) if i != step], plain)


def _kept(case: Case, kept: list[int]) -> Case:
    lines = [replace(line, actions=tuple(line.actions[i] for i in kept)) for line in case.lines]
    return replace(case, lines=tuple(lines))
