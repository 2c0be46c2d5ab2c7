"""Plainer values: each field of the state towards zero, the clock, the seed, forced draws, parameters, the mode."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.harness.shrink.trial import Trial
from simulacrum.trace.case import Case, Line
from simulacrum.trace.values import read_value, spell

ELEMENTS = 40  # of one field; larger ones are made plainer in parts of that many


def plainer_values(trial: Trial) -> str | None:
    """Make the values of the best case plainer, one after the other; what was done, in words."""
    before = trial.case
    _setting(trial)
    _params(trial)
    if before.line.start is not None:
        _clock(trial)
        _state(trial)
    _seed(trial)
    _forced(trial)
    _given_draws(trial)
    if trial.case == before:
        return None
    return "plainer " + ", ".join(_changed(before, trial.case))


def _changed(before: Case, after: Case) -> list[str]:
    one, two = before.line, after.line
    told = [f"state.{name}" for name in one.start or {} if (one.start or {})[name] != (two.start or {})[name]]
    told += [name for name in ("t", "episode", "seed", "params") if getattr(one, name) != getattr(two, name)]
    told += [name for name in ("forced", "autoreset_mode", "max_episode_steps")
             if getattr(before, name) != getattr(after, name)]
    return told or ["companions"]


def _with(case: Case, line: Line) -> Case:
    return replace(case, lines=(line, *case.lines[1:]))


def _setting(trial: Trial) -> None:
    """The first mode and the schema's own time limit, where they do not matter."""
    for changes in ({"autoreset_mode": "next_step"}, {"max_episode_steps": trial.package.schema.max_episode_steps}):
        case = replace(trial.case, **changes)
        if case != trial.case:
            trial.take(case)


def _params(trial: Trial) -> None:
    """Each parameter's default, which is then left unsaid: in all rows, or in the one that is looked at."""
    for name in trial.package.schema.params:
        line = trial.case.line
        if name not in line.params:
            continue

        def without(one: Line, name: str = name) -> Line:
            return replace(one, params={other: value for other, value in one.params.items() if other != name})

        if not trial.take(replace(trial.case, lines=tuple(map(without, trial.case.lines)))):
            trial.take(_with(trial.case, without(line)))


def _clock(trial: Trial) -> None:
    for name in ("t", "episode"):
        value = getattr(trial.case.line, name)
        for plainer in dict.fromkeys((0, 1, value // 2, value - 1)):
            line = replace(trial.case.line, **{name: plainer})
            if 0 <= plainer < value and trial.allowed(line) and trial.take(_with(trial.case, line)):
                break


def _seed(trial: Trial) -> None:
    for seed in (0, 1, 2, 3):
        line = trial.case.line
        if seed < line.seed and trial.take(_with(trial.case, replace(line, seed=seed))):
            return


def _given_draws(trial: Trial) -> None:
    """Truth values of the step put in, where that lets the seed and the clock be plain: what is drawn then shows."""
    case, line = trial.best, trial.case.line
    if case is None or trial.case.form != "eager" or line.start is None or trial.case.steps != 1 or trial.case.forced:
        return
    slots = [draw for draw in trial.package.schema.draws if draw.phase == "step" and draw.distribution == "bernoulli"]
    if not (line.seed or line.t or line.episode) or not slots or any(slot.count is not None for slot in slots):
        return
    for values in itertools.islice(itertools.product((False, True), repeat=len(slots)), 8):
        forced = {slot.name: value for slot, value in zip(slots, values, strict=True)}
        if trial.take(replace(trial.case, forced=forced)):
            _clock(trial)
            _seed(trial)
            if trial.case.line == line:  # nothing came of it: the draws as they were say as much
                trial.best = case
            return


def _forced(trial: Trial) -> None:
    for slot in list(trial.case.forced):
        rest = {name: value for name, value in trial.case.forced.items() if name != slot}
        trial.take(replace(trial.case, forced=rest))


def _state(trial: Trial) -> None:
    """The whole state at once, then field by field, then value by value."""
    schema, start = trial.package.schema, trial.case.line.start
    assert start is not None
    plain = {name: _plain(field) for name, field in schema.state.fields.items()}
    if _put(trial, plain):
        return
    for name, field in schema.state.fields.items():
        if not _put(trial, {name: plain[name]}):
            _values(trial, name, field)


def _put(trial: Trial, values: dict[str, Any]) -> bool:
    line = trial.case.line
    start = {**(line.start or {}), **values}
    moved = replace(line, start=start)
    return start != line.start and trial.allowed(moved) and trial.take(_with(trial.case, moved))


def _values(trial: Trial, name: str, field: Field) -> None:
    """Parts of a field, halved until they are single values; each of those to the plainest that still shows it."""
    flat = _flat(trial, name, field)
    parts = [(0, len(flat))] if len(flat) > 1 else []
    while parts and not trial.spent:
        low, high = parts.pop(0)
        if not _put_flat(trial, name, field, dict.fromkeys(range(low, high))) and high - low > 2:
            middle = (low + high) // 2
            parts += [(low, middle), (middle, high)]
    for index in range(min(len(flat), ELEMENTS)):
        value = _flat(trial, name, field)[index]
        for plainer in _towards(value, _simple(field)):
            if _put_flat(trial, name, field, {index: plainer}):
                break


def _flat(trial: Trial, name: str, field: Field) -> list[Any]:
    raw = read_value(field, (trial.case.line.start or {})[name])
    return np.array(raw, dtype=field.dtype).reshape(-1).tolist()


def _put_flat(trial: Trial, name: str, field: Field, changes: dict[int, Any]) -> bool:
    flat = _flat(trial, name, field)
    for index, value in changes.items():
        flat[index] = _simple(field) if value is None else value
    array = np.array(flat, dtype=field.dtype).reshape(field.shape)
    return _put(trial, {name: spell(field, array.tolist())})


def _towards(value: Any, simple: Any) -> Iterator[Any]:
    """Values between `simple` and `value`, the plainest first."""
    if value == simple or isinstance(value, bool):
        if value != simple:
            yield simple
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            yield simple
            return
        yield from (one for one in dict.fromkeys((simple, float(round(value)), round(value, 1), round(value, 3)))
                    if one != value)
        return
    yield simple
    gap = value - simple
    for part in (1, 2, 4):
        if abs(gap) > part:
            yield simple + (part if gap > 0 else -part)
    if abs(gap) > 8:
        yield simple + gap // 2


def _simple(field: Field) -> Any:
    """Zero, or the value nearest to it within one bound for all elements."""
    if field.is_bool:
        return False
    zero = 0.0 if field.is_float else 0
    low = field.low if isinstance(field.low, (int, float)) else None
    high = field.high if isinstance(field.high, (int, float)) else None
    value = zero if low is None or low <= zero else low
    value = value if high is None or high >= value else high
    return float(value) if field.is_float else int(value)


def _plain(field: Field) -> Any:
    return spell(field, np.full(field.shape, _simple(field), dtype=field.dtype).tolist())
