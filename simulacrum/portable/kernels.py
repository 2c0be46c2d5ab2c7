"""The arithmetic of the portable functions, written once for Python floats and float64 tensors.

Only + - * / appear here, each one rounded by IEEE 754, so a float and a tensor element that take the same
path get the same bits. Finding the path (special values, range reduction by exponent, selection) is done
by `scalar.py` with `if` and by `tensor.py` with `where`; every function below expects its argument
already reduced, finite and float64.

"Pair" means a value held as the unevaluated sum of two float64, the second far below the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from simulacrum.portable import coefficients as c

Number = TypeVar("Number", bound=Any)
Pair = tuple[Number, Number]

# 2**27 + 1: multiplying by it cuts a float64 into two halves whose products are exact (Dekker 1971, after
# Veltkamp).
_SPLITTER = 134217729.0


def polynomial(z: Number, coefficients: Sequence[float]) -> Number:
    """`c0 + c1 z + c2 z**2 + ...` by Horner's rule, multiply and add apart."""
    total = z * coefficients[-1] + coefficients[-2]
    for coefficient in reversed(coefficients[:-2]):
        total = total * z + coefficient
    return total


def two_sum(a: Number, b: Number) -> Pair[Number]:
    """The rounded sum and its exact error (Knuth), for any a and b."""
    total = a + b
    moved = total - a
    return total, (a - (total - moved)) + (b - moved)


def ordered_two_sum(a: Any, b: Any) -> Pair[Any]:
    """The rounded sum and its exact error, where |a| >= |b| or a is 0 (Dekker)."""
    total = a + b
    return total, b - (total - a)


def two_product(a: Number, b: Number) -> Pair[Number]:
    """The rounded product and its exact error, without fused multiply-add (Dekker); |a|, |b| below 2**990."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Number) -> Pair[Number]:
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def nearest_rest(a: Number, b: Number, quotient: Number) -> Number:
    """a - quotient * b, exactly; the quotient is a / b rounded to a nearest integer up to 2**20, or 0 where a < b.

    b is cut into two halves of 26 bits, so that both products are exact. Where a is not below b, what is left of it
    after the first is a multiple of b's last place, and of no more places than a float64 has.
    """
    high, low = _halves(b)
    return (a - quotient * high) - quotient * low


def divide_pairs(numerator: Pair[Number], denominator: Pair[Number]) -> Pair[Number]:
    """The quotient of two pairs as a rounded quotient and its correction."""
    quotient = numerator[0] / denominator[0]
    product, error = two_product(quotient, denominator[0])
    rest = ((numerator[0] - product) - error) + (numerator[1] - quotient * denominator[1])
    return quotient, rest / denominator[0]


def sqrt_step(m: Number, estimate: Number) -> tuple[Number, Number]:
    """For 1 <= m < 4: the exact value of m - estimate**2, and the largest such value a correct estimate
    may have.

    With u the spacing of floats below 2 (2**-52), `estimate` is the correctly rounded root exactly when
    -limit < residual <= limit; else the root is one u above or below.
    """
    product, error = two_product(estimate, estimate)
    return (m - product) - error, estimate * 2.220446049250313e-16


def exp_reduced(k: Number, high: Number, low: Number) -> Pair[Number]:
    """For high + low = k log 2 + r with |r| <= 0.35: h and l with h + l = exp(r) - 1, h being the larger."""
    r_high = high - k * c.LN2_HIGH
    r_low = low - k * c.LN2_LOW
    r = r_high + r_low
    return r_high, r * r * polynomial(r, c.EXP) + r_low


def exp_pair(k: Number, high: Number, low: Number) -> Number:
    """exp(high + low) / 2**k, in [0.7, 1.42]."""
    rest = exp_reduced(k, high, low)
    total, error = ordered_two_sum(1.0, rest[0])
    return total + (error + rest[1])


def tanh_positive(k: Number, x2: Number, power: Number) -> Number:
    """tanh(x2 / 2) for 0 < x2 <= 44, with k as in `exp_reduced` and power = 2**k."""
    h, rest = exp_reduced(k, x2, 0.0)
    # exp(x2) - 1 and exp(x2) + 1 as pairs, from power * (1 + h + rest).
    h, rest = two_sum(h, rest)
    moved, rest = power * h, power * rest
    top = _add_to_pair(ordered_two_sum(power, -1.0), moved, rest)
    bottom = _add_to_pair(ordered_two_sum(power, 1.0), moved, rest)
    quotient, correction = divide_pairs(top, bottom)
    return quotient + correction


def _add_to_pair(pair: Pair[Number], high: Number, low: Number) -> Pair[Number]:
    total, error = two_sum(pair[0], high)
    return total, error + (pair[1] + low)


def log_reduced(k: Number, f: Number) -> Number:
    """log(2**k * (1 + f)) for sqrt(1/2) <= 1 + f < sqrt(2)."""
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    correction = s * (half + z * polynomial(z, c.LOG)) + k * c.LN2_LOW
    return k * c.LN2_HIGH - ((half - correction) - f)


def log_pair(k: Number, f: Number) -> Pair[Number]:
    """The same as a pair, to about 2**-64 of its value."""
    d, d_error = ordered_two_sum(2.0, f)
    s, s_low = divide_pairs((f, f * 0.0), (d, d_error))
    z, z_low = two_product(s, s)
    z_low = z_low + (s * s_low) * 2.0
    # 1/3 + z (1/5 + z/7 + ...), then times z, then times s: each step keeps what it rounds away.
    a, a_low = ordered_two_sum(c.THIRD_HIGH, z * polynomial(z, c.LOG_TAIL))
    a_low = a_low + c.THIRD_LOW
    t, t_low = two_product(z, a)
    t_low = t_low + (z * a_low + z_low * a)
    u, u_low = two_product(s, t)
    u_low = u_low + (s * t_low + s_low * t)
    s, s_error = ordered_two_sum(s, u)
    low = s_error + (s_low + u_low)
    total, error = two_sum(k * c.LN2_HIGH, s * 2.0)
    return ordered_two_sum(total, error + (k * c.LN2_LOW + low * 2.0))


def quarter_turn(a: Number, n: Number) -> Pair[Number]:
    """a - n pi/2 as a pair, for whole n, 0 <= n <= 2**20: exact products, and every cancelled bit kept."""
    first, second, third, rest = c.HALF_PI_PARTS
    y = a - n * first
    y, error = two_sum(y, n * -second)
    y, error2 = two_sum(y, n * -third)
    return ordered_two_sum(y, (error + error2) - n * rest)


def sin_pair(y: Number, low: Number) -> Pair[Number]:
    """sin(y + low) for |y| <= pi/4, as the sum of two parts."""
    z = y * y
    return y, (z * y) * polynomial(z, c.SIN) + low * (1.0 - z * 0.5)


def cos_pair(y: Number, low: Number) -> Pair[Number]:
    """cos(y + low) for |y| <= pi/4, as the sum of two parts."""
    z = y * y
    half = z * 0.5
    first = 1.0 - half
    return first, ((1.0 - first) - half) + (z * z * polynomial(z, c.COS) - y * low)


def atan_sum(t: Number, t_low: Number, base: Number, base_low: Number) -> Number:
    """base + base_low + atan(t + t_low) for |t| <= tan(pi/8), where base is 0 or above |t|."""
    z = t * t
    rest = (z * t) * polynomial(z, c.ATAN) + t_low
    total, error = ordered_two_sum(base, t)
    return total + (error + (rest + base_low))
