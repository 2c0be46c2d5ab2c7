"""Views: another place, the same scalar. And joins: one of several tensors, by the place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from simulacrum.lower.program import Index, Scalar
from simulacrum.lower.rules.call import Call, length_of, rule
from simulacrum.lower.tensors import ROW, Length, Place, Tensor, broadcast, count, flat, plus, times, unflat
from simulacrum.lower.types import INDEX


@rule("view", "reshape", "_unsafe_view", "flatten", "unflatten", "view_as", "reshape_as")
def reshape(c: Call) -> Tensor:
    """The same elements in row-major order; `view(dtype)` is `reinterpret`. Refused: what moves them between rows."""
    x: Tensor = c["self"]
    if "dtype" in c.given:
        from simulacrum.lower.rules.elementwise import reinterpret

        return reinterpret(c)
    _keeps_rows(c, x.shape, c.shape)
    return c.new(lambda place: x.at(unflat(c.b, x.shape, flat(c.b, c.shape, place))))


def _keeps_rows(c: Call, old: Sequence[Length], new: Sequence[Length]) -> None:
    """Refuse a reshape that moves elements between rows: the same number must stand before the batch's dimension."""
    before = [count(shape[: shape.index(ROW)]) if ROW in shape else None for shape in (old, new)]
    if before[0] != before[1]:
        raise c.refuse("mixes the rows of the batch", "permute the batch's dimension to the front, then reshape")


@rule("unsqueeze")
def unsqueeze(c: Call) -> Tensor:
    """A dimension of length 1 at `dim`, counted in the result."""
    x: Tensor = c["self"]
    dim = c["dim"] % (x.rank + 1)
    return c.new(lambda place: x.at(place[:dim] + place[dim + 1 :]))


@rule("squeeze")
def squeeze(c: Call) -> Tensor:
    """Without the dimensions of length 1, of all or of those that `dim` names; the batch's is never one."""
    x: Tensor = c["self"]
    named = c.get("dim", range(x.rank))
    dims = {dim % x.rank for dim in ([named] if isinstance(named, int) else named)}
    gone = {dim for dim in dims if x.shape[dim] == 1}

    def element(place: Place) -> Scalar:
        rest = iter(place)
        return x.at([0 if dim in gone else next(rest) for dim in range(x.rank)])

    return c.new(element)


@rule("expand", "expand_as", "broadcast_to")
def expand(c: Call) -> Tensor:
    """Stretched to the result's shape: dimensions of length 1, and new ones in front."""
    x: Tensor = c["self"]
    lead = len(c.shape) - x.rank
    return c.new(lambda place: x.at([0 if n == 1 else here for n, here in zip(x.shape, place[lead:], strict=True)]))


@rule("broadcast_tensors")
def broadcast_tensors(c: Call) -> list[Tensor]:
    """Each of `tensors` stretched to the shape of all, with its own dtype."""

    def stretched(part: Tensor) -> Tensor:
        return Tensor(c.shape, part.dtype, lambda place: broadcast(part, place))

    return [stretched(part) for part in c["tensors"]]


@rule("permute", "transpose", "t", "movedim", "swapaxes", "numpy_T", "mT")
def permute(c: Call) -> Tensor:
    """The dimensions in another order, the batch's among them; a transpose of rank 0 or 1 is the operand."""
    x: Tensor = c["self"]
    order = list(range(x.rank))
    if "dims" in c.given:
        order = [dim % x.rank for dim in c["dims"]]
    elif c.name == "numpy_T":
        order.reverse()
    elif c.name == "movedim":
        order = _moved(x.rank, c["source"], c["destination"])
    else:
        if x.rank < 2:  # t() of a vector
            return x
        first, second = (c.get(name, default) for name, default in (("dim0", -2), ("dim1", -1)))
        if "axis0" in c.given:
            first, second = c["axis0"], c["axis1"]
        order[first], order[second] = order[second], order[first]
    back = [order.index(dim) for dim in range(x.rank)]
    return c.new(lambda place: x.at([place[dim] for dim in back]))


def _moved(rank: int, source: int | Sequence[int], destination: int | Sequence[int]) -> list[int]:
    sources = [dim % rank for dim in ([source] if isinstance(source, int) else source)]
    targets = [dim % rank for dim in ([destination] if isinstance(destination, int) else destination)]
    rest = iter(dim for dim in range(rank) if dim not in sources)
    at = dict(zip(targets, sources, strict=True))
    return [at[dim] if dim in at else next(rest) for dim in range(rank)]


@rule("select")
def select(c: Call) -> Tensor:
    """The elements at `index` along `dim`, from the end where it is negative."""
    x: Tensor = c["self"]
    dim, length = c.inner(x, c["dim"])
    index = c["index"] % length
    return c.new(lambda place: x.at((*place[:dim], index, *place[dim:])))


@rule("slice", "narrow")
def slice_(c: Call) -> Tensor:
    """Every `step`-th place along `dim` from `start`. Refused: a part of the batch."""
    x: Tensor = c["self"]
    dim = c.get("dim", 0) % x.rank
    if x.shape[dim] is ROW:
        if c.get("start", 0) == 0 and c.shape[dim] is ROW and c.get("step", 1) == 1:
            return x  # x[:, 0] slices the batch as a whole
        raise c.refuse("takes some rows of the batch", "keep all rows, and choose with torch.where")
    _, length = c.inner(x, dim)
    start, step = c.get("start", 0), c.get("step", 1)
    start = min(max(start + length if start < 0 else start, 0), length)
    return c.new(lambda place: x.at(_put(place, dim, plus(c.b, times(c.b, place[dim], step), start))))


@rule("split", "split_with_sizes", "chunk", "unsafe_split", "unsafe_chunk", "tensor_split")
def split(c: Call) -> list[Tensor]:
    """The parts along `dim`, of the lengths that the graph says, whichever way they were asked for."""
    x: Tensor = c["self"]
    dim, _ = c.inner(x, c.get("dim", 0))
    parts: list[Tensor] = []
    start = 0
    for meta in c.metas:
        shape = [length_of(length) for length in meta.shape]

        def element(place: Place, start: int = start) -> Scalar:
            return x.at(_put(place, dim, plus(c.b, place[dim], start)))

        parts.append(Tensor(shape, x.dtype, element))
        start += meta.shape[dim]
    return parts


@rule("unbind")
def unbind(c: Call) -> list[Tensor]:
    """A tensor for each place along `dim`."""
    x: Tensor = c["self"]
    dim, length = c.inner(x, c.get("dim", 0))

    def part(number: int) -> Tensor:
        return Tensor(c.shape, x.dtype, lambda place: x.at((*place[:dim], number, *place[dim:])))

    return [part(number) for number in range(length)]


@rule("flip")
def flip(c: Call) -> Tensor:
    """The other way round along each of `dims`."""
    x: Tensor = c["self"]
    dims = dict(c.inner(x, dim) for dim in c["dims"])

    def element(place: Place) -> Scalar:
        return x.at(
            [
                plus(c.b, times(c.b, here, -1), dims[dim] - 1) if dim in dims else here
                for dim, here in enumerate(place)
            ]
        )

    return c.new(element)


@rule("roll")
def roll(c: Call) -> Tensor:
    """Moved by `shifts` along `dims`; what leaves at one end comes in at the other. Refused: without `dims`."""
    x: Tensor = c["self"]
    if not c.get("dims"):
        raise c.refuse("rolls all elements, the rows among them", "name the dimensions: dims=(1,)")
    shifts = [(*c.inner(x, dim), shift) for dim, shift in zip(c["dims"], c["shifts"], strict=True)]

    def element(place: Place) -> Scalar:
        moved = list(place)
        for dim, length, shift in shifts:
            here = plus(c.b, moved[dim], -shift % length)
            moved[dim] = here % length if isinstance(here, int) else _modulo(c, here, length)
        return x.at(moved)

    return c.new(element)


def _modulo(c: Call, index: Scalar, length: int) -> Index:
    return c.b.op("rem_trunc", INDEX, index, c.b.index(length))


@rule("repeat", "tile")
def repeat(c: Call) -> Tensor:
    """The elements over again along each dimension; new dimensions stand in front."""
    x: Tensor = c["self"]
    lead = len(c.shape) - x.rank

    def element(place: Place) -> Scalar:
        own: list[Any] = []
        for length, here in zip(x.shape, place[lead:], strict=True):
            if length == 1 or not isinstance(length, int):
                own.append(0 if length == 1 else here)
            else:
                own.append(here % length if isinstance(here, int) else _modulo(c, here, length))
        return x.at(own)

    return c.new(element)


@rule("cat", "concat", "concatenate")
def cat(c: Call) -> Tensor:
    """`tensors` one after the other along `dim`, in the promoted dtype; empty ones, of rank 1 too, are left out."""
    dim = c.get("dim", 0) % len(c.shape)
    parts = [c.operand(part, c.dtype) for part in c["tensors"] if part.shape != (0,) and c.inner(part, dim)[1] > 0]
    lengths = [c.inner(part, dim)[1] for part in parts]
    starts = [sum(lengths[:number]) for number in range(len(parts))]
    made = c.new(
        lambda place: pick(c, place[dim], starts, lambda part, here: parts[part].at(_put(place, dim, here)), lengths)
    )
    made.parts = (dim, list(zip(starts, parts, strict=True)))
    return made


@rule("stack")
def stack(c: Call) -> Tensor:
    """`tensors` along a new dimension `dim`, in the promoted dtype."""
    parts: list[Tensor] = [c.operand(part, c.dtype) for part in c["tensors"]]
    dim = c.get("dim", 0) % len(c.shape)
    starts = list(range(len(parts)))
    made = c.new(
        lambda place: pick(c, place[dim], starts, lambda part, _: parts[part].at(place[:dim] + place[dim + 1 :]), None)
    )
    made.parts = (dim, [(number, _layer(part, dim)) for number, part in enumerate(parts)])
    return made


def _layer(part: Tensor, dim: int) -> Tensor:
    """A part of a stack with the dimension of length 1 that it lies along."""
    shape = (*part.shape[:dim], 1, *part.shape[dim:])
    return Tensor(shape, part.dtype, lambda place: part.at(place[:dim] + place[dim + 1 :]))


def pick(
    c: Call, here: Index, starts: Sequence[int], part: Callable[[int, Index], Scalar], lengths: Sequence[int] | None
) -> Scalar:
    """The scalar of the part in which `here` lies; a chain of choices where `here` is computed."""
    if isinstance(here, int):
        number = max(number for number, start in enumerate(starts) if start <= here)
        return part(number, here - starts[number])
    last = len(starts) - 1
    value = part(last, _inside(c, here, starts[last], lengths, last))
    for number in range(last - 1, -1, -1):
        before = c.b.op("lt", torch.bool, here, c.b.index(starts[number + 1]))
        one = part(number, _inside(c, here, starts[number], lengths, number))
        value = c.b.op("select", c.dtype, before, one, value)
    return value


def _inside(c: Call, here: Scalar, start: int, lengths: Sequence[int] | None, number: int) -> Index:
    """The place in a part, kept inside it where the part is not the one that is chosen."""
    if lengths is None:
        return 0
    moved = c.b.index(plus(c.b, here, -start))
    moved = c.b.op("at_least", INDEX, moved, c.b.index(0))
    return c.b.op("at_most", INDEX, moved, c.b.index(lengths[number] - 1))


@rule("constant_pad_nd", "pad")
def pad(c: Call) -> Tensor:
    """`value` around x; `pad` is (before, after), last dimension first, negative to cut.

    Refused: other modes, and what moves the rows of the batch.
    """
    x: Tensor = c["self"]
    if c.get("mode", "constant") != "constant":
        raise c.refuse("a padding that is not constant", "join the parts with torch.cat")
    value = c.operand(c.held(c.get("value", 0), c.dtype), c.dtype)
    widths = list(c["pad"])
    before = [0] * x.rank
    for number in range(len(widths) // 2):
        before[x.rank - 1 - number] = widths[2 * number]
        if widths[2 * number] or widths[2 * number + 1]:
            c.inner(x, x.rank - 1 - number)

    def element(place: Place) -> Scalar:
        own, inside = list(place), c.b.const(True, torch.bool)
        for dim, length in enumerate(x.shape):
            if not isinstance(length, int) or (before[dim] == 0 and length == c.shape[dim]):
                continue
            moved = plus(c.b, place[dim], -before[dim])
            if isinstance(moved, int):
                if not 0 <= moved < length:
                    return value.at(())
                own[dim] = moved
                continue
            above = c.b.op("ge", torch.bool, moved, c.b.index(0))
            below = c.b.op("lt", torch.bool, moved, c.b.index(length))
            inside = c.b.op("and", torch.bool, inside, c.b.op("and", torch.bool, above, below))
            floor = c.b.op("at_least", INDEX, moved, c.b.index(0))
            own[dim] = c.b.op("at_most", INDEX, floor, c.b.index(length - 1))
        if inside.constant:
            return x.at(own)
        return c.b.op("select", c.dtype, inside, x.at(own), value.at(()))

    return c.new(element)


@rule("triu", "tril")
def triangle(c: Call) -> Tensor:
    """x on and above (`triu`) or on and below (`tril`) a diagonal of the last two dimensions, else 0."""
    x: Tensor = c["self"]
    diagonal, zero = c.get("diagonal", 0), c.b.const(0, c.dtype)
    op = "ge" if c.name == "triu" else "le"
    for dim in (-2, -1):
        c.inner(x, dim)

    def element(place: Place) -> Scalar:
        row, column = c.b.index(plus(c.b, place[-2], diagonal)), c.b.index(place[-1])
        return c.b.op("select", c.dtype, c.b.op(op, torch.bool, column, row), x.at(place), zero)

    return c.new(element)


def _put(place: Place, dim: int, here: Index) -> Place:
    return (*place[:dim], here, *place[dim + 1 :])
