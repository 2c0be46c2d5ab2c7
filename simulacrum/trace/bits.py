"""The bits of single values, and how a scalar is spelled on paper (see `values.py`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simulacrum.contract.fields import INTEGER_RANGES
from simulacrum.portable.bits import NAN32, NAN64, bits32, bits64, from_bits32, from_bits64

HEX_DIGITS = {"float32": 8, "float64": 16}  # hex digits of a float's bits
_NAN = {"float32": NAN32, "float64": NAN64}
_INFINITE_32 = 0x7F800000
_WHOLE = {**INTEGER_RANGES, "uint32": (0, 2**32 - 1)}  # words of draws are uint32


def float_bits(value: float, dtype: str) -> int:
    """The bits of a float as float32 or float64. Raises OverflowError for a finite value beyond float32."""
    if dtype == "float64":
        return bits64(value)
    bits = bits32(value)
    if bits & 0x7FFFFFFF == _INFINITE_32 and not math.isinf(value):
        raise OverflowError(f"{value} does not fit in float32")
    return bits


def from_bits(bits: int, dtype: str) -> float:
    """The float with these bits as float32 or float64."""
    return from_bits32(bits) if dtype == "float32" else from_bits64(bits)


def round_to(value: float, dtype: str) -> float:
    """The nearest float of the dtype, ties to even. Raises OverflowError for a finite value beyond
    float32."""
    return from_bits(float_bits(value, dtype), dtype)


def bits_of(value: Any, dtype: str) -> str | None:
    """The bits of a scalar in its dtype as hex of full width (two's complement for integers); None when
    the value is none of that dtype."""
    if dtype == "bool":
        return f"0x{int(value):02x}" if isinstance(value, bool) else None
    if dtype in _WHOLE:
        low, high = _WHOLE[dtype]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            return None
        width = int(dtype.lstrip("uint"))
        return f"0x{value & (2**width - 1):0{width // 4}x}"
    if dtype not in HEX_DIGITS or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return f"0x{float_bits(float(value), dtype):0{HEX_DIGITS[dtype]}x}"
    except OverflowError:
        return None


def spell_scalar(value: Any, dtype: str) -> Any:
    """A scalar in memory as its JSON value as `values.py` lists the spellings."""
    if dtype not in HEX_DIGITS:
        return value
    value = float(value)
    if math.isnan(value):
        bits = float_bits(value, dtype)
        return "nan" if bits == _NAN[dtype] else f"nan:0x{bits:0{HEX_DIGITS[dtype]}x}"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if dtype == "float32":
        brief = float(str(np.float32(value)))
        # The shortest decimal is read as a float64 first; should that ever round twice, the long one is
        # exact.
        return brief if round_to(brief, dtype) == value else value
    return value
