"""Bringing float64 tensors into the ranges that `kernels` works on: `where` and bits instead of `if`."""

from __future__ import annotations

import torch
from torch import Tensor

from simulacrum.portable import coefficients as c
from simulacrum.portable import kernels
from simulacrum.portable.double import ANGLE_LIMIT, EXP_HIGHEST, EXP_LOWEST, TINY

# Bits of sqrt(1/2): a significand is taken from [sqrt(1/2), sqrt(2)), so that log is small near 1 from
# both sides.
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_SMALLEST_NORMAL = 2.0**-1022


def choose(condition: Tensor, yes: kernels.Pair[Tensor], no: kernels.Pair[Tensor]) -> kernels.Pair[Tensor]:
    return torch.where(condition, yes[0], no[0]), torch.where(condition, yes[1], no[1])


def sign_and_size(x: Tensor) -> tuple[Tensor, Tensor]:
    """-1.0 or 1.0 by the sign bit (so -0.0 counts as negative), and |x|. The product keeps the slope at 0."""
    sign = torch.where(x.view(torch.int64) < 0, -1.0, 1.0).to(torch.float64)
    return sign, x * sign


def power_of_two(k: Tensor) -> Tensor:
    """2**k as float64 for int64 k in -1022..1023, put together from its bits."""
    return ((k + 1023) << 52).view(torch.float64)


def exponent_and_rest(x: Tensor) -> tuple[Tensor, Tensor]:
    """k (as float64) and f with x = 2**k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for finite x > 0."""
    small = x < _SMALLEST_NORMAL
    x = torch.where(small, x * 2.0**54, x)
    k = (x.view(torch.int64) - _SQRT_HALF_BITS) >> 52
    half = (-k) >> 1
    m = x * power_of_two(half) * power_of_two(-k - half)
    return torch.where(small, k - 54, k).to(torch.float64), m - 1.0


def power_of_four(x: Tensor) -> tuple[Tensor, Tensor]:
    """k (int64) and m with x = 4**k m, 1 <= m < 4, for finite x > 0."""
    small = x < _SMALLEST_NORMAL
    x = torch.where(small, x * 2.0**54, x)
    k = ((x.view(torch.int64) >> 52) - 1023) >> 1
    m = x * power_of_two(-k) * power_of_two(-k)
    return torch.where(small, k - 27, k), m


def exp_of_pair(high: Tensor, low: Tensor | float) -> Tensor:
    """exp(high + low), elementwise, for EXP_LOWEST <= high <= EXP_HIGHEST; 0.0 or inf at the ends."""
    k = torch.floor(high * c.LOG2_E + 0.5)
    value = kernels.exp_pair(k, high, low)
    whole = k.to(torch.int64)
    half = whole >> 1
    # Two factors, because 2**k alone may be beyond the float64 range; only the last product can round.
    return value * power_of_two(half) * power_of_two(whole - half)


def pow_positive(a: Tensor, y: Tensor) -> Tensor:
    """a**y for finite a > 0 and |y| <= POW_EXPONENT_LIMIT."""
    high, low = kernels.log_pair(*exponent_and_rest(a))
    product, error = kernels.two_product(high, y)
    low = error + low * y
    inside = (product >= EXP_LOWEST) & (product <= EXP_HIGHEST)
    return exp_of_pair(product.clamp(EXP_LOWEST, EXP_HIGHEST), torch.where(inside, low, 0.0))


def sine_and_cosine(a: Tensor) -> tuple[Tensor, kernels.Pair[Tensor], kernels.Pair[Tensor]]:
    """The quadrant (0..3, int64) of angles a >= 0, and the sine and cosine of what is left.

    Angles above ANGLE_LIMIT count as 0.
    """
    a = torch.where(a <= ANGLE_LIMIT, a, 0.0)
    n = torch.floor(a * c.TWO_OVER_PI + 0.5)
    y, low = kernels.quarter_turn(a, n)
    return n.to(torch.int64) & 3, kernels.sin_pair(y, low), kernels.cos_pair(y, low)


def slope(a: Tensor, b: Tensor, far: Tensor) -> kernels.Pair[Tensor]:
    """a / b, or (a - b) / (a + b) where `far`, as a pair; 0 <= a <= b, b > 0."""
    ratio = a / b
    tiny = ratio < TINY
    one = torch.ones_like(b)
    scale = torch.where(b > 2.0**500, one * 2.0**-600, torch.where(b < 2.0**-500, one * 2.0**600, one))
    a, b = torch.where(tiny, 0.0, a) * scale, b * scale
    zero = torch.zeros_like(a)
    top = choose(far, kernels.two_sum(a, -b), (a, zero))
    bottom = choose(far, kernels.two_sum(a, b), (b, zero))
    t, t_low = kernels.divide_pairs(top, bottom)
    return torch.where(tiny, ratio, t), torch.where(tiny, 0.0, t_low)
