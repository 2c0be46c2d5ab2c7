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
    """Writes one kernel."""

    def __init__(self, kernel: Kernel, memory: Memory, *, listed: bool) -> None:
        self.kernel, self.memory, self.listed = kernel, memory, listed
        self.lines: list[str] = []
        self.looped = any(isinstance(one, Loop) for one in kernel.body.root.statements)
        touched = kernel.read | kernel.written
        self.flags = any(port.layout == "any" for port in touched)
        self.outside = [port for port in memory.numbers if port in touched]
        self.turned = [] if self.looped else [one for one in self.outside if one in kernel.written and _is_turned(one)]
        # In a listed kernel all that is written goes to columns first, and from there to the rows of the list.
        self.aside = sorted(kernel.written, key=lambda port: port.name) if listed and not self.looped else self.turned

    def text(self) -> str:
        rows = "const int32_t *list, int64_t count" if self.listed else "int64_t lo, int64_t hi"
        result = "int32_t" if self.flags else "void"
        self.lines += [f"static {result} {self.kernel.name}(char *const *p, {rows})", "{"]
        for port in self.outside:
            c_type, number = C_MEMORY[port.dtype], self.memory.numbers[port]
            const = "" if port in self.kernel.written else "const "
            self.lines.append(f"  {const}{c_type} *p{number} = ({const}{c_type} *)p[{number}];")
        if self.flags:
            self.lines.append("  int32_t any = 0;")
        self._listed() if self.listed else self._blocks()
        self.lines += ["  return any;", "}"] if self.flags else ["}"]
        return "\n".join(self.lines)

    def _blocks(self) -> None:
        """A loop over blocks, and in it one over the rows of a block."""
        self._declare_columns()
        self.lines += [
            "  for (int64_t from = lo; from < hi; from += LANES) {",
            "    const int64_t rows = hi - from < LANES ? hi - from : LANES;",
            "    char *b = p[0] + from / LANES * BLOCK_BYTES;",
            "    (void)b;",
        ]
        if not self.looped:
            self.lines.append("    LOOP_OVER_ROWS")
        self.lines += ["    for (int64_t l = 0; l < rows; l++) {", "      const int64_t i = from + l;"]
        self.lines.append("      (void)i;")
        self._row("      ")
        self.lines.append("    }")
        for port in self.turned:
            number, size = self.memory.numbers[port], port.size
            self.lines.append(f"    to_rows({self._column(port)}, p{number} + from * {size}, {size}, rows);")
        self.lines.append("  }")

    def _listed(self) -> None:
        """A loop over the list: in whole vectors, which the last row fills up, all reads before all writes."""
        if self.looped:
            self.lines += ["  for (int64_t j = 0; j < count; j++) {", *_place_of_row("list[j]", "    ")]
            self._row("    ")
            self.lines.append("  }")
            return
        self._declare_columns()
        self.lines += [
            "  for (int64_t from = 0; from < count; from += LANES) {",
            "    const int64_t rows = count - from < LANES ? count - from : LANES;",
            "    const int64_t filled = (rows + VECTOR - 1) / VECTOR * VECTOR;",
            "    int32_t at[LANES];",
            "    for (int64_t j = 0; j < filled; j++) at[j] = list[from + (j < rows ? j : rows - 1)];",
            "    LOOP_OVER_LIST",
            "    for (int64_t j = 0; j < filled; j++) {",
            *_place_of_row("at[j]", "      "),
        ]
        self._row("      ")
        self.lines.append("    }")
        for port in self.turned:
            self.lines.append(f"    to_rows({self._column(port)}, t{self.memory.numbers[port]}, {port.size}, filled);")
        self.lines += ["    for (int64_t j = 0; j < rows; j++) {", *_place_of_row("at[j]", "      ")]
        for port in self.aside:
            self.lines += [f"      {line}" for line in self._put_row(port)]
        self.lines += ["    }", "  }"]

    def _declare_columns(self) -> None:
        for port in self.aside:
            c_type, size = C_MEMORY[port.dtype], port.size
            self.lines.append(f"  {c_type} {self._column(port)}[{size} * LANES];")
            if self.listed and port in self.turned:
                self.lines.append(f"  {c_type} t{self.memory.numbers[port]}[{size} * LANES];")

    def _put_row(self, port: Port) -> list[str]:
        """Copy one row of a port from the columns that were computed."""
        if port in self.turned:
            number, size = self.memory.numbers[port], port.size
            return [f"__builtin_memcpy(p{number} + i * {size}, t{number} + j * {size}, sizeof(*p{number}) * {size});"]
        places = [one.index for one in self.kernel.body.root.statements if isinstance(one, Put) and one.target == port]
        names = [str(place.data) if place.constant else self._name(place) for place in places]
        return [f"{self._at_home(port, name)} = {self._column(port)}[{name} * LANES + j];" for name in names]

    def _column(self, port: Port) -> str:
        number = self.memory.numbers.get(port)
        return f"k{self.memory.starts[port]}" if number is None else f"s{number}"

    def _row(self, indent: str) -> None:
        for array in arrays_of(self.kernel.body.root):
            self.lines.append(f"{indent}{C_MEMORY[array.dtype]} {array.name}[{array.size}];")
        self._statements(self.kernel.body.root, indent)

    def _statements(self, block: Block, indent: str) -> None:
        for one in block.statements:
            if isinstance(one, Scalar):
                const = "" if one.op == "variable" else "const "
                self.lines.append(f"{indent}{const}{C_NAMES[one.dtype]} v{one.number} = {self._value(one)};")
            elif isinstance(one, Loop):
                name = f"v{one.counter.number}"
                self.lines.append(f"{indent}for (int64_t {name} = 0; {name} < {one.count}; {name}++) {{")
                self._statements(one.body, f"{indent}  ")
                self.lines.append(f"{indent}}}")
            elif isinstance(one, Update):
                self.lines.append(f"{indent}v{one.variable.number} = {self._name(one.value)};")
            else:
                self.lines.append(f"{indent}{self._put(one)}")

    def _put(self, put: Put) -> str:
        if isinstance(put.target, Port) and put.target.layout == "any":
            return f"any |= (int32_t){self._name(put.value)} << {self._name(put.index)};"
        place = str(put.index.data) if put.index.constant else self._name(put.index)
        if isinstance(put.target, Port) and put.target in self.aside:
            home = f"{self._column(put.target)}[{place} * LANES + {'j' if self.listed else 'l'}]"
        else:
            home = self._element(put.target, put.index)
        return f"{home} = {self._name(put.value)};"

    def _value(self, s: Scalar) -> str:
        if s.op == "load":
            text = self._element(s.data, s.args[0])
            return f"{text} != 0" if s.dtype == torch.bool else text
        if s.op == "row":
            return f"({C_NAMES[s.dtype]})i"
        return expression(s, [self._name(arg) for arg in s.args])

    def _name(self, scalar: Scalar) -> str:
        return literal(scalar.data, scalar.dtype) if scalar.constant else f"v{scalar.number}"

    def _element(self, source: Array | Table | Port, index: Scalar) -> str:
        """One element of this row's part of `source`."""
        place = str(index.data) if index.constant else self._name(index)
        if not isinstance(source, Port):
            return f"{source.name}[{place}]"
        return self._at_home(source, place)

    def _at_home(self, port: Port, place: str) -> str:
        """One element of this row's part of a port, where the port lies."""
        if port.layout == "blocks":
            return f"(({C_MEMORY[port.dtype]} *)(b + {self.memory.starts[port]}))[{place} * LANES + l]"
        number = self.memory.numbers[port]
        return f"p{number}[{place}]" if port.layout == "one" else f"p{number}[i * {port.size} + {place}]"


def _place_of_row(row: str, indent: str) -> list[str]:
    """The row that a list names: its number i, its block b, and its lane l in it."""
    return [
        f"{indent}const int64_t i = {row}, l = i % LANES;",
        f"{indent}char *b = p[0] + i / LANES * BLOCK_BYTES;",
        f"{indent}(void)b, (void)l;",
    ]


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


def arrays_of(block: Block) -> list[Array]:
    """The arrays of a row, those that loops fill too."""
    seen: dict[Array, None] = {}
    for one in block.statements:
        if isinstance(one, Put) and isinstance(one.target, Array):
            seen[one.target] = None
        elif isinstance(one, Loop):
            seen.update(dict.fromkeys(arrays_of(one.body)))
    return list(seen)
