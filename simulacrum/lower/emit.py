"""C text of kernels: one statement a scalar, one loop over rows.

Rows go by blocks of 64. In a port of layout "blocks" a block's elements lie together, 64 rows of one element, then 64
of the next, and a block of all such ports is one piece of memory: whatever a row keeps is then near, at a distance
that is known when the C is compiled. A wide output of layout "rows" is computed in columns, and turned block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from simulacrum.lower.kernel import Kernel
from simulacrum.lower.operations import expression
from simulacrum.lower.program import LANES, Array, Block, Loop, Port, Put, Scalar, Table, Update
from simulacrum.lower.runs import arrays_of, kept_between, runs_of
from simulacrum.lower.transpose import NARROWEST, TRANSPOSE
from simulacrum.lower.types import C_MEMORY, C_NAMES, literal

PRELUDE = (
    """\
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>

#if defined(LOOP_OVER_ROWS) /* a flag of the compiler says how */
#elif defined(__clang__)
#define LOOP_OVER_ROWS _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave(disable)")
#else
#define LOOP_OVER_ROWS _Pragma("GCC ivdep")
#endif
#if !defined(LOOP_OVER_LIST)
#define LOOP_OVER_LIST LOOP_OVER_ROWS
#define VECTOR 16
#else
#define VECTOR 1
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define DIVIDE_f(x, y, high, low) __builtin_fmaf(x, high, (x) * (low))
#define DIVIDE_(x, y, high, low) __builtin_fma(x, high, (x) * (low))
#else
#define DIVIDE_f(x, y, high, low) ((x) / (y))
#define DIVIDE_(x, y, high, low) ((x) / (y))
#endif

static inline int64_t bits_f64(double x) { int64_t y; __builtin_memcpy(&y, &x, 8); return y; }
static inline double bits_i64(int64_t x) { double y; __builtin_memcpy(&y, &x, 8); return y; }
static inline int32_t bits_f32(float x) { int32_t y; __builtin_memcpy(&y, &x, 4); return y; }
static inline float bits_i32(int32_t x) { float y; __builtin_memcpy(&y, &x, 4); return y; }

"""
    + TRANSPOSE
)


FEW = 16  # rows at a time where a program has inner loops: what runs keep for each other then stays in a near cache


@dataclass(frozen=True)
class Memory:
    """Where ports lie: `numbers` gives each its place in the array of pointers, `starts` a port of layout "blocks" its
    place in bytes in a block of `block_bytes`. The pointer of number 0 is that of the first block.
    """

    numbers: dict[Port, int]
    starts: dict[Port, int]
    block_bytes: int


def kernel_text(kernel: Kernel, memory: Memory, *, listed: bool = False) -> str:
    """The C function of a kernel.

    Plain: `void name(char *const *p, int64_t lo, int64_t hi)` for rows lo..hi-1, lo at the start of a block. `listed`:
    for the `count` rows that `list` names. A kernel that writes a port of layout "any" returns the bits that any row
    set.
    """
    return _Writer(kernel, memory, listed=listed).text()


def tables_text(kernels: Sequence[Kernel]) -> str:
    """The static arrays of the kernels."""
    lines: list[str] = []
    for kernel in kernels:
        for table in kernel.body.tables.values():
            values = ", ".join(literal(value, table.dtype) for value in table.values) or "0"
            lines.append(f"static const {C_MEMORY[table.dtype]} {table.name}[] = {{{values}}};")
    return "\n".join(lines)


class _Writer:
    """Writes one kernel. A function works on `width` rows at a time: lane j of what it keeps aside is one of them."""

    def __init__(self, kernel: Kernel, memory: Memory, *, listed: bool) -> None:
        self.kernel, self.memory, self.listed = kernel, memory, listed
        self.root = kernel.body.root
        self.lines: list[str] = []
        self.loops = any(isinstance(one, Loop) for one in self.root.statements)
        self.width = FEW if self.loops else LANES
        self.kept = set(kept_between(self.root))
        touched = kernel.read | kernel.written
        self.flags = any(port.layout == "any" for port in touched)
        self.outside = [port for port in memory.numbers if port in touched]
        self.turned = [port for port in self.outside if port in kernel.written and _is_turned(port)]
        # In a listed kernel all that is written goes to columns first, and from there to the rows of the list.
        self.aside = sorted(kernel.written, key=lambda port: port.name) if listed else self.turned

    def text(self) -> str:
        """The function, as `kernel_text` promises it."""
        rows = "const int32_t *list, int64_t count" if self.listed else "int64_t lo, int64_t hi"
        result = "int32_t" if self.flags else "void"
        self.lines += [f"static {result} {self.kernel.name}(char *const *p, {rows})", "{"]
        for port in self.outside:
            c_type, number = C_MEMORY[port.dtype], self.memory.numbers[port]
            const = "" if port in self.kernel.written else "const "
            self.lines.append(f"  {const}{c_type} *p{number} = ({const}{c_type} *)p[{number}];")
        self.lines += [f"  {c_type} {name}[{size}];" for c_type, name, size in self.declared()]
        if self.flags:
            self.lines.append("  int32_t any = 0;")
        self._listed() if self.listed else self._blocks()
        self.lines += ["  return any;", "}"] if self.flags else ["}"]
        return "\n".join(self.lines)

    def declared(self) -> list[tuple[str, str, int]]:
        """C type, name and length of what the function keeps aside."""
        kept = sorted(self.kept, key=lambda scalar: scalar.number)
        arrays = [(C_MEMORY[one.dtype], one.name, one.size * self.width) for one in arrays_of(self.root)]
        columns = [(C_MEMORY[port.dtype], self._column(port), port.size * self.width) for port in self.aside]
        turned = [(C_MEMORY[port.dtype], f"t{self.memory.numbers[port]}", port.size * self.width)
                  for port in self.turned if self.listed]  # fmt: skip
        return [*((C_MEMORY[one.dtype], f"v{one.number}", self.width) for one in kept), *arrays, *columns, *turned]

    def _blocks(self) -> None:
        """A loop over blocks, or parts of them, and in it the runs of the program."""
        self.lines += [
            f"  for (int64_t from = lo; from < hi; from += {self.width}) {{",
            f"    const int64_t rows = hi - from < {self.width} ? hi - from : {self.width};",
            "    char *b = p[0] + from / LANES * BLOCK_BYTES;",
            "    (void)b;",
        ]
        start = ["const int64_t i = from + j, l = from % LANES + j;", "(void)i, (void)l;"]
        self._runs(self.root, "    ", ["LOOP_OVER_ROWS", "for (int64_t j = 0; j < rows; j++) {"], start)
        for port in self.turned:
            number, size = self.memory.numbers[port], port.size
            target = f"p{number} + from * {size}"
            self.lines.append(f"    to_rows({self._column(port)}, {target}, {size}, {self.width}, rows);")
        self.lines.append("  }")

    def _listed(self) -> None:
        """A loop over the list: in whole vectors, which the last row fills up, all reads before all writes."""
        width = self.width
        self.lines += [
            f"  for (int64_t from = 0; from < count; from += {width}) {{",
            f"    const int64_t rows = count - from < {width} ? count - from : {width};",
            "    const int64_t filled = (rows + VECTOR - 1) / VECTOR * VECTOR;",
            f"    int32_t at[{width}];",
            "    for (int64_t j = 0; j < filled; j++) at[j] = list[from + (j < rows ? j : rows - 1)];",
        ]
        start = [
            "const int64_t i = at[j], l = i % LANES;",
            "char *b = p[0] + i / LANES * BLOCK_BYTES;",
            "(void)b, (void)l;",
        ]
        self._runs(self.root, "    ", ["LOOP_OVER_LIST", "for (int64_t j = 0; j < filled; j++) {"], start)
        for port in self.turned:
            number, size = self.memory.numbers[port], port.size
            self.lines.append(f"    to_rows({self._column(port)}, t{number}, {size}, {width}, filled);")
        self.lines += ["    for (int64_t j = 0; j < rows; j++) {", *(f"      {line}" for line in start)]
        for port in self.aside:
            self.lines += [f"      {line}" for line in self._put_row(port)]
        self.lines += ["    }", "  }"]

    def _runs(self, block: Block, indent: str, opening: Sequence[str], start: Sequence[str]) -> None:
        """The loops of a block, and each run between them as a loop over rows."""
        for part in runs_of(block):
            if isinstance(part, Loop):
                name = f"v{part.counter.number}"
                self.lines.append(f"{indent}for (int64_t {name} = 0; {name} < {part.count}; {name}++) {{")
                self._runs(part.body, f"{indent}  ", opening, start)
            else:
                self.lines += [f"{indent}{line}" for line in opening]
                self.lines += [f"{indent}  {line}" for line in (*start, *map(self._statement, part))]
            self.lines.append(f"{indent}}}")

    def _statement(self, one: Scalar | Put | Update) -> str:
        if isinstance(one, Scalar):
            if one in self.kept:
                return f"v{one.number}[j] = {self._value(one)};"
            return f"const {C_NAMES[one.dtype]} v{one.number} = {self._value(one)};"
        if isinstance(one, Update):
            return f"{self._name(one.variable)} = {self._name(one.value)};"
        if isinstance(one.target, Port) and one.target.layout == "any":
            return f"any |= (int32_t){self._name(one.value)} << {self._name(one.index)};"
        home = self._element(one.target, one.index)
        if isinstance(one.target, Port) and one.target in self.aside:
            home = f"{self._column(one.target)}[{self._name(one.index)} * {self.width} + j]"
        return f"{home} = {self._name(one.value)};"

    def _put_row(self, port: Port) -> list[str]:
        """Copy one row of a port from the columns that were computed."""
        if port in self.turned:
            number, size = self.memory.numbers[port], port.size
            return [f"__builtin_memcpy(p{number} + i * {size}, t{number} + j * {size}, sizeof(*p{number}) * {size});"]
        column, width = self._column(port), self.width
        puts = [one for one in self.root.statements if isinstance(one, Put) and one.target == port]
        if not puts:  # written in loops, all of it
            home = self._at_home(port, "e")
            return [f"for (int64_t e = 0; e < {port.size}; e++) {home} = {column}[e * {width} + j];"]
        names = [self._name(one.index) for one in puts]
        return [f"{self._at_home(port, name)} = {column}[{name} * {width} + j];" for name in names]

    def _value(self, s: Scalar) -> str:
        if s.op == "load":
            text = self._element(s.data, s.args[0])
            return f"{text} != 0" if s.dtype == torch.bool else text
        if s.op == "row":
            return f"({C_NAMES[s.dtype]})i"
        return expression(s, [self._name(arg) for arg in s.args])

    def _name(self, scalar: Scalar) -> str:
        if scalar.constant:
            return literal(scalar.data, scalar.dtype)
        return f"v{scalar.number}[j]" if scalar in self.kept else f"v{scalar.number}"

    def _element(self, source: Array | Table | Port, index: Scalar) -> str:
        """One element of this row's part of `source`."""
        place = str(index.data) if index.constant else self._name(index)
        if isinstance(source, Table):
            return f"{source.name}[{place}]"
        if isinstance(source, Array):
            return f"{source.name}[{place} * {self.width} + j]"
        return self._at_home(source, place)

    def _at_home(self, port: Port, place: str) -> str:
        """One element of this row's part of a port, where the port lies."""
        if port.layout == "blocks":
            return f"(({C_MEMORY[port.dtype]} *)(b + {self.memory.starts[port]}))[{place} * LANES + l]"
        number = self.memory.numbers[port]
        return f"p{number}[{place}]" if port.layout == "one" else f"p{number}[i * {port.size} + {place}]"

    def _column(self, port: Port) -> str:
        number = self.memory.numbers.get(port)
        return f"k{self.memory.starts[port]}" if number is None else f"s{number}"


def stack_of(kernel: Kernel, memory: Memory, *, listed: bool = False) -> int:
    """The bytes that the C function of a kernel keeps on the stack."""
    return 8 * sum(size for _, _, size in _Writer(kernel, memory, listed=listed).declared())


def memory_of(ports: Sequence[Port]) -> Memory:
    """The memory of ports in the order in which they were met: a block for those that are kept, pointers for others."""
    kept = sorted((port for port in ports if port.layout == "blocks"), key=lambda port: -port.dtype.itemsize)
    starts: dict[Port, int] = {}
    size = 0
    for port in kept:
        starts[port] = size
        size += port.size * port.dtype.itemsize * LANES
    outside = [port for port in ports if port.layout not in ("blocks", "any")]
    return Memory({port: number for number, port in enumerate(outside, start=1)}, starts, size)


def _is_turned(port: Port) -> bool:
    return port.layout == "rows" and port.dtype.itemsize == 4 and port.size >= NARROWEST
