"""Numbers that the rules hold things against: those that are written down, and those that are seen at work.

A rule such as `u < p + (1 - p) / 2` compares a draw with a number that stands nowhere. It is found by asking: the
reference takes steps with draws that note what they are held against.
"""

from __future__ import annotations

import ast
import math
import operator
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.small.choices import ChoosingDraw, Pick
from simulacrum.harness.small.nodes import Scalar
from simulacrum.harness.small.options import Options
from simulacrum.portable.scalar import Float32
from simulacrum.rng.layout import Layout
from simulacrum.twin.state import load_state

PROBES = 400  # calls of the reference
MOST = 12  # numbers that are kept of one draw: those that it met most often
FEW = 64  # of an array that a draw is held against, no more are noted

Noted = dict[str, Counter[float]]  # by slot: how often each number was met


def thresholds_of(package: EnvPackage) -> list[float]:
    """The numbers that the rules know: constants of `__init__.py`, the time limit, defaults of parameters."""
    path = package.folder / "__init__.py"
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8")))) if path.is_file() else []
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    found: list[float] = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    found += [-value for value in found]  # a minus sign is no part of a literal
    found += [param.default for param in package.schema.params.values() if not param.field.is_bool]
    return list(dict.fromkeys(found))


def thresholds_of_draws(
    scalar: Scalar, options: Options, states: Sequence[tuple[int, Mapping[str, Any]]], actions: Sequence[Any]
) -> dict[str, tuple[float, ...]]:
    """By name of a slot with uniform draws: the numbers that the reference holds its draws against.

    Args:
        scalar: the reference, with the sets of parameters that are tried.
        options: the values that a draw is given meanwhile.
        states: (t, JSON state) of places to step from.
        actions: of a row, those that are stepped with.

    What a draw is after arithmetic is not followed. Calls that raise teach nothing here: other checks make the same.
    """
    noted: Noted = {}
    if all(slot.distribution != "uniform" for slot in scalar.layout.slots):
        return {}
    generator = random.Random(20_240)
    for _ in range(PROBES):
        p = generator.randrange(len(scalar.params))
        t, state = generator.choice(states)
        action = generator.choice(actions)
        try:
            scalar.reset(NotingDraw(scalar.layout, "reset", options, generator.randrange, noted), p)
            draw = NotingDraw(scalar.layout, "step", options, generator.randrange, noted)
            scalar.step(load_state(scalar.schema, state), t, action, draw, p)
        except Exception:
            continue
    return {slot: tuple(sorted(number for number, _ in met.most_common(MOST))) for slot, met in noted.items() if met}


class NotingDraw(ChoosingDraw):
    """Draws whose uniform numbers note into `noted` what they are held against."""

    def __init__(self, layout: Layout, phase: str, options: Options, pick: Pick, noted: Noted) -> None:
        super().__init__(layout, phase, options, pick)
        self._noted = noted

    def uniform(self, slot: str, low: Any = 0.0, high: Any = 1.0, *, index: int | None = None) -> Any:
        """As `ScalarDraw.uniform`, of numbers that note."""
        drawn, met = super().uniform(slot, low, high, index=index), self._noted.setdefault(slot, Counter())
        return tuple(_noting(one, met) for one in drawn) if isinstance(drawn, tuple) else _noting(drawn, met)


class _Noting:
    """What is added to a float: it behaves as `plain`, and counts in `met` what it is compared with."""

    plain: Any
    met: Counter[float]

    def __lt__(self, other: Any) -> Any:
        return self._held(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._held(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._held(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._held(other, operator.ge)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        if ufunc in (np.less, np.less_equal, np.greater, np.greater_equal):
            self._note_all(inputs)
        return getattr(ufunc, method)(*_plain(inputs), **more)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, more: Any) -> Any:
        if function is np.searchsorted:
            self._note_all(args[:1])
        return function(*_plain(args), **more)

    def _held(self, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, (float, int, np.number)):
            self._note_all([other])
        return compare(self.plain, other)

    def _note_all(self, others: Sequence[Any]) -> None:
        for other in others:
            if not isinstance(other, _Noting):
                self.met.update(number for number in np.ravel(other)[:FEW].tolist() if math.isfinite(number))


class _NotingFloat(_Noting, float):
    pass


class _NotingFloat32(_Noting, Float32):
    pass


def _noting(value: float, met: Counter[float]) -> _Noting:
    made: Any = (_NotingFloat32 if isinstance(value, Float32) else _NotingFloat)(value)
    made.plain, made.met = value, met
    return made


def _plain(values: Sequence[Any]) -> list[Any]:
    return [value.plain if isinstance(value, _Noting) else value for value in values]
