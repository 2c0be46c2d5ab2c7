"""Portable numbers on scalars: plain Python, no NumPy and no torch.

Each function takes a Python float (or int), a `Float32`, a `Float64` or a NumPy float scalar and answers in that type
(float for an int), with the bits that `simulacrum.portable.tensor` gives for a tensor of that dtype. The
float32 forms are computed in float64 and rounded once. Nothing raises for a special value: the answers
are the infinities and NaN of IEEE 754, and a NaN always has the same (positive, quiet) bits. Where two
arguments differ in type, a Python float or int takes the other's type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from simulacrum.portable import double
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

Number = TypeVar("Number", bound=Any)


def sqrt(x: Number) -> Number:
    """The correctly rounded square root; NaN below zero, -0.0 for -0.0."""
    return _unary(double.sqrt, x)


def exp(x: Number) -> Number:
    """e to the x."""
    return _unary(double.exp, x)


def log(x: Number) -> Number:
    """The natural logarithm; -inf for either zero, NaN below zero."""
    return _unary(double.log, x)


def tanh(x: Number) -> Number:
    """The hyperbolic tangent."""
    return _unary(double.tanh, x)


def sin(x: Number) -> Number:
    """The sine of x in radians; NaN where |x| > `2**20`."""
    return _unary(double.sin, x)


def cos(x: Number) -> Number:
    """The cosine of x in radians; NaN where |x| > `2**20`."""
    return _unary(double.cos, x)


def tan(x: Number) -> Number:
    """The tangent of x in radians; NaN where |x| > `2**20`."""
    return _unary(double.tan, x)


def atan2(y: Number, x: Number) -> Number:
    """The angle of the point (x, y) in radians, -pi..pi; zeros and infinities as in C's atan2."""
    return _binary(double.atan2, y, x)


def pow(x: Number, y: Number) -> Number:
    """x to the y, with the special values of C's pow."""
    return _binary(double.pow, x, y)


def remainder(x: Number, y: Number) -> Number:
    """x % y as Python has it, from 0 up to y, for y from `2**-900` to `2**900`, |x| up to `2**20` of it; NaN beyond."""
    return _binary(double.remainder, x, y)


def ordered_sum(values: Iterable[Number]) -> Number:
    """`v0 + v1 + v2 + ...`, strictly left to right, in the type of the values; 0.0 when there are none."""
    iterator = iter(values)
    total: Any = next(iterator, 0.0)
    for value in iterator:
        total = total + value
    return total


def positive_zero(x: Number) -> Number:
    """x, with 0.0 in place of -0.0."""
    return x if x != 0.0 else cast(Any, type(x))(0.0)


def _unary(function: Callable[[float], float], x: Any) -> Any:
    kind = _kind(x)
    if kind is float:
        return function(x)
    value = function(float(x))
    return kind(value if _is_double(kind) else round32(value))


def _binary(function: Callable[[float, float], float], first: Any, second: Any) -> Any:
    kind, other = _kind(first), _kind(second)
    if kind is float:
        kind = other
    elif other is not float and other is not kind:
        raise TypeError(f"both arguments must have one type, not {kind.__name__} and {other.__name__}")
    if kind is float:
        return function(first, second)
    if _is_double(kind):
        return kind(function(float(first), float(second)))
    return kind(round32(function(round32(float(first)), round32(float(second)))))


def _kind(x: Any) -> Any:
    """The type of the answer for an argument: float for Python numbers, else the argument's own."""
    kind: Any = cast(Any, type(x))
    if kind is float or kind is Float32 or kind is Float64:
        return kind
    if kind is int or kind is bool:
        return float
    if kind.__module__ == "numpy" and kind.__name__ in ("float32", "float64"):
        return kind
    raise TypeError(f"expected a float, int, Float32, Float64, numpy.float32 or numpy.float64, found {kind.__name__}")


def _is_double(kind: Any) -> bool:
    return kind is Float64 or kind.__name__ == "float64"
