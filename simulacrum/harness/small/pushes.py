"""Which values a field of a state is pushed to, and the visited states that are pushed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulacrum.contract.fields import INTEGER_RANGES, Field
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.extremes import bounds
from simulacrum.harness.frames import Array, row_action
from simulacrum.harness.small.thresholds import thresholds_of
from simulacrum.twin.state import dump_state

ELEMENTS = 8  # of one field that are pushed, at most
ROWS, STEPS = 6, 600  # of the rollouts in which states are visited
Element = tuple[str, tuple[int, ...]]  # a field of the state and the place inside it


@dataclass(frozen=True)
class Push:
    """One element of the state set to a value."""

    element: Element
    value: Any


def pushed(state: Mapping[str, Any], pushes: Sequence[Push]) -> dict[str, Any]:
    """A JSON state with these elements set."""
    made = dict(state)
    for push in pushes:
        name, index = push.element
        made[name] = _with(made[name], index, push.value)
    return made


def _with(value: Any, index: tuple[int, ...], new: Any) -> Any:
    if not index:
        return new
    return [_with(item, index[1:], new) if number == index[0] else item for number, item in enumerate(value)]


def clock_values(limit: int | None) -> list[int]:
    """Both sides of the time limit, and the first two steps."""
    near = () if limit is None else range(limit - 2, limit + 2)
    return [t for t in dict.fromkeys([0, 1, *near]) if t >= 0]


class Values:
    """The values that each element is pushed to.

    seen: visited JSON states; where a field has no bound, what was seen takes its place.
    """

    def __init__(self, package: EnvPackage, seen: Sequence[Mapping[str, Any]]) -> None:
        self.schema, self.seen = package.schema, seen
        limit = self.schema.max_episode_steps
        self.numbers = thresholds_of(package) + ([] if limit is None else [limit])

    def pushes(self, *, ends: bool = False) -> Iterator[Push]:
        """Every push, field by field; with `ends` only to the ends, to 0, and to what the rules know."""
        for name, field in self.schema.state.items():
            low, high = bounds(field)
            for index in _places(field, 2 if ends else ELEMENTS):
                for value in self._of(name, field, index, low[index], high[index], ends=ends):
                    yield Push((name, index), value)

    def _of(self, name: str, field: Field, index: tuple[int, ...], low: Any, high: Any, *, ends: bool) -> list[Any]:
        if field.is_bool:
            return [False, True]
        met = [np.array(state[name], field.dtype)[index] for state in self.seen]
        if field.is_integer:
            least, most = INTEGER_RANGES[field.dtype]
            first = int(min(met)) - 1 if low == least and met else int(low)
            last = int(max(met)) + 1 if high == most and met else int(high)
            inner = [] if ends else [first + 1, last - 1]
            known = [] if ends else [int(n) + d for n in self.numbers if float(n).is_integer() for d in (-1, 0, 1)]
            low, high = max(first, least), min(last, most)
            return [value for value in dict.fromkeys([first, last, *inner, *known]) if low <= value <= high]
        return self._floats(np.dtype(field.dtype).type, low, high, met, ends=ends)

    def _floats(self, kind: Any, low: Any, high: Any, met: Sequence[Any], *, ends: bool) -> list[float]:
        info = np.finfo(kind)
        first = low if low > info.min or not met else min(met)
        last = high if high < info.max or not met else max(met)
        tried: list[Any] = [first, last, kind(0.0)]
        known = [kind(sign * number) for number in self.numbers for sign in (1, -1)]
        tried += known
        if not ends:
            tried += [np.nextafter(first, last), np.nextafter(last, first), info.smallest_normal]
            tried += [first / kind(2) + last / kind(2)]
            tried += [np.nextafter(number, kind(end)) for number in known for end in (-np.inf, np.inf)]
        inside = [value for value in tried if np.isfinite(value) and low <= value <= high]
        return list(dict.fromkeys(float(value) + 0.0 for value in inside))


def beside(schema: Schema, state: Mapping[str, Any], generator: random.Random) -> list[Push] | None:
    """Two integers of the state set to what two others are, or one more or less: things that stand side by side.

    Both have the same place inside their fields, as what belongs to one of several things has. None where the state
    has no two integers.
    """
    fields = [(name, field) for name, field in schema.state.items() if field.is_integer]
    index = generator.choice([index for _, field in fields for index in _places(field, ELEMENTS)] or [()])
    able = [(name, field) for name, field in fields if _has(field, index)]
    given = [(name, place) for name, field in fields for place in dict.fromkeys([index, ()]) if _has(field, place)]
    sources = [_at(state[name], place) for name, place in given]
    if len(able) < 2 and len(fields) < 2:
        return None
    chosen = generator.sample(able, min(2, len(able)))
    return [Push((name, index), generator.choice(sources) + generator.choice((-1, 0, 0, 1))) for name, _ in chosen]


def _has(field: Field, index: tuple[int, ...]) -> bool:
    return len(index) == len(field.shape) and all(i < length for i, length in zip(index, field.shape, strict=True))


def _at(value: Any, index: tuple[int, ...]) -> Any:
    for number in index:
        value = value[number]
    return value


def _places(field: Field, most: int) -> list[tuple[int, ...]]:
    """Places inside a field: all, or so many from the first to the last."""
    places: list[tuple[int, ...]] = list(np.ndindex(*field.shape))
    if len(places) <= most:
        return places
    return [places[int(number)] for number in np.linspace(0, len(places) - 1, most)]


def visited(bench: Bench, most: int) -> list[tuple[int, dict[str, Any]]]:
    """(t, JSON state) of places that the reference met in a few episodes and could still step from.

    The first and the last of each row, and others from one end to the other.
    """
    schema = bench.schema
    driver = drivers.standard(schema, ROWS, bench.seed)
    ways: list[list[tuple[int, dict[str, Any]]]] = []
    runners = [ReferenceRunner(bench.package, max_episode_steps=schema.max_episode_steps) for _ in range(ROWS)]
    for runner, seed in zip(runners, seeds_for(ROWS, bench.seed), strict=True):
        runner.reset(seed)
        ways.append([(0, dump_state(schema, runner.state))])
    for step in range(STEPS):
        if all(runner.ended for runner in runners):
            break
        actions: Array = driver.actions({}, step)
        for row, runner in enumerate(runners):
            if not runner.ended:
                runner.step(row_action(schema, actions, row))
                if not runner.ended:
                    ways[row].append((runner.t, dump_state(schema, runner.state)))
    special = [way[k] for way in ways for k in (0, -1)]
    all_of_them = [place for way in ways for place in way]
    spread = [all_of_them[int(k)] for k in np.linspace(0, len(all_of_them) - 1, most)]
    kept: list[tuple[int, dict[str, Any]]] = []
    for place in [*special[1::2], *spread, *special[::2]]:
        if place not in kept:
            kept.append(place)
    return kept[:most]
