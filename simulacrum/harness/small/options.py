"""The values that a draw is tried with: all where they are few, else ends, both sides of thresholds, and a middle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from simulacrum.rng import arguments, values
from simulacrum.rng.layout import Slot

FEW = 16  # integers and weights up to here are all tried
FEW_ITEMS = 4  # permutations of up to so many items are all tried
_DEVIATIONS = (0.0, -6.5, 6.5, -1.0, 1.0)  # normal draws, in standard deviations; none is further out than 6.8


class Options:
    """Options of each draw, in a fixed order, kept from one asking to the next.

    thresholds: numbers that the rules may hold a draw against (the package's constants and parameters).
    of_draws: by name of a slot, numbers that its draws were seen to be held against.
    few: integers and weights up to here are all tried.
    """

    def __init__(
        self, thresholds: Iterable[float] = (), of_draws: Mapping[str, Iterable[float]] | None = None, *, few: int = FEW
    ) -> None:
        self.thresholds = sorted({float(number) for number in thresholds if math.isfinite(number)})
        self.of_draws = {slot: tuple(numbers) for slot, numbers in (of_draws or {}).items()}
        self.few = few
        self._kept: dict[Any, Sequence[Any]] = {}

    def bernoulli(self, slot: Slot, p: Any) -> Sequence[bool]:
        """Both, where both can be."""
        key = (slot.name, type(p), p)
        if key not in self._kept:
            limit = arguments.probability(p, slot)
            self._kept[key] = (False,) if limit <= 0.0 else (True,) if limit >= 1.0 else (False, True)
        return self._kept[key]

    def integers(self, slot: Slot, low: Any, high: Any) -> Sequence[int]:
        """All, or the ends, their neighbours and the middle."""
        first, size = arguments.integer_span(low, high, slot)
        if size <= self.few:
            return range(first, first + size)
        return sorted({first, first + 1, first + size // 2, first + size - 2, first + size - 1})

    def choice(self, slot: Slot, weights: Sequence[Any]) -> Sequence[int]:
        """Every index that has a weight, or the ends and the middle of them."""
        sums = arguments.cumulative(weights, slot)
        possible = [k for k, total in enumerate(sums) if total > (sums[k - 1] if k else 0.0)]
        if len(possible) > self.few:
            possible = sorted({*possible[:2], possible[len(possible) // 2], *possible[-2:]})
        return possible

    def uniform(self, slot: Slot, low: Any, high: Any) -> Sequence[float]:
        """The lowest and the next, both sides of the middle, the highest; both sides of each threshold inside."""
        bounds = arguments.uniform_bounds(low, high, slot)
        key = (slot.name, bounds)
        if key not in self._kept:
            real = values.rounding(slot.dtype)
            drawn = [values.uniform(words, bounds, real) for words in _words(slot)]
            numbers = (real(number) for number in (*self.of_draws.get(slot.name, ()), *self.thresholds))
            near = [
                side for number in numbers if bounds.low < number < bounds.high
                for side in _around(number, slot.dtype) if bounds.low <= side < bounds.high
            ]  # fmt: skip
            self._kept[key] = _plain([*drawn, *near])
        return self._kept[key]

    def normal(self, slot: Slot, mean: Any, std: Any) -> Sequence[float]:
        """The mean, and near and far on both sides of it."""
        middle, scale = arguments.location_scale(mean, std, slot)
        real = values.rounding(slot.dtype)
        return _plain(real(middle + real(scale * z)) for z in _DEVIATIONS)

    def permutation(self, slot: Slot) -> Sequence[tuple[int, ...]]:
        """All, or the identity, the reverse, one rotation and one swap."""
        assert slot.count is not None, "a permutation is declared with a count"
        items = tuple(range(slot.count))
        if slot.count <= FEW_ITEMS:
            return tuple(itertools.permutations(items))
        return (items, items[::-1], (*items[1:], 0), (1, 0, *items[2:]))


def _words(slot: Slot) -> list[tuple[int, ...]]:
    """Words of 0, the smallest step above, both sides of 1/2, and the largest number below 1."""
    width = 24 if slot.each == 1 else 53
    numbers = (0, 1, 2 ** (width - 1) - 1, 2 ** (width - 1), 2**width - 1)
    if slot.each == 1:
        return [(number << 8,) for number in numbers]
    return [((number >> 26) << 5, (number & (2**26 - 1)) << 6) for number in numbers]


def _around(number: float, dtype: str) -> tuple[float, float, float]:
    kind = np.dtype(dtype).type
    below, above = (np.nextafter(kind(number), kind(end)).item() for end in (-np.inf, np.inf))
    return below, number, above


def _plain(numbers: Iterable[float]) -> tuple[float, ...]:
    """As plain floats without -0.0, each once, in order."""
    return tuple(dict.fromkeys(float(number) + 0.0 for number in numbers))
