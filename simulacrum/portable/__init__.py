"""Numbers whose bits agree everywhere: the same function for a scalar and for a tensor.

`sqrt`, `sin`, ... take what the scalar forms take (float, int, `Float32`, NumPy float scalar) or a
float32 or float64 torch tensor; torch is only imported when a tensor comes. docs/portable-numbers.md says
what is promised.
"""

from __future__ import annotations

from typing import Any

from simulacrum.portable import scalar
from simulacrum.portable.bits import bits32, bits64, from_bits32, from_bits64, round32, ulp_distance
from simulacrum.portable.float32 import Float32
from simulacrum.portable.float64 import Float64

__all__ = [
    "Float32",
    "Float64",
    "atan2",
    "bits32",
    "bits64",
    "cos",
    "exp",
    "from_bits32",
    "from_bits64",
    "log",
    "ordered_sum",
    "positive_zero",
    "pow",
    "remainder",
    "round32",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "ulp_distance",
]


def sqrt(x: Any) -> Any:
    """The correctly rounded square root; NaN below zero, -0.0 for -0.0."""
    return _room(x).sqrt(x)


def exp(x: Any) -> Any:
    """e to the x."""
    return _room(x).exp(x)


def log(x: Any) -> Any:
    """The natural logarithm; -inf for either zero, NaN below zero."""
    return _room(x).log(x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return _room(x).tanh(x)


def sin(x: Any) -> Any:
    """The sine of x in radians; NaN where |x| > `2**20`."""
    return _room(x).sin(x)


def cos(x: Any) -> Any:
    """The cosine of x in radians; NaN where |x| > `2**20`."""
    return _room(x).cos(x)


def tan(x: Any) -> Any:
    """The tangent of x in radians; NaN where |x| > `2**20`."""
    return _room(x).tan(x)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y) in radians, -pi..pi; zeros and infinities as in C's atan2."""
    return _room(y, x).atan2(y, x)


def pow(x: Any, y: Any) -> Any:
    """x to the y, with the special values of C's pow."""
    return _room(x, y).pow(x, y)


def remainder(x: Any, y: Any) -> Any:
    """x % y as Python has it, from 0 up to y, for y from `2**-900` to `2**900`, |x| up to `2**20` of it; NaN beyond."""
    return _room(x, y).remainder(x, y)


def ordered_sum(values: Any) -> Any:
    """Strictly left to right: over an iterable of scalars, or over the last axis of a tensor."""
    return _room(values).ordered_sum(values)


def positive_zero(x: Any) -> Any:
    """x, with 0.0 in place of -0.0."""
    return _room(x).positive_zero(x)


def _room(*arguments: Any) -> Any:
    """The module with the forms for these arguments: `tensor` as soon as one is a tensor, else `scalar`."""
    for argument in arguments:
        if hasattr(argument, "unbind"):
            from simulacrum.portable import tensor

            return tensor
    return scalar
