"""Choosing between values: where, masked_fill."""

from __future__ import annotations

import torch

from simulacrum.lower.program import Scalar
from simulacrum.lower.rules.call import Call, rule
from simulacrum.lower.tensors import Tensor, broadcast


@rule("where")
def where(c: Call) -> Tensor:
    """One of two at each place, in the promoted dtype; a uint8 condition holds where it is not 0."""
    condition = c.operand(c["condition"], torch.bool)
    yes, no = (c.operand(c.held(c[name], c.dtype), c.dtype) for name in ("self", "other"))
    return c.new(lambda place: _choose(c, condition, yes, no, place))


@rule("masked_fill")
def masked_fill(c: Call) -> Tensor:
    """`value`, a number or a tensor of rank 0, where the mask is true; the dtype stays."""
    mask, value, old = c["mask"], c.operand(c.held(c["value"], c.dtype), c.dtype), c["self"]
    return c.new(lambda place: _choose(c, mask, value, old, place))


def _choose(c: Call, condition: Tensor, yes: Tensor, no: Tensor, place: tuple[object, ...]) -> Scalar:
    decided = broadcast(condition, place)
    if decided.constant:  # the other branch is not even made
        return broadcast(yes if decided.data else no, place)
    return c.b.op("select", c.dtype, decided, broadcast(yes, place), broadcast(no, place))
