"""Elements at computed places: gather, index, scatter, one_hot. A place outside is a fault of the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from simulacrum.lower.program import Index, Scalar
from simulacrum.lower.rules.call import Call, rule
from simulacrum.lower.rules.items import accumulate
from simulacrum.lower.tensors import ROW, Place, Tensor, broadcast, broadcast_shape, known
from simulacrum.lower.types import INDEX


def _within(c: Call, index: Scalar, length: int, *, negative: bool) -> Index:
    """`index` as a place 0..length-1. Negative ones count from the end where `negative`; others are faults."""
    index = index if index.dtype == INDEX else c.b.op("cast", INDEX, index)
    if index.constant:
        place = index.data + length if negative and index.data < 0 else index.data
        if not 0 <= place < length:
            raise c.refuse(f"the constant index {index.data} is outside a dimension of length {length}")
        return place
    low, high = c.b.index(-length if negative else 0), c.b.index(length - 1)
    too_low, too_high = c.b.op("lt", torch.bool, index, low), c.b.op("gt", torch.bool, index, high)
    c.b.fault(c.b.op("or", torch.bool, too_low, too_high))
    if negative:
        from_end = c.b.op("add", INDEX, index, c.b.index(length))
        index = c.b.op("select", INDEX, c.b.op("lt", torch.bool, index, c.b.index(0)), from_end, index)
    # A faulty row is refused before it is stepped, but its memory accesses must stay inside all the same.
    index = c.b.op("at_least", INDEX, index, c.b.index(0))
    return known(c.b, c.b.op("at_most", INDEX, index, high))


@rule("gather", "take_along_dim")
def gather(c: Call) -> Tensor:
    """The element at the index's place along `dim`. A negative index is outside. Refused: without `dim`."""
    x: Tensor = c["self"]
    index: Tensor = c.get("index", c.get("indices"))
    if c.get("dim") is None:
        raise c.refuse("over all elements, the rows among them", "name a dimension of items: dim=-1")
    dim, length = c.inner(x, c["dim"])

    def element(place: Place) -> Scalar:
        here = _within(c, broadcast(index, place), length, negative=False)
        own = (*place[:dim], here, *place[dim + 1 :])
        return x.at([0 if n == 1 and at != dim else one for at, (n, one) in enumerate(zip(x.shape, own, strict=True))])

    return c.new(element)


@rule("index_select")
def index_select(c: Call) -> Tensor:
    """At each place along `dim`, the element that `index`, of rank 1 or 0, names there."""
    x: Tensor = c["self"]
    index: Tensor = c["index"]
    dim, length = c.inner(x, c["dim"])

    def element(place: Place) -> Scalar:
        here = _within(c, index.at((place[dim],) if index.rank else ()), length, negative=False)
        return x.at((*place[:dim], here, *place[dim + 1 :]))

    return c.new(element)


@rule("index")
def index(c: Call) -> Tensor:
    """`x[i, :, j]` with tensors of integers; `x[torch.arange(N), j]` reads each row's own."""
    x: Tensor = c["self"]
    given: Sequence[Tensor | None] = c["indices"]
    tensors = [one for one in given if one is not None]
    if any(one.dtype == torch.bool for one in tensors):
        raise c.refuse("a boolean index, whose result has a shape that depends on data", "torch.where(mask, new, old)")
    shape = broadcast_shape(*tensors)
    dims = [dim for dim, one in enumerate(given) if one is not None]
    together = dims == list(range(dims[0], dims[0] + len(dims)))
    start = dims[0] if together else 0  # where the indices' own dimensions stand in the result

    def element(place: Place) -> Scalar:
        named = place[start : start + len(shape)]
        rest = iter(place[:start] + place[start + len(shape) :])
        own: list[Any] = []
        for dim, length in enumerate(x.shape):
            one = given[dim] if dim < len(given) else None
            if one is None:
                own.append(next(rest))
            elif isinstance(length, int):
                own.append(_within(c, broadcast(one, named), length, negative=True))
            else:
                own.append(_own_row(c, broadcast(one, named)))
        return x.at(own)

    return c.new(element)


def _own_row(c: Call, index: Scalar) -> Any:
    while index.op == "cast":
        index = index.args[0]
    if index.op != "row":
        raise c.refuse("reads other rows of the batch", "index the batch with torch.arange(N) alone, or use gather")
    return ROW


@rule("scatter", "scatter_add")
def scatter(c: Call) -> Tensor:
    """The last of several writes to one place wins, as on torch's CPU; `scatter_add` adds integers in order."""
    x: Tensor = c["self"]
    index: Tensor = c["index"]
    source = c.operand(c.held(c.get("src", c.get("value", 0)), c.dtype), c.dtype)
    dim, length = c.inner(x, c["dim"])
    if c.get("reduce") or (c.name == "scatter_add" and c.dtype.is_floating_point):
        raise c.refuse("a scatter that combines floats", "write the sum out in order")
    if any(a != b for at, (a, b) in enumerate(zip(index.shape, x.shape, strict=True)) if at != dim):
        raise c.refuse("an index smaller than the tensor it writes to", "expand the index first")
    # A tensor of pairs would need two walks; places along `dim` are counted instead, and looked up at each.
    numbers = Tensor(index.shape, INDEX, lambda place: c.b.index(place[dim]))

    def element(place: Place) -> Scalar:
        target = c.b.index(place[dim])

        def step(value: Scalar, number: Scalar) -> Scalar:
            at = (*place[:dim], known(c.b, number), *place[dim + 1 :])
            here = c.b.index(_within(c, index.at(at), length, negative=False))
            new = broadcast(source, at)
            if c.name == "scatter_add":
                new = c.b.op("add", c.dtype, value, new)
            return c.b.op("select", c.dtype, c.b.op("eq", torch.bool, here, target), new, value)

        line = (*place[:dim], *place[dim + 1 :])
        return accumulate(c, numbers, [dim], line, x.at(place), step, known=[target])

    return c.new(element)


@rule("one_hot")
def one_hot(c: Call) -> Tensor:
    """int64 `[..., num_classes]`, 1 where x says and 0 elsewhere. Refused: without `num_classes`."""
    x: Tensor = c["self"]
    classes = c.get("num_classes", -1)
    if classes < 0:
        raise c.refuse("one_hot without num_classes, whose shape depends on data", "give num_classes=")

    def element(place: Place) -> Scalar:
        here = c.b.index(_within(c, x.at(place[:-1]), classes, negative=False))
        return c.b.op("cast", c.dtype, c.b.op("eq", torch.bool, here, c.b.index(place[-1])))

    return c.new(element)
