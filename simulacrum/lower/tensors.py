"""A node of the graph as a function from a place to a scalar.

A `Tensor` here holds no numbers: `at(place)` gives the scalar at one place, and makes it when it is asked for the first
time. Views are then arithmetic on places, elementwise operations ask their operands at the same place, and what
nobody asks for is never made. A place has one entry a dimension: a number, a scalar (the counter of a loop, a computed
index), or `ROW` along the dimension that the rows of the batch lie in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from simulacrum.errors import LoweringError
from simulacrum.lower.program import Block, Builder, Index, Scalar
from simulacrum.lower.types import INDEX


class _Row:
    """The one place along the batch that a row may look at: its own."""

    def __repr__(self) -> str:
        return "ROW"


ROW = _Row()
LARGE = 128  # elements a row: what is larger is computed in loops
Length = int | _Row  # of a dimension: a number, or ROW for the batch
Place = tuple[Any, ...]  # of Index | _Row


class Tensor:
    """`shape` (a `Length` a dimension), `dtype`, and the scalar at each place."""

    def __init__(self, shape: Sequence[Length], dtype: torch.dtype, element: Callable[[Place], Scalar]) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.element = element
        # Of a join: the dimension, and where along it each part begins.
        self.parts: tuple[int, list[tuple[int, Tensor]]] | None = None
        self.meta: Any = None  # torch's stand-in for the node, by which dtypes are promoted
        self._made: dict[Place, Scalar] = {}

    def at(self, place: Sequence[Any]) -> Scalar:
        """The scalar at `place`."""
        place = tuple(place)
        if place not in self._made:
            self._made[place] = self.element(place)
        return self._made[place]

    @property
    def rank(self) -> int:
        """The number of dimensions, the batch's included."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements a row."""
        return count(self.shape)


def count(shape: Sequence[Length]) -> int:
    """The number of elements a row, the batch's dimension left out."""
    size = 1
    for length in shape:
        size *= length if isinstance(length, int) else 1
    return size


def places(shape: Sequence[Length]) -> list[Place]:
    """Every place of a small shape, in row-major order."""
    every: list[Place] = [()]
    for length in shape:
        along: Sequence[Any] = range(length) if isinstance(length, int) else (ROW,)
        every = [(*place, here) for place in every for here in along]
    return every


def demand(tensor: Tensor) -> None:
    """Make the scalars of a small tensor."""
    for place in places(tensor.shape):
        tensor.at(place)


def broadcast(tensor: Tensor, place: Place) -> Scalar:
    """The scalar that stands at `place` when `tensor` is stretched to a shape with that place."""
    own = place[len(place) - tensor.rank :]
    return tensor.at([0 if length == 1 else here for length, here in zip(tensor.shape, own, strict=True)])


def broadcast_shape(*tensors: Tensor) -> tuple[Length, ...]:
    """The shape that the shapes of `tensors` stretch to. A batch beside length 1 is a batch."""
    rank = max((tensor.rank for tensor in tensors), default=0)
    shape: list[Length] = []
    for dim in range(-rank, 0):
        lengths = [tensor.shape[dim] for tensor in tensors if tensor.rank >= -dim]
        wide = [length for length in lengths if length != 1]
        if any(isinstance(length, _Row) for length in wide) and any(isinstance(length, int) for length in wide):
            raise LoweringError("the batch is stretched against a dimension of fixed length")
        shape.append(wide[0] if wide else 1)
    return tuple(shape)


# --- arithmetic on places: numbers stay numbers, scalars become int64 operations ------------------------------------


def plus(b: Builder, left: Index, right: Index) -> Index:
    """left + right."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if right == 0:
        return left
    return right if left == 0 else b.op("add", INDEX, b.index(left), b.index(right))


def times(b: Builder, left: Index, factor: int) -> Index:
    """left * factor."""
    if isinstance(left, int):
        return left * factor
    return left if factor == 1 else b.op("mul", INDEX, left, b.index(factor))


def flat(b: Builder, shape: Sequence[Length], place: Place) -> Index:
    """The place in row-major order among the elements of one row."""
    total: Index = 0
    for length, here in zip(shape, place, strict=True):
        if isinstance(length, int):
            total = plus(b, times(b, total, length), 0 if length == 1 else here)
    return total


def unflat(b: Builder, shape: Sequence[Length], total: Index) -> Place:
    """The inverse of `flat`; ROW along the batch."""
    place: list[Any] = []
    stride = count(shape)
    for length in shape:
        if not isinstance(length, int):
            place.append(ROW)
            continue
        stride //= max(length, 1)
        if isinstance(total, int):
            place.append(total // stride % length)
        else:
            here = total if stride == 1 else b.op("div_trunc", INDEX, total, b.index(stride))
            outer = count(shape) // stride == length  # the first: no remainder to take
            place.append(here if outer else b.op("rem_trunc", INDEX, here, b.index(length)))
    return tuple(place)


def known(b: Builder, index: Scalar) -> Index:
    """A computed index as a number where it is one."""
    return int(index.data) if index.constant else index


def materialise(b: Builder, tensor: Tensor) -> Tensor:
    """`tensor` with its elements computed once into an array of the row."""
    array = b.array(tensor.dtype, tensor.size)
    walk(b, tensor, lambda place, value: b.put(array, flat(b, tensor.shape, place), value), b.root)
    return stored(b, array, tensor.shape)


def walk(b: Builder, tensor: Tensor, visit: Callable[[Place, Scalar], object], parent: Block) -> None:
    """`visit` every place of a tensor and its scalar: what is large in loops, whose counters stand in the place.

    A join is walked part by part: in a loop over the whole, each element would compute all parts and choose.
    """
    if tensor.parts is not None:
        dim, parts = tensor.parts
        for start, part in parts:

            def moved(place: Place, value: Scalar, start: int = start) -> None:
                visit((*place[:dim], plus(b, place[dim], start), *place[dim + 1 :]), value)

            walk(b, part, moved, parent)
    elif tensor.size <= LARGE:
        for place in places(tensor.shape):
            visit(place, tensor.at(place))
    else:
        _in_loops(b, tensor, visit, (), parent)


def _in_loops(
    b: Builder, tensor: Tensor, visit: Callable[[Place, Scalar], object], place: Place, parent: Block
) -> None:
    if len(place) == tensor.rank:
        visit(place, tensor.at(place))
        return
    length = tensor.shape[len(place)]
    if not isinstance(length, int) or length == 1:
        _in_loops(b, tensor, visit, (*place, 0 if length == 1 else ROW), parent)
        return
    with b.loop(length, parent) as counter:
        _in_loops(b, tensor, visit, (*place, counter), counter.block)


def stored(b: Builder, array: Any, shape: Sequence[Length]) -> Tensor:
    """The tensor whose elements lie in `array` (an `Array`, a `Port` or a `Table`) in row-major order."""
    return Tensor(shape, array.dtype, lambda place: b.load(array, b.index(flat(b, shape, place))))
