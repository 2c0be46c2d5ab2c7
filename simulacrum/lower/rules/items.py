"""Over the items of a row: sums in order, any and all, extremes and their places, running sums, sorting."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Sequence
from typing import Any

import torch

from simulacrum.lower.program import Block, Index, Scalar
from simulacrum.lower.rules.call import Call, rule
from simulacrum.lower.rules.elementwise import larger, smaller
from simulacrum.lower.tensors import ROW, Place, Tensor, count, flat, stored
from simulacrum.lower.types import INDEX, is_float

UNROLLED = 64  # items that are written out one by one; beyond, they are a loop

Step = Callable[[Scalar, Scalar], Scalar]


def _spread(x: Tensor, dims: Sequence[int], place: Place) -> Callable[[Sequence[Index]], Place]:
    """From places along the reduced dimensions to places in `x`; `place` is the result's, with or without them."""
    kept = len(place) == x.rank
    rest = [here for dim, here in enumerate(place) if not kept or dim not in dims]

    def full(along: Sequence[Index]) -> Place:
        others, inner = iter(rest), iter(along)
        return tuple(next(inner) if dim in dims else next(others) for dim in range(x.rank))

    return full


def _deepest(c: Call, place: Sequence[Any]) -> Block:
    """The block in which every computed part of `place` is known."""
    blocks = [here.block for here in place if isinstance(here, Scalar)]
    return max(blocks, key=lambda block: block.depth, default=c.b.root)


@contextlib.contextmanager
def _loops(c: Call, lengths: Sequence[int], parent: Block) -> Generator[list[Scalar]]:
    with contextlib.ExitStack() as stack:
        counters: list[Scalar] = []
        for length in lengths:
            counters.append(stack.enter_context(c.b.loop(length, counters[-1].block if counters else parent)))
        yield counters


def accumulate(
    c: Call, x: Tensor, dims: Sequence[int], place: Place, start: Scalar, step: Step, known: Sequence[Any] = ()
) -> Scalar:
    """`step` over the items along `dims` in row-major order, from `start`; `known` is what `step` looks at besides."""
    lengths = [c.inner(x, dim)[1] for dim in dims]
    full = _spread(x, dims, place)
    if count(lengths) <= UNROLLED:
        total = start
        for along in _numbers(lengths):
            total = step(total, x.at(full(along)))
        return total
    parent = _deepest(c, (*place, *known))
    variable = c.b.variable(start, parent)
    with _loops(c, lengths, parent) as counters:
        c.b.update(variable, step(c.b.read(variable), x.at(full(counters))))
    return variable


def _numbers(lengths: Sequence[int]) -> list[tuple[int, ...]]:
    every: list[tuple[int, ...]] = [()]
    for length in lengths:
        every = [(*one, here) for one in every for here in range(length)]
    return every


def _reduction(c: Call, x: Tensor, start: Any, step: Step) -> Tensor:
    dims = c.all_dims(x, c.get("dim"))
    first = c.b.const(start, x.dtype)
    return Tensor(c.shape, x.dtype, lambda place: accumulate(c, x, dims, place, first, step))


@rule("sum", "prod", "count_nonzero")
def total(c: Call) -> Tensor:
    """Sum, product or number of nonzero items over `dim`, wrapped. Refused: sums and products of floats."""
    if is_float(c.dtype):
        raise c.refuse(
            f"a float {c.name}, whose order torch does not fix",
            "simulacrum.portable.tensor.ordered_sum(x)" if c.name == "sum" else "write the product out",
        )
    x: Tensor = c["self"]
    if c.name == "count_nonzero":
        x = c.operand(x, torch.bool)
    x, op = c.operand(x, c.dtype), "mul" if c.name == "prod" else "add"
    return _reduction(c, x, 1 if c.name == "prod" else 0, lambda a, y: c.b.op(op, c.dtype, a, y))


@rule("any", "all")
def any_or_all(c: Call) -> Tensor:
    """Whether any item, or all, are not 0, over `dim`; every item is looked at. An empty `dim` is none, not all."""
    op = "or" if c.name == "any" else "and"
    x = c.operand(c["self"], torch.bool)
    if c.get("dim") == []:
        return c.operand(x, c.dtype)
    result = _reduction(c, x, c.name == "all", lambda a, y: c.b.op(op, torch.bool, a, y))
    return c.operand(result, c.dtype)  # of uint8 torch makes uint8


@rule("amax", "amin")
def extreme(c: Call) -> Tensor:
    """The largest or smallest item over `dim`; a NaN where there is one."""
    x: Tensor = c["self"]
    dims = c.all_dims(x, c.get("dim"))
    pick = larger if c.name == "amax" else smaller

    def element(place: Place) -> Scalar:
        first = x.at(_spread(x, dims, place)([0] * len(dims)))
        return accumulate(c, x, dims, place, first, lambda a, y: pick(c.b, y, a))

    return c.new(element)


@rule("argmax", "argmin")
def place_of_extreme(c: Call) -> Tensor:
    """int64: where along `dim` the extreme stands, as `extreme_and_place` finds it. Refused: without `dim`."""
    if c.get("dim") is None:
        raise c.refuse("over all elements, the rows among them", "name a dimension of items: dim=-1")
    return extreme_and_place(c)[-1]


def extreme_and_place(c: Call) -> list[Tensor]:
    """The extreme along one dimension and its place: the first of equals, the first NaN where there is one."""
    x: Tensor = c["self"]
    if "dim" not in c.given:
        raise c.refuse("over all elements, the rows among them", "name a dimension of items: dim=-1")
    dim, length = c.inner(x, c["dim"])
    beats = "gt" if c.name in ("max", "argmax") else "lt"
    found: dict[Place, tuple[Scalar, Scalar]] = {}

    def better(new: Scalar, old: Scalar) -> Scalar:
        plain = c.b.op(beats, torch.bool, new, old)
        if not is_float(x.dtype):
            return plain
        new_is_nan, old_is_number = c.b.op("ne", torch.bool, new, new), c.b.op("eq", torch.bool, old, old)
        return c.b.op("or", torch.bool, plain, c.b.op("and", torch.bool, new_is_nan, old_is_number))

    def search(place: Place) -> tuple[Scalar, Scalar]:
        full = _spread(x, [dim], place)
        best, where = x.at(full([0])), c.b.const(0, INDEX)
        if length <= UNROLLED:
            for here in range(1, length):
                new = x.at(full([here]))
                wins = better(new, best)
                best = c.b.op("select", x.dtype, wins, new, best)
                where = c.b.op("select", INDEX, wins, c.b.const(here, INDEX), where)
            return best, where
        parent = _deepest(c, place)
        top, at = c.b.variable(best, parent), c.b.variable(where, parent)
        with c.b.loop(length, parent) as counter:
            old, new = c.b.read(top), x.at(full([counter]))
            wins = better(new, old)
            c.b.update(at, c.b.op("select", INDEX, wins, counter, c.b.read(at)))
            c.b.update(top, c.b.op("select", x.dtype, wins, new, old))
        return top, at

    def once(place: Place) -> tuple[Scalar, Scalar]:
        if place not in found:
            found[place] = search(place)
        return found[place]

    shape = c.shape
    values = Tensor(shape, x.dtype, lambda place: once(place)[0])
    return [values, Tensor(shape, INDEX, lambda place: once(place)[1])]


@rule("cumsum", "cumprod")
def running(c: Call) -> Tensor:
    """Sums or products along `dim` up to each place, wrapped. Refused: floats.

    Beyond `UNROLLED` items they lie in an array of the row.
    """
    if is_float(c.dtype):
        raise c.refuse("a running sum of floats, which torch keeps wider", "write the sums out with +")
    x, op = c.operand(c["self"], c.dtype), "add" if c.name == "cumsum" else "mul"
    dim, length = c.inner(x, c["dim"])
    start = c.b.const(0 if op == "add" else 1, c.dtype)

    def element(place: Place) -> Scalar:
        here = place[dim]
        if not isinstance(here, int):
            return in_memory().at(place)
        before = result.at((*place[:dim], here - 1, *place[dim + 1 :])) if here else start
        return c.b.op(op, c.dtype, before, x.at(place))

    @functools.cache
    def in_memory() -> Tensor:
        return _running_in_memory(c, x, dim, start, op)

    result = c.new(element)
    return in_memory() if length > UNROLLED or count(x.shape) > UNROLLED else result


def _running_in_memory(c: Call, x: Tensor, dim: int, start: Scalar, op: str) -> Tensor:
    """The running sums in an array of the row, one variable for each line along `dim`."""
    array = c.b.array(c.dtype, x.size)
    others = [length if isinstance(length, int) and at != dim else 1 for at, length in enumerate(x.shape)]
    with _loops(c, others, c.b.root) as counters:
        parent = counters[-1].block
        variable = c.b.variable(start, parent)
        with c.b.loop(c.inner(x, dim)[1], parent) as counter:
            place = tuple(
                counter if at == dim else (ROW if length is ROW else counters[at]) for at, length in enumerate(x.shape)
            )
            value = c.b.op(op, c.dtype, c.b.read(variable), x.at(place))
            c.b.update(variable, value)
            c.b.put(array, flat(c.b, x.shape, place), value)
    return stored(c.b, array, x.shape)


@rule("sort", "argsort")
def sort(c: Call) -> Any:
    """A stable sort: an item's place is the number of items before it in the order. NaN comes last, as in torch.

    Without `stable=` too, where torch's order of equals is open and the lint of fast.py asks for it.
    """
    x: Tensor = c["self"]
    dim, length = c.inner(x, c.get("dim", -1))
    descending = bool(c.get("descending", False))
    if length > UNROLLED:
        raise c.refuse(f"sorts {length} items; up to {UNROLLED} are supported", "sort fewer, or use compile='inductor'")
    found: dict[Place, tuple[Scalar, Scalar]] = {}

    def search(place: Place) -> tuple[Scalar, Scalar]:
        items = [x.at((*place[:dim], here, *place[dim + 1 :])) for here in range(length)]
        ranks = _ranks(c, items, descending)
        target = c.b.index(place[dim])
        value, index = items[0], c.b.const(0, INDEX)
        for here in range(1, length):
            stands = c.b.op("eq", torch.bool, ranks[here], target)
            value = c.b.op("select", x.dtype, stands, items[here], value)
            index = c.b.op("select", INDEX, stands, c.b.const(here, INDEX), index)
        return value, index

    def once(place: Place) -> tuple[Scalar, Scalar]:
        if place not in found:
            found[place] = search(place)
        return found[place]

    values = Tensor(x.shape, x.dtype, lambda place: once(place)[0])
    places = Tensor(x.shape, INDEX, lambda place: once(place)[1])
    return [values, places] if c.name == "sort" else places


def _ranks(c: Call, items: Sequence[Scalar], descending: bool) -> list[Scalar]:
    """For each item how many stand before it: those that come first in the order, and equals with a lower place."""
    ranks = [c.b.const(0, INDEX) for _ in items]
    one = c.b.const(1, INDEX)
    for left in range(len(items)):
        for right in range(left + 1, len(items)):
            overtakes = _before(c, items[right], items[left], descending)
            step = c.b.op("cast", INDEX, overtakes)
            ranks[left] = c.b.op("add", INDEX, ranks[left], step)
            ranks[right] = c.b.op("add", INDEX, ranks[right], c.b.op("sub", INDEX, one, step))
    return ranks


def _before(c: Call, x: Scalar, y: Scalar, descending: bool) -> Scalar:
    """Whether x comes strictly before y. NaN is above all numbers."""
    plain = c.b.op("gt" if descending else "lt", torch.bool, x, y)
    if not is_float(x.dtype):
        return plain
    high, low = (x, y) if descending else (y, x)  # high a NaN and low a number: x comes first
    nan, number = c.b.op("ne", torch.bool, high, high), c.b.op("eq", torch.bool, low, low)
    return c.b.op("or", torch.bool, plain, c.b.op("and", torch.bool, nan, number))


__all__ = ["accumulate", "extreme_and_place"]
