"""CUDA text of the same scalar programs: one kernel a function, a row a thread. Not run on any device by the tests.

The program of a row is that of `emit`, statement by statement, and so is the memory: `p[0]` points to blocks of 64 rows
in which neighbouring threads find neighbouring words, the others to ports by `Memory.numbers`; `p` and all it points to
lie on the device. What differs: nothing is turned or listed, since a thread that begins an episode does so behind a
branch; floats are added, multiplied and divided by functions that are never contracted; integers wrap as unsigned
ones do, because no flag makes signed ones.

For each function named NAME, on rows lo..hi-1, with a thread for each row:

    NAME(char *const *p, int64_t lo, int64_t hi)
    NAME_check(char *const *p, int64_t lo, int64_t hi, int *refused)     sets bits of *refused: 1 refused, 2 a fault
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import torch

from simulacrum.lower.emit import Memory
from simulacrum.lower.kernel import Kernel
from simulacrum.lower.library import Function, Library
from simulacrum.lower.operations import expression
from simulacrum.lower.program import LANES, Array, Block, Loop, Port, Put, Scalar, Table, Update
from simulacrum.lower.runs import arrays_of
from simulacrum.lower.types import C_MEMORY, C_NAMES, is_float, is_integer, literal

_PRELUDE = """\
#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_C(x) x##LL
#else
#include <stdint.h>
#endif"""

_KERNEL = """\
extern "C" __global__ void {name}(char *const *p, int64_t lo, int64_t hi)
{{
  const int64_t i = lo + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= hi) return;
  {name}_rows(p, i);{restart}
}}"""
_RESTART = """
  if (((const uint8_t *)p[{mask}])[i]) {name}_restart(p, i);"""
_CHECK = """\
extern "C" __global__ void {name}_check(char *const *p, int64_t lo, int64_t hi, int *refused)
{{
  const int64_t i = lo + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= hi) return;
  const int32_t any = {name}_check_rows(p, i);
  if (any) atomicOr(refused, any);
}}"""


def cuda_source(library: Library, functions: Sequence[Function]) -> str:
    """The CUDA C++ text of a library.

    Args:
        library: what `make_library` made of `functions`; its memory is used as it is.
        functions: the same.
    """
    sizes = {"LANES": LANES, "BLOCK_BYTES": library.memory.block_bytes}
    texts = ["\n".join(f"#define {name} {value}" for name, value in sizes.items()), _PRELUDE]
    for kernel in library.kernels.values():
        texts += [_table(table) for table in kernel.body.tables.values()]
        texts.append(_Writer(kernel, library.memory).text())
    for function in functions:
        restart = ""
        if library.split[function.name] and function.restart is not None:
            restart = _RESTART.format(name=function.name, mask=library.memory.numbers[function.restart])
        if function.refuse is not None:
            texts.append(_CHECK.format(name=function.name))
        texts.append(_KERNEL.format(name=function.name, restart=restart))
    return "\n\n".join(texts) + "\n"


class _Writer:
    """Writes what one row does, as a function of the device."""

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        self.kernel, self.memory = kernel, memory
        self.lines: list[str] = []

    def text(self) -> str:
        """The device function of one row; it returns the bits that the row sets, if the kernel sets any."""
        touched = self.kernel.read | self.kernel.written
        flags = any(port.layout == "any" for port in touched)
        self.lines += [
            f"static __device__ {'int32_t' if flags else 'void'} {self.kernel.name}(char *const *p, int64_t i)",
            "{",
            "  const int64_t l = i % LANES;",
            "  char *b = p[0] + i / LANES * BLOCK_BYTES;",
            "  (void)b, (void)l;",
        ]
        for port in (port for port in self.memory.numbers if port in touched):
            c_type, number = C_MEMORY[port.dtype], self.memory.numbers[port]
            const = "" if port in self.kernel.written else "const "
            self.lines.append(f"  {const}{c_type} *p{number} = ({const}{c_type} *)p[{number}];")
        if flags:
            self.lines.append("  int32_t any = 0;")
        for array in arrays_of(self.kernel.body.root):
            self.lines.append(f"  {C_MEMORY[array.dtype]} {array.name}[{array.size}];")
        self._statements(self.kernel.body.root, "  ")
        self.lines += ["  return any;", "}"] if flags else ["}"]
        return "\n".join(self.lines)

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
                self.lines.append(f"{indent}v{one.variable.number} = {_name(one.value)};")
            else:
                self.lines.append(f"{indent}{self._put(one)}")

    def _put(self, put: Put) -> str:
        if isinstance(put.target, Port) and put.target.layout == "any":
            return f"any |= (int32_t){_name(put.value)} << {_name(put.index)};"
        return f"{self._element(put.target, put.index)} = {_name(put.value)};"

    def _value(self, s: Scalar) -> str:
        if s.op == "load":
            text = self._element(s.data, s.args[0])
            return f"{text} != 0" if s.dtype == torch.bool else text
        return f"({C_NAMES[s.dtype]})i" if s.op == "row" else device_expression(s, [_name(arg) for arg in s.args])

    def _element(self, source: Array | Table | Port, index: Scalar) -> str:
        """One element of this row's part of `source`."""
        place = str(index.data) if index.constant else _name(index)
        if not isinstance(source, Port):
            return f"{source.name}[{place}]"
        if source.layout == "blocks":
            start = self.memory.starts[source]
            return f"(({C_MEMORY[source.dtype]} *)(b + {start}))[{place} * LANES + l]"
        number = self.memory.numbers[source]
        return f"p{number}[{place}]" if source.layout == "one" else f"p{number}[i * {source.size} + {place}]"


# --- expressions -----------------------------------------------------------------------------------------------------

_BITS = {
    torch.float64: "__longlong_as_double",
    torch.int64: "__double_as_longlong",
    torch.float32: "__int_as_float",
    torch.int32: "__float_as_int",
}


def device_expression(s: Scalar, args: Sequence[str]) -> str:
    """The expression of `s` on the device: that of `operations`, but for what C's flags and builtins do elsewhere."""
    if is_integer(s.dtype) and s.op in ("add", "sub", "mul"):
        wide = "uint64_t" if s.dtype == torch.int64 else "uint32_t"
        x, y = (f"({wide}){arg}" for arg in args)
        return f"({C_NAMES[s.dtype]})({x} {'+-*'[('add', 'sub', 'mul').index(s.op)]} {y})"
    if s.op == "bits":
        return f"{_BITS[s.dtype]}({args[0]})"
    return _float_expression(s, args) if is_float(s.dtype) else expression(s, args)


def _float_expression(s: Scalar, args: Sequence[str]) -> str:
    f, suffix = ("f", "f") if s.dtype == torch.float32 else ("d", "")
    if s.op in ("add", "sub", "mul", "div"):  # __fadd_rn, __dadd_rn, ...: rounded by themselves
        return f"__{f}{s.op}_rn({args[0]}, {args[1]})"
    if s.op == "sqrt":
        return f"__{f}sqrt_rn({args[0]})"
    if s.op == "div_known":
        high, low = (literal(part, s.dtype) for part in s.data)
        fused = "__fmaf_rn" if f == "f" else "__fma_rn"
        return f"{fused}({args[0]}, {high}, __{f}mul_rn({args[0]}, {low}))"
    if s.op in ("floor", "ceil", "trunc", "rint", "abs"):
        return f"{'fabs' if s.op == 'abs' else s.op}{suffix}({args[0]})"
    return expression(s, args)


def _name(scalar: Scalar) -> str:
    return _literal(scalar.data, scalar.dtype) if scalar.constant else f"v{scalar.number}"


def _literal(value: Any, dtype: torch.dtype) -> str:
    """The literal of a value; infinities and NaNs by their bits, since the device has no builtins for them."""
    if not is_float(dtype) or math.isfinite(value):
        return literal(value, dtype)
    if dtype == torch.float32:
        return f"__int_as_float(0x{struct.unpack('<I', struct.pack('<f', value))[0]:08x})"
    return f"__longlong_as_double(0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x})"


def _table(table: Table) -> str:
    values = ", ".join(_literal(value, table.dtype) for value in table.values) or "0"
    return f"static __device__ const {C_MEMORY[table.dtype]} {table.name}[] = {{{values}}};"


__all__ = ["cuda_source", "device_expression"]
