"""Division by a constant without dividing: two products and a sum, where that is proven to round alike.

For a constant d let zh be 1/d rounded, and zl what is missing, rounded. Then x * zl rounded, added to x * zh in one
fused operation, is x / d correctly rounded, but for few x that can be listed and tried (Brisebarre, Muller and Raina,
"Accelerating correctly rounded floating-point division when the divisor is known in advance", IEEE Transactions on
Computers 53(8), 2004). A vector of divisions costs an order of magnitude more than one of products.

Only for x = 0 and 1 <= |x| <= 2**63, as an integer taken as a float is: there nothing underflows or overflows.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

_PRECISION = {32: 24, 64: 53}


def rounded(value: Fraction, precision: int) -> Fraction:
    """The nearest number of `precision` binary digits, ties to even; exponents have no bounds."""
    if value == 0:
        return value
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (exponent - precision + 1)
    return round(value / unit) * unit  # Fraction rounds to even


@functools.cache
def reciprocal_pair(divisor: float, bits: int) -> tuple[float, float] | None:
    """(zh, zl) for a divisor in float32 or float64 (`bits` 32 or 64), or None where no proof is at hand."""
    size = abs(divisor)
    if not 2.0**-60 <= size <= 2.0**60 or math.frexp(size)[0] == 0.5:  # a power of two divides exactly as it is
        return None
    p = _PRECISION[bits]
    exact = Fraction(divisor)
    high = rounded(1 / exact, p)
    low = rounded(1 / exact - high, p)
    if low == 0 or not all(_agrees(x, exact, high, low, p) for x in _hard(exact, p)):
        return None
    return float(high), float(low)


def _agrees(x: int, divisor: Fraction, high: Fraction, low: Fraction, p: int) -> bool:
    return rounded(x * high + rounded(x * low, p), p) == rounded(x / divisor, p)


def _hard(divisor: Fraction, p: int) -> list[int]:
    """Significands x whose quotient lies so near to the middle of two numbers that the error could matter.

    The value before the last rounding is off by at most 2**(1 - 2p) of itself (2**-p squared, once for zl and once for
    x * zl). Let D be the divisor's significand as an integer of p bits and s such that x * 2**s / D counts half
    units of the result's last place: the middle of two numbers is an odd count, and x can only be hard if the rest
    x * 2**s mod D is below 4 or above D - 4.
    """
    numerator = abs(divisor.numerator * divisor.denominator)  # one of them is a power of two
    odd = numerator >> ((numerator & -numerator).bit_length() - 1)
    significand = odd << (p - odd.bit_length())
    hard: list[int] = []
    for shift in (p, p + 1):
        for rest in (-3, -2, -1, 1, 2, 3):
            hard.extend(_solutions(1 << shift, rest, significand, 1 << (p - 1), 1 << p))
    return hard


def _solutions(factor: int, rest: int, modulus: int, low: int, high: int) -> list[int]:
    """Every x of low..high-1 with x * factor = rest modulo `modulus`."""
    common = math.gcd(factor, modulus)
    if rest % common:
        return []
    step = modulus // common
    if step == 1:
        return []  # D is a power of two
    first = rest // common * pow(factor // common, -1, step) % step
    start = first + -(-(low - first) // step) * step
    return list(range(start, high, step))
