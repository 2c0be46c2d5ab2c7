"""The scalar types of a lowered program: torch's dtypes, their C names, their literals and how they wrap."""

from __future__ import annotations

import math
import struct
from typing import Any

import torch

C_NAMES: dict[torch.dtype, str] = {
    torch.bool: "bool",
    torch.int8: "int8_t",
    torch.uint8: "uint8_t",
    torch.int16: "int16_t",
    torch.int32: "int32_t",
    torch.int64: "int64_t",
    torch.float32: "float",
    torch.float64: "double",
}
# How a type lies in memory; a bool is a byte that is 0 or 1.
C_MEMORY: dict[torch.dtype, str] = {**C_NAMES, torch.bool: "uint8_t"}
INDEX = torch.int64


def is_float(dtype: torch.dtype) -> bool:
    """Whether values of `dtype` are rounded."""
    return dtype.is_floating_point


def is_integer(dtype: torch.dtype) -> bool:
    """Whether values of `dtype` wrap; a bool does not."""
    return not dtype.is_floating_point and dtype != torch.bool


def coerce(value: Any, dtype: torch.dtype) -> Any:
    """A Python number as `dtype` holds it: wrapped, or rounded once to float32."""
    if dtype == torch.bool:
        return bool(value)
    if dtype == torch.float64:
        return float(value)
    if dtype == torch.float32:
        return _round32(value)
    bits = torch.iinfo(dtype).bits
    wrapped = int(value) & ((1 << bits) - 1)
    if dtype == torch.uint8 or wrapped < 1 << (bits - 1):
        return wrapped
    return wrapped - (1 << bits)


def _round32(value: float) -> float:
    if isinstance(value, int):  # by way of float64 it would be rounded twice
        return torch.tensor(value, dtype=torch.int64).to(torch.float32).item()
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:  # beyond float32: the nearest is an infinity
        return math.copysign(math.inf, value)


def literal(value: Any, dtype: torch.dtype) -> str:
    """The C literal of a value that `coerce` gave; floats are written by their bits, in hexadecimal."""
    if dtype == torch.bool:
        return "1" if value else "0"
    if is_float(dtype):
        suffix = "f" if dtype == torch.float32 else ""
        if math.isnan(value):
            return f'__builtin_nan{suffix}("")'
        text = f"__builtin_inf{suffix}()" if math.isinf(value) else f"{abs(value).hex()}{suffix}"
        return f"(-{text})" if math.copysign(1, value) < 0 else text
    if dtype == torch.int64:
        return "INT64_MIN" if value == -(2**63) else f"INT64_C({value})"
    return "INT32_MIN" if value == -(2**31) else str(value)
