"""Floats as bit patterns, and rounding to float32, in plain Python: no NumPy, no torch.

`round32` is the one place where a scalar is narrowed to float32; everything else in the room goes through it, except
that `Float32` writes it out in its operations, for speed.
"""

from __future__ import annotations

import math
from struct import Struct

NAN32 = 0x7FC00000
NAN64 = 0x7FF8000000000000

FLOAT = Struct("=f")
_DOUBLE = Struct("=d")
_WORD = Struct("=I")
_LONG = Struct("=Q")
_pack_float, _unpack_float = FLOAT.pack, FLOAT.unpack

# The largest integer below which every integer is a float64, so that `float(n)` has not rounded yet.
_EXACT_INTEGER = 1 << 53


def round32(value: float) -> float:
    """The float32 nearest to `value` (ties to even), as a Python float; infinite beyond the float32 range."""
    try:
        return _unpack_float(_pack_float(value))[0]
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def round32_integer(value: int) -> float:
    """The float32 nearest to an int of any size, rounded once: float64 on the way would round twice."""
    magnitude = abs(value)
    if magnitude > _EXACT_INTEGER:
        # Keep 40 leading bits and a sticky bit: enough to decide the rounding to 24, and exact in float64.
        shift = magnitude.bit_length() - 40
        kept = (magnitude >> shift) | (magnitude & ((1 << shift) - 1) != 0)
        if shift + 40 > 1023:
            return math.inf if value > 0 else -math.inf
        magnitude = math.ldexp(float(kept), shift)
        return round32(magnitude if value > 0 else -magnitude)
    return round32(float(value))


def bits32(value: float) -> int:
    """The float32 bit pattern of `value` (rounded to float32 first) as an int in 0..2**32-1."""
    return _WORD.unpack(_pack_float(round32(value)))[0]


def bits64(value: float) -> int:
    """The float64 bit pattern of `value` as an int in 0..2**64-1."""
    return _LONG.unpack(_DOUBLE.pack(value))[0]


def from_bits32(bits: int) -> float:
    """The Python float that equals the float32 with this bit pattern (0..2**32-1)."""
    return _unpack_float(_WORD.pack(bits))[0]


def from_bits64(bits: int) -> float:
    """The Python float with this bit pattern (0..2**64-1)."""
    return _DOUBLE.unpack(_LONG.pack(bits))[0]


def ulp_distance(first: float, second: float, width: int = 64) -> int | None:
    """How many representable floats of `width` bits (32 or 64) lie between two values.

    0 for equal values (and between 0.0 and -0.0), None when exactly one of them is NaN, 0 when both are.
    """
    if width not in (32, 64):
        raise ValueError(f"width is 32 or 64, not {width}")
    if math.isnan(first) or math.isnan(second):
        return 0 if math.isnan(first) and math.isnan(second) else None
    bits = bits32 if width == 32 else bits64
    sign = 1 << (width - 1)

    def place(value: float) -> int:
        pattern = bits(value)
        return pattern if pattern < sign else sign - pattern

    return abs(place(first) - place(second))
