"""The typed scalar program: what one row computes, as single assignments in nested blocks.

A `Scalar` is a value that is assigned once. Equal scalars are one scalar (`Builder.op` looks before it makes), and each
stands in the outermost block in which its arguments are known, so what does not change inside a loop stands outside.
Inner dimensions that are small are written out element by element; larger ones become a `Loop`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import torch

from simulacrum.lower.fold import fold
from simulacrum.lower.types import INDEX, coerce


@dataclass(eq=False)
class Block:
    """Statements in order, inside the loops of its ancestors. Depth 0 is the body of the loop over rows."""

    depth: int
    statements: list[Any] = field(default_factory=list[Any])
    known: dict[Any, Scalar] = field(default_factory=dict[Any, "Scalar"])


@dataclass(eq=False)
class Scalar:
    """One value of one row: `op` applied to `args`, of type `dtype`. `data` is what the operation needs beside them."""

    op: str
    args: tuple[Scalar, ...]
    dtype: torch.dtype
    data: Any
    block: Block
    number: int

    @property
    def constant(self) -> bool:
        """Whether the value is known now; `data` is it then."""
        return self.op == "const"


LANES = 64  # rows of a block

Index = int | Scalar  # a place along one dimension: known now, or computed by the row


@dataclass(frozen=True)
class Port:
    """A tensor that a kernel reads or writes: one inner shape for every row.

    `layout` is "blocks" (kept between calls, in blocks of `LANES` rows, see `emit`), "rows" (each row's elements lie
    together), "one" (a single value for all rows), or "any" (bits that are set where any row sets them).
    """

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    layout: str

    @property
    def size(self) -> int:
        """Elements a row."""
        size = 1
        for length in self.shape:
            size *= length
        return size


@dataclass(eq=False)
class Array:
    """Memory of one row that lives for one step: what is indexed by a computed place, or too large to write out."""

    name: str
    dtype: torch.dtype
    size: int


@dataclass(eq=False)
class Table:
    """Numbers that never change, in one static array."""

    name: str
    dtype: torch.dtype
    values: tuple[Any, ...]


@dataclass(eq=False)
class Loop:
    """`body` for each value of `counter` from 0 to `count` - 1."""

    counter: Scalar
    count: int
    body: Block


@dataclass(eq=False)
class Put:
    """Write `value` to element `index` of an array of the row, or of an output."""

    target: Array | Port
    index: Scalar
    value: Scalar


@dataclass(eq=False)
class Update:
    """Assign `value` to a `variable` that a loop accumulates in."""

    variable: Scalar
    value: Scalar


class Builder:
    """Makes the scalars of the kernel `name`."""

    def __init__(self, name: str = "kernel") -> None:
        self.name = name
        self.root = Block(0)
        self.open: list[Block] = [self.root]
        self.tables: dict[Any, Table] = {}
        self.faults: list[Scalar] = []
        self._count = 0
        self._looped_fault: Scalar | None = None

    # --- values ----------------------------------------------------------------------------------------------------

    def const(self, value: Any, dtype: torch.dtype) -> Scalar:
        """`value` as `dtype` holds it."""
        value = coerce(value, dtype)
        key = ("const", repr(value), dtype)
        if key not in self.root.known:
            self.root.known[key] = self._make("const", (), dtype, value, self.root)
        return self.root.known[key]

    def op(self, op: str, dtype: torch.dtype, *args: Scalar, data: Any = None) -> Scalar:
        """The scalar `op(args)`: an old one where it was made before, a constant where it is known now."""
        known = fold(self, op, dtype, args, data)
        if known is not None:
            return known
        block = max((arg.block for arg in args), key=lambda block: block.depth, default=self.root)
        key = (op, args, dtype, data)
        if key not in block.known:
            block.known[key] = self._make(op, args, dtype, data, block)
            block.statements.append(block.known[key])
        return block.known[key]

    def load(self, source: Port | Array | Table, index: Scalar) -> Scalar:
        """Element `index` of this row's part of `source`."""
        if isinstance(source, Table) and index.constant:
            return self.const(source.values[index.data], source.dtype)
        return self.op("load", source.dtype, index, data=source)

    def index(self, place: Index) -> Scalar:
        """A place as a scalar."""
        return self.const(place, INDEX) if isinstance(place, int) else place

    def table(self, values: tuple[Any, ...], dtype: torch.dtype) -> Table:
        """The static array of `values`; equal ones are one."""
        key = (tuple(map(repr, values)), dtype)
        if key not in self.tables:
            self.tables[key] = Table(f"{self.name}_table{len(self.tables)}", dtype, values)
        return self.tables[key]

    # --- loops and memory --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def loop(self, count: int, parent: Block) -> Generator[Scalar]:
        """A loop at the end of `parent`; the block is open inside the `with`."""
        body = Block(parent.depth + 1)
        counter = self._make("counter", (), INDEX, None, body)
        self.open.append(body)
        yield counter
        self.open.pop()
        parent.statements.append(Loop(counter, count, body))

    def variable(self, start: Scalar, parent: Block) -> Scalar:
        """A variable of `parent` that loops may `update`; it begins as `start`."""
        made = self._make("variable", (start,), start.dtype, None, parent)
        parent.statements.append(made)
        return made

    def read(self, variable: Scalar) -> Scalar:
        """What `variable` is at this point of the innermost open loop."""
        made = self._make("read", (variable,), variable.dtype, None, self.open[-1])
        self.open[-1].statements.append(made)
        return made

    def update(self, variable: Scalar, value: Scalar) -> None:
        """Assign `value` to `variable` in the innermost open block."""
        self.open[-1].statements.append(Update(variable, value))

    def array(self, dtype: torch.dtype, size: int) -> Array:
        """Memory for `size` elements."""
        self._count += 1
        return Array(f"a{self._count}", dtype, size)

    def put(self, target: Array | Port, index: Index, value: Scalar, block: Block | None = None) -> None:
        """Write one element, at the end of `block` (the innermost open one by default)."""
        (block or self.open[-1]).statements.append(Put(target, self.index(index), value))

    def fault(self, condition: Scalar) -> None:
        """Note that the row does what torch refuses (a division by zero, say) where `condition` holds."""
        if condition.constant and not condition.data:
            return
        if condition.block is self.root:
            if condition not in self.faults:
                self.faults.append(condition)
            return
        if self._looped_fault is None:  # declared before all loops, since any of them may set it
            no = self.const(False, torch.bool)
            self._looped_fault = self._make("variable", (no,), torch.bool, None, self.root)
            self.root.statements.insert(0, self._looped_fault)
            self.faults.append(self._looped_fault)
        block, variable = condition.block, self._looped_fault
        old = self._make("read", (variable,), torch.bool, None, block)
        block.statements.append(old)
        both = self.op("or", torch.bool, old, condition)
        block.statements.append(Update(variable, both))

    def _make(self, op: str, args: tuple[Scalar, ...], dtype: torch.dtype, data: Any, block: Block) -> Scalar:
        self._count += 1
        return Scalar(op, args, dtype, data, block, self._count)
