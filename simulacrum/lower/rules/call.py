"""One operation of the graph as the rules see it, and the table that the rules are in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from simulacrum.errors import LoweringError
from simulacrum.lower.program import Builder, Scalar
from simulacrum.lower.tensors import ROW, Length, Place, Tensor, broadcast
from simulacrum.lower.types import C_NAMES

Rule = Callable[["Call"], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a function into the table, under the names of ATen operations without their overloads."""

    def enter(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return enter


class Call:
    """An operation with its arguments by the names of ATen's schema (`call["self"]`, `call["dim"]`).

    `shape` and `dtype` are those of its result; of an operation with several results, those of the first.
    """

    def __init__(self, b: Builder, name: str, given: Mapping[str, Any], meta: Any) -> None:
        self.b, self.name, self.given = b, name, given
        self.metas: list[Any] = list(meta) if isinstance(meta, (list, tuple)) else [meta]
        for one in self.metas:
            if one.dtype not in C_NAMES:
                raise self.refuse(f"values of {one.dtype}", f"one of {', '.join(map(str, C_NAMES))}")
        self.shape, self.dtype = shape_of(self.metas[0]), self.metas[0].dtype

    def __getitem__(self, name: str) -> Any:
        value = self.given[name]
        for one in value if isinstance(value, list) else [value]:
            # Python's arithmetic on it would take the number of rows of the capture for that of every batch.
            if isinstance(one, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                raise self.refuse("a value that depends on the number of rows", "compute a row from that row alone")
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """An argument that some overloads have; `default` where it is not given or None."""
        return default if self.given.get(name) is None else self[name]

    def refuse(self, what: str, instead: str | None = None) -> LoweringError:
        """The error for a case that no rule covers."""
        return LoweringError(f"{self.name}: {what}", next_step=instead)

    # --- operands -----------------------------------------------------------------------------------------------------

    def operand(self, value: Any, dtype: torch.dtype) -> Tensor:
        """A tensor or a number as a tensor of `dtype`; a number wraps, as one beside a tensor of that type does."""
        if not isinstance(value, Tensor):
            return Tensor((), dtype, lambda _: self.b.const(value, dtype))
        if value.dtype == dtype:
            return value
        return Tensor(value.shape, dtype, lambda place: self.b.op("cast", dtype, value.at(place)))

    def held(self, value: Any, dtype: torch.dtype) -> Any:
        """`value`, for operations that convert a number to `dtype` and do not wrap it. Refused as torch refuses it."""
        if not isinstance(value, Tensor):
            try:
                torch.full((), value, dtype=dtype)
            except (RuntimeError, OverflowError):
                raise self.refuse(f"{dtype} has no {value}", "a number of that type, or a wider type") from None
        return value

    def common(self, *values: Any) -> torch.dtype:
        """The dtype that torch computes in for these operands."""
        stand_ins = [value.meta if isinstance(value, Tensor) else value for value in values if value is not None]
        dtype: torch.dtype = torch.result_type(stand_ins[0], stand_ins[-1])
        for one in stand_ins[1:-1]:
            dtype = torch.promote_types(dtype, torch.result_type(stand_ins[0], one))
        return dtype

    def elementwise(self, function: Callable[..., Scalar], dtype: torch.dtype, *operands: Any) -> Tensor:
        """`function` of the operands' scalars at each place, the operands taken as `dtype` and stretched."""
        tensors = [self.operand(value, dtype) for value in operands]
        return self.new(lambda place: function(*(broadcast(tensor, place) for tensor in tensors)))

    def new(self, element: Callable[[Place], Scalar]) -> Tensor:
        """A tensor of this operation's shape and dtype."""
        return Tensor(self.shape, self.dtype, element)

    # --- dimensions ---------------------------------------------------------------------------------------------------

    def inner(self, tensor: Tensor, dim: int) -> tuple[int, int]:
        """`dim` counted from the front, and its length; the batch's dimension is refused."""
        dim = dim + tensor.rank if dim < 0 else dim
        length = tensor.shape[dim]
        if not isinstance(length, int):
            raise self.refuse("goes over the rows of the batch", "name a dimension of items: dim=-1, or dim=1")
        return dim, length

    def all_dims(self, tensor: Tensor, dims: int | Sequence[int] | None) -> list[int]:
        """The dimensions that a reduction names, each checked by `inner`; None and [] mean all of them."""
        named = [dims] if isinstance(dims, int) else list(dims or range(tensor.rank))
        return sorted(self.inner(tensor, dim)[0] for dim in named)


def shape_of(meta: Any) -> tuple[Length, ...]:
    """The shape of a stand-in tensor; the batch's symbol becomes ROW. `LoweringError` for pairs of rows."""
    shape = tuple(length_of(length) for length in meta.shape)
    if shape.count(ROW) > 1:
        raise LoweringError("pairs every row with every row", next_step="compute a row from that row alone")
    return shape


def length_of(length: Any) -> Length:
    """A length as a number, or ROW for the batch's. `LoweringError` for what is computed from the batch's."""
    if isinstance(length, int):
        return length
    if isinstance(length, torch.SymInt) and length.node.expr.is_Symbol:
        return ROW
    raise LoweringError(
        f"a dimension has the length {length}, where N is the number of rows",
        next_step="keep the batch a dimension of its own: x.flatten(1), not x.flatten()",
    )
