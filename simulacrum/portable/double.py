"""The portable functions on Python floats, in float64.

Special values and the reduction of arguments are told apart with `if`; the arithmetic is in `kernels`.
"""

from __future__ import annotations

import math

from simulacrum.portable import coefficients as c
from simulacrum.portable import kernels

# Beyond this the reduction of an angle would need more digits of pi than it keeps; the answer there is NaN.
ANGLE_LIMIT = 1048576.0
# Below these, x itself is the nearest float64 (or within a third of a spacing of it).
TINY = 2.0**-28
# Arguments beyond these bounds give infinity or zero anyway; clamping keeps the powers of two in range.
EXP_LOWEST, EXP_HIGHEST = -760.0, 720.0
TANH_ONE = 22.0
# |y| above this only matters through its sign: x**y is 0, 1 or infinite.
POW_EXPONENT_LIMIT = 2.0**66
# A remainder is exact up to this quotient, for divisors from this one to that one; beyond, the answer is NaN.
QUOTIENT_LIMIT = 1048576.0
DIVISOR_LOWEST, DIVISOR_HIGHEST = 2.0**-900, 2.0**900
# Pairs of (high, low) for 0, pi/4, pi/2, 3 pi/4 and pi.
EIGHTHS_OF_TURN = (
    (0.0, 0.0),
    (c.QUARTER_PI_HIGH, c.QUARTER_PI_LOW),
    (c.HALF_PI_HIGH, c.HALF_PI_LOW),
    (c.THREE_QUARTER_PI_HIGH, c.THREE_QUARTER_PI_LOW),
    (c.PI_HIGH, c.PI_LOW),
)


def sqrt(x: float) -> float:
    """`math.sqrt`, which rounds correctly; NaN below zero, where that raises."""
    if x < 0.0 or x != x:
        return math.nan
    return math.sqrt(x)


def exp(x: float) -> float:
    """e to the x, within 0.9 ulp: 2**k exp(r) with |r| <= log(2) / 2, by a polynomial in r; 0.0 and inf at the ends."""
    if x != x:
        return math.nan
    return _exp_of_pair(min(max(x, EXP_LOWEST), EXP_HIGHEST), 0.0)


def log(x: float) -> float:
    """The natural logarithm of 2**k (1 + f), within 0.9 ulp, by a polynomial in (f / (2 + f))**2; -inf for zeros."""
    if x != x or x < 0.0:
        return math.nan
    if x == 0.0:
        return -math.inf
    if x == math.inf:
        return x
    if x == 1.0:
        return 0.0
    k, f = _exponent_and_rest(x)
    return kernels.log_reduced(k, f)


def tanh(x: float) -> float:
    """Within 0.9 ulp: (exp(2 |x|) - 1) / (exp(2 |x|) + 1), all in pairs, with the sign of x."""
    a = abs(x)
    if a < TINY:
        return x
    if x != x:
        return math.nan
    x2 = min(a, TANH_ONE) * 2.0
    k = math.floor(x2 * c.LOG2_E + 0.5)
    return math.copysign(kernels.tanh_positive(float(k), x2, math.ldexp(1.0, k)), x)


def remainder(x: float, y: float) -> float:
    """Python's x % y for y from DIVISOR_LOWEST to DIVISOR_HIGHEST and |x| <= y * QUOTIENT_LIMIT; NaN elsewhere."""
    if not (DIVISOR_LOWEST <= y <= DIVISOR_HIGHEST and abs(x) <= y * QUOTIENT_LIMIT):
        return math.nan
    return x % y


def sin(x: float) -> float:
    """Within 0.9 ulp up to ANGLE_LIMIT in size, NaN beyond.

    x is reduced by multiples of pi/2 held in four parts (after Cody and Waite 1980); the rest, a pair, goes into a
    polynomial on -pi/4..pi/4.
    """
    a = abs(x)
    if a < TINY:
        return x
    if not a <= ANGLE_LIMIT:
        return math.nan
    quadrant, y, low = _reduce_angle(a)
    part = kernels.cos_pair(y, low) if quadrant & 1 else kernels.sin_pair(y, low)
    value = part[0] + part[1]
    return -value if (quadrant >= 2) != (x < 0.0) else value


def cos(x: float) -> float:
    """As `sin`, in accuracy, limit and method."""
    a = abs(x)
    if not a <= ANGLE_LIMIT:
        return math.nan
    quadrant, y, low = _reduce_angle(a)
    part = kernels.sin_pair(y, low) if quadrant & 1 else kernels.cos_pair(y, low)
    value = part[0] + part[1]
    return -value if quadrant in (1, 2) else value


def tan(x: float) -> float:
    """Sine by cosine, both as pairs by the method of `sin`: within 1 ulp up to ANGLE_LIMIT in size, NaN beyond."""
    a = abs(x)
    if a < TINY:
        return x
    if not a <= ANGLE_LIMIT:
        return math.nan
    quadrant, y, low = _reduce_angle(a)
    sine = kernels.ordered_two_sum(*kernels.sin_pair(y, low))
    cosine = kernels.ordered_two_sum(*kernels.cos_pair(y, low))
    odd = quadrant & 1 == 1
    parts = kernels.divide_pairs(cosine, sine) if odd else kernels.divide_pairs(sine, cosine)
    value = parts[0] + parts[1]
    return -value if odd != (x < 0.0) else value


def atan2(y: float, x: float) -> float:
    """The angle of the point (x, y), -pi..pi, within 0.9 ulp; zeros and infinities as in C.

    A multiple of pi/4 and the arc tangent of what is left, by a polynomial on -tan(pi/8)..tan(pi/8).
    """
    if x != x or y != y:
        return math.nan
    a, b = abs(y), abs(x)
    if a == math.inf or b == math.inf:
        a, b = float(a == math.inf), float(b == math.inf)
    steep, left = a > b, math.copysign(1.0, x) < 0.0
    a, b = (b, a) if steep else (a, b)
    if b == 0.0:
        b = 1.0
    ratio = a / b
    far = a > b * c.TAN_PI_8
    if ratio < TINY:
        t, t_low = ratio, 0.0
    else:
        scale = 2.0**-600 if b > 2.0**500 else 2.0**600 if b < 2.0**-500 else 1.0
        a, b = a * scale, b * scale
        top = kernels.two_sum(a, -b) if far else (a, 0.0)
        bottom = kernels.two_sum(a, b) if far else (b, 0.0)
        t, t_low = kernels.divide_pairs(top, bottom)
    eighths = 1 if far else 0
    if steep:
        eighths, t, t_low = 2 - eighths, -t, -t_low
    if left:
        eighths, t, t_low = 4 - eighths, -t, -t_low
    return math.copysign(kernels.atan_sum(t, t_low, *EIGHTHS_OF_TURN[eighths]), y)


def pow(x: float, y: float) -> float:
    """exp(y log |x|) with the sign of x where y is odd, within 0.9 ulp; special values as in C.

    The logarithm is a pair (to 2**-64), since y magnifies what it is off.
    """
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return math.nan
    whole = math.isinf(y) or math.floor(y) == y
    negative = math.copysign(1.0, x) < 0.0
    if negative and x != 0.0 and x != -math.inf and not whole:
        return math.nan
    a = abs(x)
    if a == 0.0 or a == math.inf:
        value = math.inf if (a == 0.0) == (y < 0.0) else 0.0
    else:
        limited = min(max(y, -POW_EXPONENT_LIMIT), POW_EXPONENT_LIMIT)
        high, low = kernels.log_pair(*_exponent_and_rest(a))
        product, error = kernels.two_product(high, limited)
        low = error + low * limited
        if product > EXP_HIGHEST:
            product, low = EXP_HIGHEST, 0.0
        elif product < EXP_LOWEST:
            product, low = EXP_LOWEST, 0.0
        value = _exp_of_pair(product, low)
    odd = whole and not math.isinf(y) and math.floor(y * 0.5) * 2.0 != y
    return -value if negative and odd else value


def _exp_of_pair(high: float, low: float) -> float:
    k = math.floor(high * c.LOG2_E + 0.5)
    value = kernels.exp_pair(float(k), high, low)
    half = k >> 1
    # Two factors, because 2**k alone may be beyond the float64 range; only the last product can round.
    return value * math.ldexp(1.0, half) * math.ldexp(1.0, k - half)


def _exponent_and_rest(x: float) -> tuple[float, float]:
    """k and f with x = 2**k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for finite x > 0."""
    m, k = math.frexp(x)
    if m < c.SQRT_HALF:
        m, k = m * 2.0, k - 1
    return float(k), m - 1.0


def _reduce_angle(a: float) -> tuple[int, float, float]:
    """The quadrant (0..3) of an angle 0 <= a <= ANGLE_LIMIT, and its rest as a pair."""
    n = math.floor(a * c.TWO_OVER_PI + 0.5)
    y, low = kernels.quarter_turn(a, float(n))
    return n & 3, y, low
