"""Draws for the reference twin: plain Python integers in, plain Python numbers out; no torch, no NumPy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from simulacrum.errors import DrawError
from simulacrum.portable.scalar import Float32
from simulacrum.rng import arguments, values
from simulacrum.rng.layout import EPISODE_BLOCK, PHASES, RESET_BLOCKS, Layout, Slot

Pair = tuple[int, int]

ROUNDS = 13
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = 0x1BD11BDA
_MASK = 0xFFFFFFFF


def threefry2x32(key: Pair, counter: Pair, rounds: int = ROUNDS) -> Pair:
    """The two words of one block, by Threefry-2x32 (Salmon, Moraes, Dror, Shaw 2011). Ints 0..2**32-1."""
    schedule = (key[0], key[1], key[0] ^ key[1] ^ PARITY)
    x0, x1 = (counter[0] + key[0]) & _MASK, (counter[1] + key[1]) & _MASK
    for left, right, turn in _rounds(ROTATIONS, rounds):
        x0 = (x0 + x1) & _MASK
        x1 = (x1 << left & _MASK | x1 >> right) ^ x0
        if turn:
            x0 = (x0 + schedule[turn % 3]) & _MASK
            x1 = (x1 + schedule[(turn + 1) % 3] + turn) & _MASK
    return x0, x1


@functools.cache
def _rounds(rotations: tuple[int, ...], count: int) -> tuple[tuple[int, int, int], ...]:
    """Of each round: how far it rotates left and right, and the number of the turn of the key after it, or 0."""
    turns = (rotations[number % 8] for number in range(count))
    return tuple((turn, 32 - turn, 0 if (n + 1) % 4 else (n + 1) // 4) for n, turn in enumerate(turns))


def split_seed(seed: int) -> Pair:
    """A row's seed as two words, the low one first. Raises DrawError outside 0..2**64-1."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, bool) or not 0 <= number < 2**64:
        raise DrawError("not a seed", expected="an integer 0..2**64-1", found=repr(seed), where="row seed")
    return number & _MASK, number >> 32


def episode_key(seed: int, episode: int) -> Pair:
    """The 64-bit key of one episode of the row with this seed. Raises DrawError for a bad seed or episode."""
    if not 0 <= episode < 2**31:
        raise DrawError("not an episode number", expected="0..2**31-1", found=episode, where="episode key")
    return threefry2x32(split_seed(seed), (episode, EPISODE_BLOCK))


class ScalarDraw:
    """The draws of one row at one moment, each a function of (key, phase, t, slot, index) alone.

    `phase`: "reset" or "step". `key`: from `episode_key`. `t`: steps taken in the episode before this one; at
    reset it is not looked at.
    `ledger`: a list that receives (slot, index, words) of every draw; index is None for slots without a count
    and for permutations. `override`: {slot: value} returned instead of drawing (where the slot has a count, a
    sequence of values or one for all indices); overridden slots read no words, and the ledger has none.

    Every method raises DrawError for an undeclared slot, a slot of the other phase or of another
    distribution, an index that the slot does not have, and arguments without meaning. A slot of count K gives
    a tuple of K values when `index` is left out. float32 slots give Float32, float64 slots float. `used` is
    the set of slot names asked for.
    """

    def __init__(
        self,
        layout: Layout,
        phase: str,
        key: Pair,
        t: int,
        *,
        ledger: list[tuple[str, int | None, tuple[int, ...]]] | None = None,
        override: Mapping[str, Any] | None = None,
    ) -> None:
        if not 0 <= t < 2**31:
            raise DrawError("not a step number", expected="0..2**31-1", found=t, where=f"draws at {phase}")
        check_handle(layout, phase, override)
        self.used: set[str] = set()
        self._layout, self._phase, self._key = layout, phase, key
        self._t = 0 if phase == "reset" else t
        self._ledger, self._override = ledger, override or {}
        self._blocks: dict[int, Pair] = {}

    def uniform(self, slot: str, low: Any = 0.0, high: Any = 1.0, *, index: int | None = None) -> Any:
        """A float in [low, high), or low itself where low == high."""
        spec = self._slot(slot, "uniform", index)
        bounds, real = arguments.uniform_bounds(low, high, spec), values.rounding(spec.dtype)
        return self._draw(spec, index, lambda words: values.uniform(words, bounds, real))

    def integers(self, slot: str, high: Any, *, low: Any = 0, index: int | None = None) -> Any:
        """An int in low..high-1: up to `2**16` of them in an int32 slot, up to `2**31` in an int64 one."""
        spec = self._slot(slot, "integers", index)
        span = arguments.integer_span(low, high, spec)
        return self._draw(spec, index, lambda words: values.integers(words, span))

    def bernoulli(self, slot: str, p: Any, *, index: int | None = None) -> Any:
        """True with probability p."""
        spec = self._slot(slot, "bernoulli", index)
        limit = arguments.probability(p, spec)
        return self._draw(spec, index, lambda words: values.bernoulli(words, limit))

    def normal(self, slot: str, mean: Any = 0.0, std: Any = 1.0, *, index: int | None = None) -> Any:
        """A float, normally distributed, never further than 6.8 standard deviations from the mean."""
        spec = self._slot(slot, "normal", index)
        (a, b), real = arguments.location_scale(mean, std, spec), values.rounding(spec.dtype)
        return self._draw(spec, index, lambda words: values.normal(words, a, b, real))

    def choice(self, slot: str, weights: Sequence[Any], *, index: int | None = None) -> Any:
        """The index of one weight, with probability weight / total; never one of weight zero."""
        spec = self._slot(slot, "choice", index)
        sums, real = arguments.cumulative(weights, spec), values.rounding(spec.dtype)
        return self._draw(spec, index, lambda words: values.choice(words, sums, real))

    def permutation(self, slot: str) -> Any:
        """A tuple of 0..K-1 in random order, K being the slot's count."""
        spec = self._slot(slot, "permutation", None)
        if slot in self._override:
            return tuple(int(item) for item in self._override[slot])
        return values.permutation(self._words(spec, None, 0, spec.words))

    def _slot(self, name: str, distribution: str, index: int | None) -> Slot:
        slot = self._layout.lookup(self._phase, name, distribution)
        self._layout.check_index(slot, index)
        self.used.add(name)
        return slot

    def _draw(self, slot: Slot, index: int | None, value: Callable[[tuple[int, ...]], Any]) -> Any:
        if slot.count is not None and index is None:
            return tuple(self._draw(slot, each, value) for each in range(slot.count))
        if slot.name in self._override:
            chosen = self._override[slot.name]
            if index is not None and isinstance(chosen, Sequence):
                chosen = cast("Sequence[Any]", chosen)[index]
            return _typed(slot, chosen)
        return _typed(slot, value(self._words(slot, index, (index or 0) * slot.each, slot.each)))

    def _words(self, slot: Slot, index: int | None, start: int, count: int) -> tuple[int, ...]:
        first = self._layout.offset(slot) + start
        words = (self._word(first),) if count == 1 else tuple(map(self._word, range(first, first + count)))
        if self._ledger is not None:
            self._ledger.append((slot.name, index, words))
        return words

    def _word(self, number: int) -> int:
        block = number // 2
        words = self._blocks.get(block)
        if words is None:
            shift = RESET_BLOCKS if self._phase == "reset" else 0
            words = self._blocks[block] = threefry2x32(self._key, (self._t, block + shift))
        return words[number % 2]


def check_handle(layout: Layout, phase: str, override: Mapping[str, Any] | None) -> None:
    """Raises DrawError for an unknown phase and for an override of a slot that no phase declares."""
    if phase not in PHASES:
        raise DrawError("unknown phase of draws", expected=PHASES, found=repr(phase), where="a draw handle")
    if not override:
        return
    declared = {slot.name for slot in layout.slots}
    for name in override:
        if name not in declared:
            raise layout.undeclared(phase, name)


def _typed(slot: Slot, value: Any) -> Any:
    return _TYPES.get(slot.result, int)(value)


_TYPES: Mapping[str, Callable[[Any], Any]] = {"float32": Float32, "float64": float, "bool": bool}
