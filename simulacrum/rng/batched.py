"""Draws for the batched twin: the words and the arithmetic of `scalar.py`, for all rows at once."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from simulacrum.errors import DrawError
from simulacrum.rng import arguments, tensors
from simulacrum.rng.layout import EPISODE_BLOCK, RESET_BLOCKS, Layout, Slot
from simulacrum.rng.scalar import PARITY, ROTATIONS, ROUNDS, check_handle
from simulacrum.rng.scalar import split_seed as split_one_seed

# Host arithmetic on numbers known when a step is traced: a compiler is to take its result as it stands.
for _function in (
    arguments.rounded,
    arguments.whole,
    arguments.uniform_bounds,
    arguments.integer_span,
    arguments.probability,
    arguments.location_scale,
    arguments.cumulative,
):
    # What torch.compiler.assume_constant_result does, without loading the compiler for those who never compile.
    _function._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


_OPERATOR = torch.library.Library("simulacrum", "DEF")
_OPERATOR.define("threefry2x32(Tensor k0, Tensor k1, Tensor c0, Tensor c1) -> (Tensor, Tensor)")
_one_operator = [False]  # a plain cell: torch.compile, which traces through here, cannot read a ContextVar


@contextlib.contextmanager
def blocks_as_one_operator() -> Generator[None]:
    """Inside, a capture holds each evaluation as one operator, `simulacrum::threefry2x32`, not as 80 small ones."""
    before, _one_operator[0] = _one_operator[0], True
    try:
        yield
    finally:
        _one_operator[0] = before


def threefry2x32(
    k0: Tensor, k1: Tensor, c0: Tensor | int, c1: Tensor | int, rounds: int = ROUNDS
) -> tuple[Tensor, Tensor]:
    """The two words of each block: fresh int32 tensors, from int32 tensors that broadcast with each other."""
    if rounds == ROUNDS and _one_operator[0]:
        counters = [c if isinstance(c, Tensor) else torch.full((), c, dtype=torch.int32) for c in (c0, c1)]
        return torch.ops.simulacrum.threefry2x32(k0, k1, *counters)
    return _rounds(k0, k1, c0, c1, rounds)


def _rounds(k0: Tensor, k1: Tensor, c0: Tensor | int, c1: Tensor | int, rounds: int) -> tuple[Tensor, Tensor]:
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = c0 + k0, c1 + k1
    for number in range(rounds):
        turn = ROTATIONS[number % 8]
        # A rotation is two halves that share no bit, so their sum is their union: one eager operation less.
        spill = (x1 >> 32 - turn).bitwise_and_((1 << turn) - 1)
        # In the first round the parts still have to broadcast; from then on each sum may reuse its memory.
        x0 = x0.add_(x1) if number else x0 + x1
        x1 = spill.add_(x1, alpha=1 << turn)
        x1 = x1.bitwise_xor_(x0) if number else x1 ^ x0
        if number % 4 == 3:
            turn = number // 4 + 1
            x0 = x0.add_(schedule[turn % 3])
            x1 = x1.add_(schedule[(turn + 1) % 3] + turn)
    return x0, x1


def _operator(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
    return _rounds(k0, k1, c0, c1, ROUNDS)


def _operator_shape(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
    like = c0 + k0 + c1 + k1
    return torch.empty_like(like), torch.empty_like(like)


_OPERATOR.impl("threefry2x32", _operator, "CPU")
_OPERATOR.impl("threefry2x32", _operator, "CUDA")
torch.library.register_fake("simulacrum::threefry2x32", _operator_shape, lib=_OPERATOR)


def split_seed(seeds: Sequence[int], device: torch.device | str | None = None) -> Tensor:
    """Row seeds 0..2**64-1 as int32 [N, 2], the low word first. Raises DrawError for what is no seed."""
    words = [[word - 2**32 if word >= 2**31 else word for word in split_one_seed(seed)] for seed in seeds]
    return torch.tensor(words, dtype=torch.int32, device=device).reshape(len(words), 2)


def episode_key(seed: Tensor, episode: Tensor) -> Tensor:
    """The keys, int32 [N, 2], of episodes, int32 [N], of rows with seeds, int32 [N, 2]."""
    return torch.stack(threefry2x32(seed[:, 0], seed[:, 1], episode, EPISODE_BLOCK), dim=1)


class BatchedDraw:
    """The draws of N rows at one moment: for each row what `ScalarDraw` gives for its key and t, to the bit.

    `layout`: made before a compiler traces its use. `phase`: "reset" or "step". `key`: int32 [N, 2] from
    `episode_key`. `t`: int32 [N], steps taken before this step; at reset it is not looked at.
    All words of the phase come from one evaluation of the generator, at the first draw; every row draws, and
    a row that does not need a value discards it. `ledger`: a dict that receives, for each slot asked for,
    all its words, int64 [N, count * words of one draw]. `override`: {slot: value} returned instead of
    drawing, a number, [N] or [N, K] (or one permutation [K]); overridden slots read no words, and the ledger
    has none.

    Methods give [N] for a slot without a count and for `index=k`, [N, K] for a slot of count K without index.
    Arguments are numbers, or tensors [N] ([N, K] too where the result has that shape). Numbers are checked as
    in the scalar form; tensors are not, since that would wait for the device: `tensors.py` says what bad ones
    give. Every method raises DrawError as the scalar form does. `used` is the set of slot names asked for.
    """

    def __init__(
        self,
        layout: Layout,
        phase: str,
        key: Tensor,
        t: Tensor,
        *,
        ledger: dict[str, Tensor] | None = None,
        override: Mapping[str, Any] | None = None,
    ) -> None:
        check_handle(layout, phase, override)
        rows = key.shape[0]
        for name, tensor, shape in (("key", key, (rows, 2)), ("t", t, (rows,))):
            if tensor.dtype != torch.int32 or tensor.shape != shape:
                found = f"{tensor.dtype} {tuple(tensor.shape)}"
                wanted, where = f"int32 {shape}", f"draws at {phase}"
                raise DrawError(f"{name} has the wrong form", expected=wanted, found=found, where=where)
        self.used: set[str] = set()
        self._layout, self._phase, self._key, self._t = layout, phase, key, t
        self._ledger, self._override = ledger, override or {}
        self._lanes: tuple[Tensor, Tensor] | None = None
        self._row_words: Tensor | None = None

    def uniform(
        self, slot: str, low: Tensor | float = 0.0, high: Tensor | float = 1.0, *, index: int | None = None
    ) -> Tensor:
        """Floats in [low, high), or low itself where low == high; of the slot's dtype."""
        spec = self._slot(slot, "uniform", index)
        if isinstance(low, Tensor) or isinstance(high, Tensor):
            a, b = self._real(spec, low, "low", index), self._real(spec, high, "high", index)
            width = b - a
        else:
            a, b, width = arguments.uniform_bounds(low, high, spec)
        if spec.name in self._override:
            return self._overridden(spec, index)
        return tensors.uniform(self._words(spec, index), a, b, width, spec.dtype)

    def integers(
        self, slot: str, high: Tensor | int, *, low: Tensor | int = 0, index: int | None = None
    ) -> Tensor:
        """Integers in low..high-1: up to `2**16` of them in an int32 slot, up to `2**31` in an int64 one."""
        spec = self._slot(slot, "integers", index)
        size: Tensor | int
        if isinstance(low, Tensor) or isinstance(high, Tensor):
            low, high = self._whole(spec, low, "low", index), self._whole(spec, high, "high", index)
            size = high - low
        else:
            low, size = arguments.integer_span(low, high, spec)
        if spec.name in self._override:
            return self._overridden(spec, index)
        return tensors.integers(self._words(spec, index), low, size, tensors.DTYPES[spec.dtype])

    def bernoulli(self, slot: str, p: Tensor | float, *, index: int | None = None) -> Tensor:
        """Booleans, true with probability p."""
        spec = self._slot(slot, "bernoulli", index)
        limit = self._real(spec, p, "p", index) if isinstance(p, Tensor) else arguments.probability(p, spec)
        if spec.name in self._override:
            return self._overridden(spec, index)
        return tensors.bernoulli(self._words(spec, index), limit)

    def normal(
        self, slot: str, mean: Tensor | float = 0.0, std: Tensor | float = 1.0, *, index: int | None = None
    ) -> Tensor:
        """Floats, normally distributed, never further than 6.8 standard deviations from the mean."""
        spec = self._slot(slot, "normal", index)
        if isinstance(mean, Tensor) or isinstance(std, Tensor):
            a, b = self._real(spec, mean, "mean", index), self._real(spec, std, "std", index)
        else:
            a, b = arguments.location_scale(mean, std, spec)
        if spec.name in self._override:
            return self._overridden(spec, index)
        return tensors.normal(self._words(spec, index), a, b, tensors.DTYPES[spec.dtype])

    def choice(
        self, slot: str, weights: Tensor | Sequence[Tensor | float], *, index: int | None = None
    ) -> Tensor:
        """Indices of weights, int32, each with probability weight / total; never one of weight zero.

        `weights`: numbers, or one tensor [N, M], or M items that may each be a number or a tensor [N].
        """
        spec = self._slot(slot, "choice", index)
        parts: Sequence[Tensor | float] = weights.unbind(-1) if isinstance(weights, Tensor) else weights
        if any(isinstance(part, Tensor) for part in parts):
            parts = [self._real(spec, part, "weights", index) for part in parts]
            sums: Sequence[Tensor | float] = tensors.partial_sums(parts)
        else:
            sums = arguments.cumulative(parts, spec)
        if spec.name in self._override:
            return self._overridden(spec, index)
        return tensors.choice(self._words(spec, index), sums)

    def permutation(self, slot: str) -> Tensor:
        """0..K-1 in random order, int32 [N, K], K being the slot's count."""
        spec = self._slot(slot, "permutation", None)
        if spec.name in self._override:
            return self._overridden(spec, None)
        return tensors.permutation(self._words(spec, None)[0])

    def _slot(self, name: str, distribution: str, index: int | None) -> Slot:
        slot = self._layout.lookup(self._phase, name, distribution)
        self._layout.check_index(slot, index)
        self.used.add(name)
        return slot

    def _real(self, slot: Slot, value: Tensor | float, name: str, index: int | None) -> Tensor | float:
        """A number, or a tensor of the slot's dtype that broadcasts against the result."""
        if not isinstance(value, Tensor):
            return arguments.rounded(value, slot, name)
        return self._aligned(slot, value.to(tensors.DTYPES[slot.dtype]), index)

    def _whole(self, slot: Slot, value: Tensor | int, name: str, index: int | None) -> Tensor | int:
        """An int, or an int64 tensor that broadcasts against the result."""
        if not isinstance(value, Tensor):
            return arguments.whole(value, slot, name)
        if value.dtype.is_floating_point:
            where = f"slot {slot.name!r}"
            message = f"{name} is a tensor of floats"
            raise DrawError(message, expected="an integer dtype", found=value.dtype, where=where)
        return self._aligned(slot, value.to(torch.int64), index)

    def _aligned(self, slot: Slot, value: Tensor, index: int | None) -> Tensor:
        wide = slot.count is not None and index is None
        return value.unsqueeze(1) if wide and value.dim() == 1 else value

    def _words(self, slot: Slot, index: int | None) -> tuple[Tensor, ...]:
        """The words of a draw, [N] or [N, K] each: one tensor for one-word slots, two for two-word slots."""
        offset = self._layout.offset(slot)
        if self._ledger is not None:
            self._ledger[slot.name] = tensors.unsigned(self._all_words()[:, offset : offset + slot.words])
        if slot.count is not None and index is None:
            if slot.each == 1:
                return (self._all_words()[:, offset : offset + slot.count],)
            first, last = offset // 2, offset // 2 + slot.count
            return tuple(lane[:, first:last] for lane in self._evaluated())
        number = offset + (index or 0) * slot.each
        lanes = self._evaluated()
        if slot.each == 1:
            return (lanes[number % 2][:, number // 2],)
        return tuple(lane[:, number // 2] for lane in lanes)

    def _all_words(self) -> Tensor:
        """Every word of the phase in order, [N, words] (one more where their number is odd)."""
        if self._row_words is None:
            self._row_words = torch.stack(self._evaluated(), dim=2).flatten(1)
        return self._row_words

    def _evaluated(self) -> tuple[Tensor, Tensor]:
        """First and second words of every block of the phase, [N, blocks] each."""
        if self._lanes is None:
            at_reset = self._phase == "reset"
            start = RESET_BLOCKS - 2**32 if at_reset else 0
            stop = start + self._layout.blocks(self._phase)
            block = torch.arange(start, stop, dtype=torch.int32, device=self._key.device)
            key = self._key.unsqueeze(2)
            self._lanes = threefry2x32(key[:, 0], key[:, 1], 0 if at_reset else self._t.unsqueeze(1), block)
        return self._lanes

    def _overridden(self, slot: Slot, index: int | None) -> Tensor:
        # With the dtype given at once: a list of Python floats would otherwise pass through float32.
        kind = tensors.DTYPES[slot.result]
        chosen = torch.as_tensor(self._override[slot.name], dtype=kind, device=self._key.device)
        rows, wide = self._key.shape[0], slot.count is not None and index is None
        if chosen.dim() == 2 and index is not None:
            chosen = chosen[:, index]
        if wide and slot.count is not None:
            if chosen.dim() == 1 and slot.distribution != "permutation":  # one permutation may serve all rows
                chosen = chosen.unsqueeze(1)
            return chosen.expand(rows, slot.count)
        return chosen.expand(rows)
