"""Portable numbers on scalars: plain Python, no NumPy and no torch.

Each function takes a Python float (or int), a `Float32`, or a NumPy float scalar and answers in the same type,
with the bits that `simulacrum.portable.tensor` gives for a tensor of that dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

from simulacrum.portable.bits import bits32, bits64, from_bits32, from_bits64, round32, ulp_distance
from simulacrum.portable.float32 import Float32

__all__ = [
    "Float32",
    "bits32",
    "bits64",
    "from_bits32",
    "from_bits64",
    "ordered_sum",
    "round32",
    "sqrt",
    "ulp_distance",
]

Number = TypeVar("Number", bound=Any)


def sqrt(x: Number) -> Number:
    """The correctly rounded square root; NaN below zero, -0.0 for -0.0."""
    if x < 0.0 or x != x:
        return _as_type_of(x, math.nan)
    return _as_type_of(x, math.sqrt(x))


def ordered_sum(values: Iterable[Number]) -> Number:
    """`v0 + v1 + v2 + ...`, strictly left to right, in the type of the values; 0.0 when there are none."""
    iterator = iter(values)
    total: Any = next(iterator, 0.0)
    for value in iterator:
        total = total + value
    return total


def _as_type_of(example: Any, value: float) -> Any:
    kind: type[Any] = type(example)
    if kind is float or isinstance(example, int):
        return value
    if kind is Float32 or kind.__name__ == "float32":
        return kind(round32(value))
    return kind(value)
