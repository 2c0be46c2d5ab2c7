from __future__ import annotations

import math
import random

import numpy as np
import pytest

from simulacrum.portable import Float64, bits64, cos, pow, sqrt

X, Y = Float64(0.1), Float64(-3.7)


def test_its_square_is_the_rounded_product() -> None:
    draw, differing = random.Random(0), 0
    for _ in range(20_000):
        x = draw.uniform(-30.0, 30.0)
        assert bits64(Float64(x) ** 2) == bits64(x * x)
        differing += x**2 != x * x
    assert differing < 200  # how many, the C library decides: 16 with glibc 2.36


@pytest.mark.parametrize("other", [2, 0.3, np.float64(0.3), np.float32(0.3), Y])
def test_it_stays_of_its_kind_and_rounds_as_a_float(other: float) -> None:
    wide, x = float(other), float(X)
    pairs = [
        (X + other, x + wide), (X - other, x - wide), (X * other, x * wide),
        (X / other, x / wide), (X % other, x % wide),
    ]  # fmt: skip
    if not isinstance(other, np.floating):  # NumPy's numbers on the left are NumPy's
        pairs += [(other + X, wide + x), (other - X, wide - x), (other * X, wide * x), (other / X, wide / x)]
    pairs += [(-X, -x), (+X, x), (abs(Y), 3.7)]
    for got, expected in pairs:
        assert type(got) is Float64
        assert bits64(got) == bits64(expected)


def test_it_is_a_float_to_everybody_else() -> None:
    assert (float(X), X == 0.1, X < 0.2, math.floor(Y)) == (0.1, True, True, -4)
    assert np.asarray([X, Y]).dtype == np.float64
    assert repr(X) == "Float64(0.1)"
    with pytest.raises(ZeroDivisionError):
        X / 0


def test_the_portable_functions_take_it() -> None:
    for got, expected in ((cos(X), cos(0.1)), (sqrt(X), sqrt(0.1)), (pow(X, 3.0), pow(0.1, 3.0))):
        assert type(got) is Float64
        assert got == expected


def test_no_other_powers() -> None:
    for refused in (lambda: X**3, lambda: X**0.5, lambda: X**Y, lambda: 2.0**X, lambda: X + "1"):
        with pytest.raises(TypeError):
            refused()
