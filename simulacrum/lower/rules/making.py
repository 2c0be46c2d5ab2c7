"""Tensors from nothing: constants, ranges, and copies that change nothing."""

from __future__ import annotations

import torch

from simulacrum.lower.program import Scalar
from simulacrum.lower.rules.call import Call, rule
from simulacrum.lower.tensors import ROW, Place, Tensor, plus, times
from simulacrum.lower.types import is_float


@rule("zeros", "zeros_like", "new_zeros")
def zeros(c: Call) -> Tensor:
    return c.new(lambda _: c.b.const(0, c.dtype))


@rule("ones", "ones_like", "new_ones")
def ones(c: Call) -> Tensor:
    return c.new(lambda _: c.b.const(1, c.dtype))


@rule("full", "full_like", "new_full", "scalar_tensor", "fill")
def full(c: Call) -> Tensor:
    """One value everywhere, a number or a tensor of rank 0, as the result's dtype."""
    value = next(c[name] for name in ("fill_value", "value", "s") if name in c.given)
    filled = c.operand(c.held(value, c.dtype), c.dtype)
    return c.new(lambda _: filled.at(()))


@rule("arange")
def arange(c: Call) -> Tensor:
    """start + i * step; along the batch, the row's number. Refused: floats, and other ranges over the batch."""
    start, step = c.get("start", 0), c.get("step", 1)
    if c.shape[0] is ROW:
        if (start, step) != (0, 1):
            raise c.refuse("a range over the rows that is not 0, 1, 2, ...")
        return c.new(lambda _: c.b.op("row", c.dtype))
    if is_float(c.dtype) or not (isinstance(start, int) and isinstance(step, int)):
        raise c.refuse("a range of floats", "torch.arange(n) * step on integers, or a torch.tensor of the numbers")

    def element(place: Place) -> Scalar:
        value = plus(c.b, times(c.b, place[0], step), start)
        return c.b.op("cast", c.dtype, c.b.index(value))

    return c.new(element)


@rule("eye")
def eye(c: Call) -> Tensor:
    """1 where row and column have one number, else 0. Refused: where the rows are those of the batch."""
    if ROW in c.shape:
        raise c.refuse("goes over the rows of the batch", "torch.arange(N)[:, None] == torch.arange(n)")

    def element(place: Place) -> Scalar:
        row, column = map(c.b.index, place)
        return c.b.op("cast", c.dtype, c.b.op("eq", torch.bool, row, column))

    return c.new(element)


@rule("clone", "contiguous", "detach", "alias", "lift_fresh_copy", "detach_", "lift_fresh", "_assert_tensor_metadata")
def unchanged(c: Call) -> Tensor:
    return c["self"]
