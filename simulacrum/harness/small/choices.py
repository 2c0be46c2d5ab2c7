"""Draws that are chosen, not drawn: a handle with the interface of `ScalarDraw` that walks through all that may come.

The reference asks; what it is answered is the next option of a fixed few. `every` runs a call once for each sequence of
options, depth first, as an odometer counts; `spread` takes a bounded number of sequences, ends first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulacrum.errors import TwinError
from simulacrum.harness.small.options import Options
from simulacrum.portable.scalar import Float32
from simulacrum.rng.layout import Layout, Slot

# (slot, index, value) of each draw in the order asked; the index is None where the slot has none, and for permutations.
Taken = tuple[tuple[str, "int | None", Any], ...]
Pick = Callable[[int], int]  # how many options there are -> which one is taken

_TYPES: dict[str, Callable[[Any], Any]] = {"float32": Float32}  # options are plain Python numbers


class ChoosingDraw:
    """The draws of one call of `reset` or `step`, each answered by the option that `pick` says.

    Asked twice for the same slot and index it gives the same value, as a draw does. Undeclared slots, wrong indices and
    arguments without meaning raise `DrawError`, as in `ScalarDraw`.
    """

    def __init__(self, layout: Layout, phase: str, options: Options, pick: Pick) -> None:
        self._layout, self._phase, self._options, self._pick = layout, phase, options, pick
        self._known: dict[tuple[str, int | None], Any] = {}

    @property
    def taken(self) -> Taken:
        """What was asked for and what was answered, so far."""
        return tuple([(slot, index, value) for (slot, index), value in self._known.items()])

    def uniform(self, slot: str, low: Any = 0.0, high: Any = 1.0, *, index: int | None = None) -> Any:
        """As `ScalarDraw.uniform`."""
        spec = self._slot(slot, "uniform", index)
        return self._choose(spec, index, self._options.uniform(spec, low, high))

    def integers(self, slot: str, high: Any, *, low: Any = 0, index: int | None = None) -> Any:
        """As `ScalarDraw.integers`."""
        spec = self._slot(slot, "integers", index)
        return self._choose(spec, index, self._options.integers(spec, low, high))

    def bernoulli(self, slot: str, p: Any, *, index: int | None = None) -> Any:
        """As `ScalarDraw.bernoulli`."""
        spec = self._slot(slot, "bernoulli", index)
        return self._choose(spec, index, self._options.bernoulli(spec, p))

    def normal(self, slot: str, mean: Any = 0.0, std: Any = 1.0, *, index: int | None = None) -> Any:
        """As `ScalarDraw.normal`."""
        spec = self._slot(slot, "normal", index)
        return self._choose(spec, index, self._options.normal(spec, mean, std))

    def choice(self, slot: str, weights: Sequence[Any], *, index: int | None = None) -> Any:
        """As `ScalarDraw.choice`."""
        spec = self._slot(slot, "choice", index)
        return self._choose(spec, index, self._options.choice(spec, weights))

    def permutation(self, slot: str) -> Any:
        """As `ScalarDraw.permutation`."""
        spec = self._slot(slot, "permutation", None)
        return self._one(spec, None, self._options.permutation(spec))

    def _slot(self, name: str, distribution: str, index: int | None) -> Slot:
        slot = self._layout.lookup(self._phase, name, distribution)
        self._layout.check_index(slot, index)
        return slot

    def _choose(self, slot: Slot, index: int | None, options: Sequence[Any]) -> Any:
        if slot.count is not None and index is None:
            return tuple(self._one(slot, each, options) for each in range(slot.count))
        return self._one(slot, index, options)

    def _one(self, slot: Slot, index: int | None, options: Sequence[Any]) -> Any:
        key = (slot.name, index)
        value = self._known.get(key)
        if value is None:
            value = self._known[key] = options[self._pick(len(options))]
        kind = _TYPES.get(slot.result)
        return value if kind is None else kind(value)


Call = Callable[[ChoosingDraw], Any]


class _Odometer:
    """Which option each draw of a call takes, counted up like the wheels of an odometer, the last draw fastest."""

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self.digits: list[int] = []
        self.sizes: list[int] = []
        self.place = 0

    def pick(self, size: int) -> int:
        """The option of the next draw, which has `size` of them."""
        place = self.place
        self.place += 1
        if place == len(self.digits):
            self.digits.append(0)
            self.sizes.append(size)
        elif self.sizes[place] != size:
            raise TwinError(
                "the reference asks otherwise, given the same",
                expected=f"draw number {place} with {self.sizes[place]} options", found=f"{size} options",
                where=self.phase,
                next_step="let what is drawn depend on state, action, parameters and earlier draws alone",
            )  # fmt: skip
        return self.digits[place]

    def advance(self) -> bool:
        """Go on to the next sequence; false where there is none."""
        digits, sizes = self.digits, self.sizes
        self.place = 0
        while digits and digits[-1] + 1 == sizes[-1]:
            digits.pop()
            sizes.pop()
        if digits:
            digits[-1] += 1
        return bool(digits)


def every(layout: Layout, phase: str, options: Options, call: Call) -> Iterator[tuple[Taken, Any]]:
    """(what was chosen, what `call` made of it) for every sequence of options that the call asks its way through.

    Raises `TwinError` where the same choices lead to other questions: the twin keeps something between two calls.
    """
    odometer = _Odometer(phase)
    pick, more = odometer.pick, True
    while more:
        draw = ChoosingDraw(layout, phase, options, pick)
        made = call(draw)
        yield draw.taken, made
        more = odometer.advance()


def spread(
    layout: Layout, phase: str, options: Options, call: Call, most: int, seed: int = 0
) -> Iterator[tuple[Taken, Any]]:
    """At most `most` of what `every` gives: all first options, all last ones, and others chosen at random by `seed`.

    Another seed for each call, or an option that one seed leaves out is never tried anywhere.
    """
    seen: set[Taken] = set()
    generator = random.Random(seed)
    picks: list[Pick] = [lambda size: 0, lambda size: size - 1]
    picks += [lambda size: generator.randrange(size)] * (2 * most)
    for pick in picks:
        draw = ChoosingDraw(layout, phase, options, pick)
        made = call(draw)
        taken = draw.taken
        if taken not in seen:
            seen.add(taken)
            yield taken, made
        if not taken or len(seen) >= most:
            return
