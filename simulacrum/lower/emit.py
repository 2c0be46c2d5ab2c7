"""C text of kernels: one statement a scalar, one loop over rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from simulacrum.lower.kernel import Kernel
from simulacrum.lower.program import Block, Index, Loop, Port, Put, Scalar, Table, Update
from simulacrum.lower.transpose import NARROWEST, TRANSPOSE
from simulacrum.lower.types import C_MEMORY, C_NAMES, is_float, is_integer, literal

_UNSIGNED = {
    torch.int8: "uint8_t",
    torch.uint8: "uint8_t",
    torch.int16: "uint16_t",
    torch.int32: "uint32_t",
    torch.int64: "uint64_t",
}
_SUFFIX = {torch.float32: "f", torch.float64: ""}
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

PRELUDE = """\
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>

#define LOOP_OVER_ROWS _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave(disable)")

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

""" + TRANSPOSE


class _Writer:
    """Writes one kernel. `number` gives each port its place in the array of pointers."""

    def __init__(self, kernel: Kernel, number: Callable[[Port], int], *, listed: bool) -> None:
        self.kernel, self.number, self.listed = kernel, number, listed
        self.lines: list[str] = []
        self.looped = any(isinstance(one, Loop) for one in kernel.body.root.statements)
        plain = not (listed or self.looped)
        self.strips = sorted((port for port in kernel.written if plain and _is_turned(port)), key=number)

    def text(self) -> str:
        touched = self.kernel.read | self.kernel.written
        flags = any(port.layout == "any" for port in touched)
        used = sorted((port for port in touched if port.layout != "any"), key=self.number)
        rows = "const int32_t *list, int64_t count" if self.listed else "int64_t lo, int64_t hi"
        self.lines.append(f"static {'int32_t' if flags else 'void'} {self.kernel.name}(char *const *p, int64_t n, {rows})")
        self.lines.append("{")
        for port in used:
            c_type, number = C_MEMORY[port.dtype], self.number(port)
            const = "" if port in self.kernel.written else "const "
            self.lines.append(f"  {const}{c_type} *p{number} = ({const}{c_type} *)p[{number}];")
        if flags:
            self.lines.append("  int32_t any = 0;")
        self.lines.append("  (void)n;")
        self._loop_over_strips() if self.strips else self._loop_over_rows("  ", "lo", "hi")
        if flags:
            self.lines.append("  return any;")
        self.lines.append("}")
        return "\n".join(self.lines)

    def _loop_over_rows(self, indent: str, start: str, stop: str) -> None:
        if not self.looped:
            self.lines.append(f"{indent}LOOP_OVER_ROWS")
        if self.listed:
            self.lines.append(f"{indent}for (int64_t j = 0; j < count; j++) {{")
            self.lines.append(f"{indent}  const int64_t i = list[j];")
        else:
            self.lines.append(f"{indent}for (int64_t i = {start}; i < {stop}; i++) {{")
        for array in _arrays(self.kernel.body.root):
            self.lines.append(f"{indent}  {C_MEMORY[array.dtype]} {array.name}[{array.size}];")
        self._block(self.kernel.body.root, f"{indent}  ")
        self.lines.append(f"{indent}}}")

    def _loop_over_strips(self) -> None:
        """Wide outputs are computed in columns, a strip of rows at a time, and then turned (see `transpose`)."""
        for port in self.strips:
            number = self.number(port)
            self.lines.append(f"  {C_MEMORY[port.dtype]} s{number}[{port.size} * STRIP];")
        self.lines.append("  for (int64_t from = lo; from < hi; from += STRIP) {")
        self.lines.append("    const int64_t to = from + STRIP < hi ? from + STRIP : hi;")
        self._loop_over_rows("    ", "from", "to")
        for port in self.strips:
            number, size = self.number(port), port.size
            self.lines.append(f"    to_rows(s{number}, p{number} + from * {size}, {size}, to - from);")
        self.lines.append("  }")

    def _block(self, block: Block, indent: str) -> None:
        for one in block.statements:
            if isinstance(one, Scalar):
                const = "" if one.op == "variable" else "const "
                self.lines.append(f"{indent}{const}{C_NAMES[one.dtype]} v{one.number} = {self._expression(one)};")
            elif isinstance(one, Loop):
                name = f"v{one.counter.number}"
                self.lines.append(f"{indent}for (int64_t {name} = 0; {name} < {one.count}; {name}++) {{")
                self._block(one.body, indent + "  ")
                self.lines.append(f"{indent}}}")
            elif isinstance(one, Update):
                self.lines.append(f"{indent}v{one.variable.number} = {self._ref(one.value)};")
            else:
                self.lines.append(f"{indent}{self._put(one)}")

    def _put(self, put: Put) -> str:
        if isinstance(put.target, Port) and put.target.layout == "any":
            return f"any |= (int32_t){self._ref(put.value)} << {self._ref(put.index)};"
        return f"{self._element(put.target, put.index)} = {self._ref(put.value)};"

    def _element(self, source: object, index: Scalar) -> str:
        if not isinstance(source, Port):
            return f"{source.name}[{self._ref(index)}]"  # type: ignore[attr-defined]
        name, place = f"p{self.number(source)}", index.data if index.constant else None
        if source.layout == "one":
            return f"{name}[{self._ref(index)}]"
        if source.layout == "columns":
            column = f"{place} * n" if place is not None else f"{self._ref(index)} * n"
            return f"{name}[i]" if place == 0 else f"{name}[{column} + i]"
        if source in self.strips:
            return f"s{self.number(source)}[{place} * STRIP + (i - from)]"
        row = "i" if source.size == 1 else f"i * {source.size}"
        return f"{name}[{row}]" if place == 0 else f"{name}[{row} + {self._ref(index)}]"

    def _ref(self, scalar: Scalar) -> str:
        return literal(scalar.data, scalar.dtype) if scalar.constant else f"v{scalar.number}"

    # --- one operation -------------------------------------------------------------------------------------------------

    def _expression(self, s: Scalar) -> str:
        if s.op == "load":
            text = self._element(s.data, s.args[0])
            return f"{text} != 0" if s.dtype == torch.bool else text
        if s.op == "row":
            return f"({C_NAMES[s.dtype]})i"
        args = [self._ref(arg) for arg in s.args]
        if s.op in ("variable", "read"):
            return args[0]
        if s.op == "select":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        if s.op in _COMPARISONS:
            return f"{args[0]} {_COMPARISONS[s.op]} {args[1]}"
        if s.op == "not":
            return f"!{args[0]}"
        method = getattr(self, f"_{s.op}", None)
        if method is not None:
            return method(s, *args)
        return self._wrapped(s, f"{args[0]} {_INFIX[s.op]} {args[1]}")

    def _wrapped(self, s: Scalar, text: str) -> str:
        """`text` cut to the width of the type: C computes narrow integers as int."""
        return f"({C_NAMES[s.dtype]})({text})" if is_integer(s.dtype) else text

    def _cast(self, s: Scalar, x: str) -> str:
        old, new = s.args[0].dtype, s.dtype
        if new == torch.bool:
            return f"{x} != 0"
        if not is_float(old) or is_float(new):
            return f"({C_NAMES[new]}){x}"
        # C leaves a float beyond the integer's range undefined; what x86 does is what torch's CPU does.
        wide = torch.int64 if new == torch.int64 else torch.int32
        bound = literal(2.0 ** (63 if wide == torch.int64 else 31), old)
        inside = f"({x} >= -{bound} && {x} < {bound}) ? ({C_NAMES[wide]}){x} : {literal(torch.iinfo(wide).min, wide)}"
        return inside if wide == new else f"({C_NAMES[new]})({inside})"

    def _div_known(self, s: Scalar, x: str, y: str) -> str:
        high, low = (literal(part, s.dtype) for part in s.data)
        return f"DIVIDE_{_SUFFIX[s.dtype]}({x}, {y}, {high}, {low})"

    def _bits(self, s: Scalar, x: str) -> str:
        kind = {torch.float64: "f64", torch.int64: "i64", torch.float32: "f32", torch.int32: "i32"}
        return f"bits_{kind[s.args[0].dtype]}({x})"

    def _neg(self, s: Scalar, x: str) -> str:
        return f"-{x}" if is_float(s.dtype) else self._wrapped(s, f"0 - ({_UNSIGNED[s.dtype]}){x}")

    def _invert(self, s: Scalar, x: str) -> str:
        return self._wrapped(s, f"~{x}")

    def _abs(self, s: Scalar, x: str) -> str:
        if is_float(s.dtype):
            return f"__builtin_fabs{_SUFFIX[s.dtype]}({x})"
        return f"{x} < 0 ? {self._neg(s, x)} : {x}"

    def _sign(self, s: Scalar, x: str) -> str:
        return f"({C_NAMES[s.dtype]})(({x} > 0) - ({x} < 0))"

    def _call(self, s: Scalar, x: str) -> str:
        return f"__builtin_{s.op}{_SUFFIX[s.dtype]}({x})"

    _sqrt = _floor = _ceil = _trunc = _rint = _call

    def _max(self, s: Scalar, x: str, y: str) -> str:
        return self._extreme(s, x, y, ">")

    def _min(self, s: Scalar, x: str, y: str) -> str:
        return self._extreme(s, x, y, "<")

    def _extreme(self, s: Scalar, x: str, y: str, sign: str) -> str:
        """The larger or smaller; a NaN, the first one's, where either is NaN."""
        plain = f"{x} {sign} {y} ? {x} : {y}"
        return f"{x} != {x} ? {x} : ({plain})" if is_float(s.dtype) else plain

    def _at_least(self, s: Scalar, x: str, y: str) -> str:
        plain = f"{x} < {y} ? {y} : {x}"
        return f"{y} != {y} ? {y} : ({plain})" if is_float(s.dtype) and not s.args[1].constant else plain

    def _at_most(self, s: Scalar, x: str, y: str) -> str:
        plain = f"{x} > {y} ? {y} : {x}"
        return f"{y} != {y} ? {y} : ({plain})" if is_float(s.dtype) and not s.args[1].constant else plain

    def _shl(self, s: Scalar, x: str, y: str) -> str:
        bits = torch.iinfo(s.dtype).bits
        text = self._wrapped(s, f"({_UNSIGNED[s.dtype]}){x} << {y}")
        return self._shift_in_range(s, text, y, "0", bits)

    def _shr(self, s: Scalar, x: str, y: str) -> str:
        bits = torch.iinfo(s.dtype).bits
        return self._shift_in_range(s, self._wrapped(s, f"{x} >> {y}"), y, f"({x} < 0 ? -1 : 0)", bits)

    def _shift_in_range(self, s: Scalar, text: str, y: str, beyond: str, bits: int) -> str:
        amount = s.args[1]
        if amount.constant:
            return text if 0 <= amount.data < bits else beyond
        safe = text.replace(f" {y})", f" ({y} & {bits - 1}))")
        return f"({y} < 0 || {y} >= {bits}) ? {beyond} : {safe}"

    def _div_trunc(self, s: Scalar, x: str, y: str) -> str:
        return self._whole(s, x, y)[0]

    def _rem_trunc(self, s: Scalar, x: str, y: str) -> str:
        return self._whole(s, x, y)[1]

    def _div_floor(self, s: Scalar, x: str, y: str) -> str:
        quotient, rest = self._whole(s, x, y)
        return self._wrapped(s, f"({quotient}) - (({rest}) != 0 && (({rest}) < 0) != ({y} < 0))")

    def _rem_floor(self, s: Scalar, x: str, y: str) -> str:
        _, rest = self._whole(s, x, y)
        return self._wrapped(s, f"({rest}) + ((({rest}) != 0 && (({rest}) < 0) != ({y} < 0)) ? {y} : 0)")

    def _whole(self, s: Scalar, x: str, y: str) -> tuple[str, str]:
        """Quotient and rest towards zero, for any divisor: 0 counts as 1, and -1 cannot overflow."""
        divisor = s.args[1]
        if divisor.constant and divisor.data not in (0, -1):
            return self._wrapped(s, f"{x} / {y}"), self._wrapped(s, f"{x} % {y}")
        if s.dtype == torch.uint8:
            safe = f"({y} == 0 ? 1 : {y})"
            return self._wrapped(s, f"{x} / {safe}"), self._wrapped(s, f"{x} % {safe}")
        safe = f"({y} == 0 || {y} == -1 ? 1 : {y})"
        quotient = f"{y} == -1 ? {self._neg(s, x)} : {self._wrapped(s, f'{x} / {safe}')}"
        return f"({quotient})", self._wrapped(s, f"{x} % {safe}")


def _is_turned(port: Port) -> bool:
    return port.layout == "rows" and port.dtype.itemsize == 4 and port.size >= NARROWEST


def _arrays(block: Block) -> list[object]:
    seen: dict[object, None] = {}
    for one in block.statements:
        if isinstance(one, Put) and not isinstance(one.target, Port):
            seen[one.target] = None
        elif isinstance(one, Loop):
            seen.update(dict.fromkeys(_arrays(one.body)))
    return list(seen)


def kernel_text(kernel: Kernel, number: Callable[[Port], int], *, listed: bool = False) -> str:
    """The C function of a kernel.

    Plain: `void name(char *const *p, int64_t n, int64_t lo, int64_t hi)` for rows lo..hi-1 of n. `listed`: for the
    `count` rows that `list` names. `p` holds a pointer a port. A kernel that writes a port of layout "any" returns
    the bits that any row set.
    """
    return _Writer(kernel, number, listed=listed).text()


def tables_text(kernels: Sequence[Kernel]) -> str:
    """The static arrays of the kernels."""
    lines: list[str] = []
    for kernel in kernels:
        for table in kernel.body.tables.values():
            values = ", ".join(literal(value, table.dtype) for value in table.values) or "0"
            lines.append(f"static const {C_MEMORY[table.dtype]} {table.name}[] = {{{values}}};")
    return "\n".join(lines)


__all__ = ["PRELUDE", "Index", "Table", "kernel_text", "tables_text"]
