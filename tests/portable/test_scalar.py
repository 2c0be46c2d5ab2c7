from __future__ import annotations

import math
import random

import numpy as np
import pytest
from portable_inputs import BINARY, RANGES, SPECIAL, UNARY, exact, one, two, units_off

from simulacrum import portable
from simulacrum.portable import Float32, bits32, bits64, scalar

# Units in the last place of float64, as promised in docs/portable-numbers.md.
BOUND64 = {"sqrt": 0.5, "tan": 1.0, **dict.fromkeys(["exp", "log", "tanh", "sin", "cos", "atan2", "pow"], 0.9)}
# One rounding of a float64 answer that is off by less than 2**-29 units of float32.
BOUND32 = 0.5 + 2.0**-28


@pytest.mark.parametrize("name", sorted(RANGES))
def test_float64_error_stays_within_the_stated_bound(name: str) -> None:
    draw = random.Random(name)
    worst, place = 0.0, ()
    for shape in RANGES[name]:
        for _ in range(700):
            arguments = shape(draw)
            got = getattr(scalar, name)(*arguments)
            error = units_off(got, exact(name, arguments), math.ulp(got))
            if error > worst:
                worst, place = error, arguments
    assert worst <= BOUND64[name], f"{name}{place} is {worst} ulp off"


@pytest.mark.parametrize("name", sorted(RANGES))
def test_float32_error_stays_within_the_stated_bound(name: str) -> None:
    draw = random.Random(name)
    for shape in RANGES[name]:
        for _ in range(300):
            arguments = tuple(map(Float32, shape(draw)))
            got = getattr(scalar, name)(*arguments)
            true = exact(name, arguments)
            if not math.isfinite(got) or not all(map(math.isfinite, arguments)) or abs(true) < 2.0**-140:
                continue
            exponent = max(math.frexp(got)[1] - 24, -149)
            assert units_off(got, true, math.ldexp(1.0, exponent)) <= BOUND32, (name, arguments)


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("sin", "cos", "tan")])
def test_special_values_of_one_argument_are_those_of_the_c_library(name: str) -> None:
    for x in SPECIAL:
        with np.errstate(all="ignore"):
            expected = float(getattr(np, name)(np.float64(x)))
        got = getattr(scalar, name)(x)
        if math.isnan(expected):
            assert bits64(got) == 0x7FF8000000000000, (name, x)
        elif expected in (0.0, math.inf, -math.inf):
            assert bits64(got) == bits64(expected), (name, x)


@pytest.mark.parametrize(("name", "numpy_name"), [("atan2", "arctan2"), ("pow", "power")])
def test_special_values_of_two_arguments_are_those_of_the_c_library(name: str, numpy_name: str) -> None:
    for x in SPECIAL:
        for y in SPECIAL:
            with np.errstate(all="ignore"):
                expected = float(getattr(np, numpy_name)(np.array([x]), np.array([y]))[0])
            got = getattr(scalar, name)(x, y)
            if math.isnan(expected):
                assert bits64(got) == 0x7FF8000000000000, (name, x, y)
            elif expected in (0.0, 1.0, math.inf, -math.inf):
                assert bits64(got) == bits64(expected), (name, x, y, got, expected)
            else:
                assert got == pytest.approx(expected, rel=1e-13)  # the C library's own error


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_have_a_stated_range(name: str) -> None:
    function = getattr(scalar, name)
    limit = 2.0**20
    assert math.isfinite(function(limit))
    for x in (math.nextafter(limit, math.inf), -1e7, math.inf, -math.inf, math.nan):
        assert bits64(function(x)) == 0x7FF8000000000000
    assert bits64(scalar.sin(-0.0)) == bits64(-0.0)
    assert scalar.cos(-0.0) == 1.0


def test_answers_come_in_the_type_of_the_argument() -> None:
    for name in UNARY:
        function = getattr(portable, name)
        assert [type(function(x)) for x in (0.5, Float32(0.5), np.float32(0.5), np.float64(0.5), 1)] == [
            float,
            Float32,
            np.float32,
            np.float64,
            float,
        ]
    assert type(portable.pow(Float32(2), 0.5)) is Float32
    assert type(portable.atan2(1, np.float32(2))) is np.float32
    assert portable.pow(Float32(2), 0.1) == portable.pow(Float32(2), Float32(0.1))
    assert math.isinf(portable.exp(np.float32(100)))


def test_numpy_scalars_have_the_same_bits() -> None:
    for name in UNARY:
        function = getattr(scalar, name)
        for x in one(300):
            assert bits64(function(np.float64(x))) == bits64(function(x))
            with np.errstate(over="ignore"):
                narrow = np.float32(x)
            assert bits32(float(function(narrow))) == bits32(function(Float32(x)))
    for name in BINARY:
        function = getattr(scalar, name)
        for x, y in two(600):
            assert bits64(function(np.float64(x), np.float64(y))) == bits64(function(x, y))


@pytest.mark.parametrize("argument", ["1", None, 1j, [1.0], np.zeros(3), np.float16(1)])
def test_other_types_are_refused(argument: object) -> None:
    with pytest.raises(TypeError, match="expected a float"):
        scalar.sin(argument)


def test_two_arguments_of_different_types_are_refused() -> None:
    with pytest.raises(TypeError, match="one type"):
        scalar.pow(Float32(2), np.float64(2))


def test_ordered_sum_goes_from_left_to_right() -> None:
    assert scalar.ordered_sum([1e16, 1.0, -1e16]) == 0.0
    assert scalar.ordered_sum([1e16, -1e16, 1.0]) == 1.0
    assert type(scalar.ordered_sum([Float32(1), Float32(2)])) is Float32
    assert scalar.ordered_sum([]) == 0.0
    assert scalar.ordered_sum(i for i in (1, 2, 3)) == 6
    assert bits64(scalar.ordered_sum([-0.0])) == bits64(-0.0)


def test_positive_zero() -> None:
    assert bits64(portable.positive_zero(-0.0)) == 0
    assert portable.positive_zero(Float32(-0.0)).bits == 0
    assert type(portable.positive_zero(Float32(-0.0))) is Float32
    assert portable.positive_zero(-1.5) == -1.5
