"""Arguments of a draw that are plain numbers: checked, and rounded to the slot's dtype, for both twins.

Everything here is host arithmetic on Python floats whose results are exactly representable in the slot's
dtype, so that handing them to a torch operation of that dtype rounds nothing a second time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from simulacrum.errors import DrawError
from simulacrum.portable.bits import round32, round32_integer
from simulacrum.portable.float32 import Float32
from simulacrum.rng.layout import Slot

# From here up u * x < x holds for every u < 1 after rounding; among the subnormal numbers below it need not.
SMALLEST = {"float32": 2.0**-125, "float64": 2.0**-1021}
# The multiply-shift of one word, and of two, stays inside 64 bits and keeps its bias bound up to these spans.
MAX_SPAN = {"int32": 2**16, "int64": 2**31}
_RANGE = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


class Bounds(NamedTuple):
    """Bounds of a uniform draw: low + u * width, and low in its place where rounding made it reach high."""

    low: float
    high: float
    width: float


class Span(NamedTuple):
    """Bounds of an integer draw: low, and how many integers there are from low on."""

    low: int
    size: int


def rounded(value: Any, slot: Slot, name: str) -> float:
    """`value` as a float of the slot's dtype, rounded once. Raises DrawError for what is no finite number."""
    if type(value) is Float32 and slot.dtype == "float32" and -math.inf < float(value) < math.inf:
        return float(value)
    given: Any = value
    plain: Any = given.item() if hasattr(given, "item") else given  # NumPy scalars
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise _bad(slot, f"{name} is not a number", "an int or a float", repr(value))
    if slot.dtype == "float32":
        number = round32_integer(plain) if isinstance(plain, int) else round32(float(plain))
    else:
        number = float(plain)
    if not math.isfinite(number):
        raise _bad(slot, f"{name} is not finite in {slot.dtype}", "a finite number", value)
    return number


def uniform_bounds(low: Any, high: Any, slot: Slot) -> Bounds:
    """Rounded bounds. Raises DrawError when high < low, or when their distance overflows the dtype."""
    a, b = rounded(low, slot, "low"), rounded(high, slot, "high")
    if b < a:
        raise _bad(slot, "high is below low", "low <= high", f"low={low}, high={high}")
    width = round32(b - a) if slot.dtype == "float32" else b - a
    if not math.isfinite(width):
        raise _bad(slot, f"high - low overflows {slot.dtype}", "a finite distance", f"low={low}, high={high}")
    return Bounds(a + 0.0, b, width)  # + 0.0: a low of -0.0 becomes 0.0


def integer_span(low: Any, high: Any, slot: Slot) -> Span:
    """Bounds of low..high-1. Raises DrawError where that is nothing, too much, or not in the dtype."""
    a, b = whole(low, slot, "low"), whole(high, slot, "high")
    size, most = b - a, MAX_SPAN[slot.dtype]
    least, top = _RANGE[slot.dtype]
    if size < 1:
        raise _bad(slot, "there is no integer to draw", "low < high", f"low={a}, high={b}")
    if size > most:
        wider = "; declare dtype int64 for up to 2**31" if slot.dtype == "int32" else ""
        raise _bad(slot, "too many integers to draw from", f"high - low <= {most}{wider}", size)
    if a < least or b - 1 > top:
        raise _bad(slot, f"bounds do not fit {slot.dtype}", f"{least}..{top}", f"low={a}, high={b}")
    return Span(a, size)


def whole(value: Any, slot: Slot, name: str) -> int:
    """`value` as an int. Raises DrawError for floats, booleans and everything else that is no integer."""
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return int(value.__index__())
    raise _bad(slot, f"{name} is not an integer", "an int", repr(value))


def probability(p: Any, slot: Slot) -> float:
    """Rounded probability. Raises DrawError outside 0..1 and for NaN."""
    number = rounded(p, slot, "p")
    if not 0.0 <= number <= 1.0:
        raise _bad(slot, "p is no probability", "0 <= p <= 1", p)
    return number


def location_scale(mean: Any, std: Any, slot: Slot) -> tuple[float, float]:
    """Rounded mean and standard deviation. Raises DrawError for a negative std."""
    a, b = rounded(mean, slot, "mean"), rounded(std, slot, "std")
    if b < 0.0:
        raise _bad(slot, "std is negative", "std >= 0", std)
    return a, b


def cumulative(weights: Sequence[Any], slot: Slot) -> tuple[float, ...]:
    """Sums of the first 1, 2, ... weights, each addition rounded.

    Weights need not sum to one. Raises DrawError unless all are finite and none negative, and unless their
    total is finite and at least `SMALLEST`.
    """
    total, sums = 0.0, list[float]()
    for position, weight in enumerate(weights):
        number = rounded(weight, slot, f"weights[{position}]")
        if number < 0.0:
            raise _bad(slot, f"weights[{position}] is negative", "weights >= 0", weight)
        total = round32(total + number) if slot.dtype == "float32" else total + number
        sums.append(total)
    if not SMALLEST[slot.dtype] <= total < math.inf:
        message = "the weights choose nothing" if total < 1.0 else f"the total weight overflows {slot.dtype}"
        raise _bad(slot, message, "a positive, finite total", f"total {total} of {len(sums)} weights")
    return tuple(sums)


def _bad(slot: Slot, message: str, expected: object, found: object) -> DrawError:
    where = f"slot {slot.name!r} ({slot.distribution}, {slot.dtype}) at {slot.phase}"
    return DrawError(f"{message}, in slot {slot.name!r}", expected=expected, found=found, where=where)
