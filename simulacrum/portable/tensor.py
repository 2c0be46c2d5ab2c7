"""Portable numbers on torch tensors: float32 and float64, any shape, same bits as
`simulacrum.portable.scalar`.

The functions are pure, keep shape, dtype and device, and are made of operations whose result is fixed by
IEEE 754 (see docs/portable-numbers.md), so a row has the same bits alone or in a batch, eager or compiled
by inductor, and as a scalar. They trace into one graph, export with dynamic shapes, and can be
differentiated. float32 tensors are computed in float64 and rounded once. A NaN always has the same
(positive, quiet) bits.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from simulacrum.portable import coefficients as c
from simulacrum.portable import kernels
from simulacrum.portable.double import (
    ANGLE_LIMIT,
    DIVISOR_HIGHEST,
    DIVISOR_LOWEST,
    EIGHTHS_OF_TURN,
    EXP_HIGHEST,
    EXP_LOWEST,
    POW_EXPONENT_LIMIT,
    QUOTIENT_LIMIT,
    TANH_ONE,
    TINY,
)
from simulacrum.portable.reduction import (
    choose,
    exp_of_pair,
    exponent_and_rest,
    pow_positive,
    power_of_four,
    power_of_two,
    sign_and_size,
    sine_and_cosine,
    slope,
)

__all__ = [
    "atan2",
    "cos",
    "exp",
    "log",
    "ordered_sum",
    "positive_zero",
    "pow",
    "remainder",
    "sin",
    "sqrt",
    "tan",
    "tanh",
]


def sqrt(x: Tensor) -> Tensor:
    """The correctly rounded square root, elementwise; NaN below zero, -0.0 for -0.0."""
    _check(x)
    if x.dtype == torch.float32:
        # A root in float64 may be one spacing off, but a root of a float32 is never that near to a tie of
        # float32.
        return torch.where(x >= 0.0, torch.sqrt(x.double()), math.nan).to(x.dtype)
    usual = (x > 0.0) & (x < math.inf)
    k, m = power_of_four(torch.where(usual, x, 1.0))
    estimate = torch.sqrt(m)
    residual, limit = kernels.sqrt_step(m, estimate)
    root = torch.where(residual > limit, estimate + 2.0**-52, estimate)
    root = torch.where(residual <= -limit, estimate - 2.0**-52, root)
    root = root * power_of_two(k)
    return torch.where(usual, root, torch.where(x < 0.0, math.nan, _plain_nan(x)))


def exp(x: Tensor) -> Tensor:
    """e to the x, elementwise."""
    _check(x)
    wide = x.double()
    number = wide == wide
    limited = torch.where(number, wide, 0.0).clamp(EXP_LOWEST, EXP_HIGHEST)
    return torch.where(number, exp_of_pair(limited, 0.0), math.nan).to(x.dtype)


def log(x: Tensor) -> Tensor:
    """The natural logarithm, elementwise; -inf for either zero, NaN below zero."""
    _check(x)
    wide = x.double()
    usual = (wide > 0.0) & (wide < math.inf)
    value = kernels.log_reduced(*exponent_and_rest(torch.where(usual, wide, 1.0)))
    value = torch.where(wide == 1.0, wide - 1.0, value)  # +0.0 whatever a compiler does with signs of zero
    special = torch.where(wide == 0.0, -math.inf, torch.where(wide == math.inf, math.inf, math.nan))
    return torch.where(usual, value, special).to(x.dtype)


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise."""
    _check(x)
    wide = x.double()
    sign, a = sign_and_size(wide)
    tiny = a < TINY
    x2 = torch.where(tiny | (a != a), 1.0, a).clamp(max=TANH_ONE) * 2.0
    k = torch.floor(x2 * c.LOG2_E + 0.5)
    value = kernels.tanh_positive(k, x2, power_of_two(k.to(torch.int64))) * sign
    return torch.where(tiny, wide, torch.where(a == a, value, math.nan)).to(x.dtype)


def sin(x: Tensor) -> Tensor:
    """The sine of x in radians, elementwise; NaN where |x| > `2**20`."""
    _check(x)
    wide = x.double()
    sign, a = sign_and_size(wide)
    quadrant, sine, cosine = sine_and_cosine(a)
    value = torch.where((quadrant & 1) == 1, cosine[0] + cosine[1], sine[0] + sine[1])
    value = value * torch.where(quadrant >= 2, -sign, sign)
    value = torch.where(a <= ANGLE_LIMIT, value, math.nan)
    return torch.where(a < TINY, wide, value).to(x.dtype)


def cos(x: Tensor) -> Tensor:
    """The cosine of x in radians, elementwise; NaN where |x| > `2**20`."""
    _check(x)
    a = sign_and_size(x.double())[1]
    quadrant, sine, cosine = sine_and_cosine(a)
    value = torch.where((quadrant & 1) == 1, sine[0] + sine[1], cosine[0] + cosine[1])
    value = torch.where((quadrant == 1) | (quadrant == 2), -value, value)
    return torch.where(a <= ANGLE_LIMIT, value, math.nan).to(x.dtype)


def tan(x: Tensor) -> Tensor:
    """The tangent of x in radians, elementwise; NaN where |x| > `2**20`."""
    _check(x)
    wide = x.double()
    sign, a = sign_and_size(wide)
    tiny = a < TINY
    quadrant, sine, cosine = sine_and_cosine(torch.where(tiny, 1.0, a))
    sine, cosine = kernels.ordered_two_sum(*sine), kernels.ordered_two_sum(*cosine)
    odd = (quadrant & 1) == 1
    parts = kernels.divide_pairs(choose(odd, cosine, sine), choose(odd, sine, cosine))
    value = (parts[0] + parts[1]) * torch.where(odd, -sign, sign)
    value = torch.where(a <= ANGLE_LIMIT, value, math.nan)
    return torch.where(tiny, wide, value).to(x.dtype)


def atan2(y: Tensor | float, x: Tensor | float) -> Tensor:
    """The angle of the point (x, y) in radians, -pi..pi, with the signed zeros and infinities of C's atan2.

    One argument may be a Python number. Shapes broadcast.
    """
    y, x = _two(y, x)
    wide_y, wide_x = y.double(), x.double()
    y_sign, y_size = sign_and_size(wide_y)
    x_sign, x_size = sign_and_size(wide_x)
    number = (wide_y == wide_y) & (wide_x == wide_x)
    endless = (y_size == math.inf) | (x_size == math.inf)
    a = torch.where(endless, (y_size == math.inf).double(), torch.where(number, y_size, 0.0))
    b = torch.where(endless, (x_size == math.inf).double(), torch.where(number, x_size, 1.0))
    steep = a > b
    a, b = torch.where(steep, b, a), torch.where(steep, a, b)
    b = torch.where(b == 0.0, 1.0, b)
    far = a > b * c.TAN_PI_8
    t, t_low = slope(a, b, far)
    eighths = torch.where(far, 1, 0)
    turn = torch.where(steep, -1.0, 1.0)
    eighths = torch.where(steep, 2 - eighths, eighths)
    left = x_sign < 0.0
    turn = torch.where(left, -turn, turn)
    eighths = torch.where(left, 4 - eighths, eighths)
    base, base_low = torch.zeros_like(t), torch.zeros_like(t)
    for place in range(1, 5):
        base = torch.where(eighths == place, EIGHTHS_OF_TURN[place][0], base)
        base_low = torch.where(eighths == place, EIGHTHS_OF_TURN[place][1], base_low)
    value = kernels.atan_sum(t * turn, t_low * turn, base, base_low) * y_sign
    # Zero comes back as it went in, so that its sign does not hang on a compiler's view of signs of zero.
    value = torch.where((wide_y == 0.0) & ~left, wide_y, value)
    return torch.where(number, value, math.nan).to(y.dtype)


def pow(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x to the y, elementwise, with the special values of C's pow.

    One argument may be a Python number. Shapes broadcast.
    """
    x, y = _two(x, y)
    wide_x, wide_y = x.double(), y.double()
    sign, a = sign_and_size(wide_x)
    number = (wide_x == wide_x) & (wide_y == wide_y)
    y_finite = (wide_y == wide_y) & (torch.abs(wide_y) < math.inf)
    whole = ~y_finite | (torch.floor(wide_y) == wide_y)
    edge = (a == 0.0) | (a == math.inf)
    safe_a = torch.where(number & ~edge, a, 1.0)
    limited = torch.where(number, wide_y, 0.0).clamp(-POW_EXPONENT_LIMIT, POW_EXPONENT_LIMIT)
    value = pow_positive(safe_a, limited)
    at_edge = torch.where((a == 0.0) == (wide_y < 0.0), math.inf, 0.0)
    value = torch.where(edge, at_edge, value)
    odd = whole & y_finite & (torch.floor(wide_y * 0.5) * 2.0 != wide_y)
    value = torch.where(odd, value * sign, value)
    value = torch.where(number & ((sign > 0.0) | edge | whole), value, math.nan)
    return torch.where((wide_y == 0.0) | (wide_x == 1.0), 1.0, value).to(x.dtype)


def remainder(x: Tensor | float, y: Tensor | float) -> Tensor:
    """x % y as Python has it, elementwise, from 0 up to y, for y from `2**-900` to `2**900`, |x| up to `2**20` of it.

    NaN beyond. One argument may be a Python number. Shapes broadcast.
    """
    x, y = _two(x, y)
    wide_x, wide_y = x.double(), y.double()
    size = torch.abs(wide_x)
    usual = (wide_y >= DIVISOR_LOWEST) & (wide_y <= DIVISOR_HIGHEST) & (size <= wide_y * QUOTIENT_LIMIT)
    a, b = torch.where(usual, size, 0.0), torch.where(usual, wide_y, 1.0)
    rest = kernels.nearest_rest(a, b, torch.where(a < b, 0.0, torch.floor(a / b + 0.5)))
    rest = torch.where(rest < 0.0, rest + b, rest)  # exact, as C's fmod
    value = torch.where((wide_x < 0.0) & (rest > 0.0), b - rest, rest)  # rounded, as in Python
    return positive_zero(torch.where(usual, value, math.nan).to(x.dtype))


def ordered_sum(x: Tensor, dim: int = -1) -> Tensor:
    """Sum along `dim`, strictly from first to last: the bits of a loop. x: [..., K] gives [...]; K = 0
    gives zeros.

    The loop is unrolled, K - 1 additions; integers keep their dtype.
    """
    if x.shape[dim] == 0:
        return x.sum(dim, dtype=x.dtype)  # of nothing: zeros of the right shape
    items = x.unbind(dim)
    total = items[0]
    for item in items[1:]:
        total = total + item
    return total


def positive_zero(x: Tensor) -> Tensor:
    """x, with 0.0 in place of -0.0.

    Adding 0.0, or `where(x == 0, 0.0, x)`, does not do it everywhere: compilers may drop both.
    """
    _check(x)
    if x.dtype == torch.float32:
        return torch.where(x.view(torch.int32) == -(2**31), torch.zeros_like(x), x)
    return torch.where(x.view(torch.int64) == -(2**63), torch.zeros_like(x), x)


def _check(*tensors: Tensor) -> None:
    for x in tensors:
        if x.dtype not in (torch.float32, torch.float64):
            raise TypeError(f"portable functions take float32 or float64 tensors, not {x.dtype}; convert with .to()")


def _two(first: Tensor | float, second: Tensor | float) -> tuple[Tensor, Tensor]:
    """Both arguments as tensors of one dtype; a Python number takes the other's, rounded to it."""
    if isinstance(first, Tensor):
        if not isinstance(second, Tensor):
            second = torch.full((), second, dtype=first.dtype, device=first.device)
    elif isinstance(second, Tensor):
        first = torch.full((), first, dtype=second.dtype, device=second.device)
    else:
        raise TypeError("one argument must be a tensor; for two scalars use simulacrum.portable.scalar")
    _check(first, second)
    if first.dtype != second.dtype:
        raise TypeError(f"both arguments must have one dtype, not {first.dtype} and {second.dtype}")
    return first, second


def _plain_nan(x: Tensor) -> Tensor:
    return torch.where(x == x, x, math.nan)
