from __future__ import annotations

import math
import random

import numpy as np
import pytest

from simulacrum.portable.bits import (
    bits32,
    bits64,
    from_bits32,
    from_bits64,
    round32,
    round32_integer,
    ulp_distance,
)


def test_rounding_agrees_with_numpy_everywhere() -> None:
    draw = random.Random(0)
    values = [from_bits64(draw.getrandbits(64)) for _ in range(5000)]
    values += [draw.uniform(-1, 1) * 10 ** draw.uniform(-50, 40) for _ in range(5000)]
    values += [(1 + draw.randrange(2**23) * 2**-23) * (1 + 2**-24) for _ in range(1000)]  # on and near ties
    values = [v for v in values if not math.isnan(v)]
    with np.errstate(over="ignore", under="ignore"):
        expected = np.array(values).astype(np.float32).view(np.uint32).tolist()
    assert [bits32(v) for v in values] == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1e39, math.inf),
        (-1e39, -math.inf),
        (3.4028235677973366e38, math.inf),  # the tie above the largest float32 goes up
        (3.4028235677973362e38, 3.4028234663852886e38),
        (1e-46, 0.0),
        (1.0 + 2.0**-24, 1.0),  # a tie, to even
        (1.0 + 3 * 2.0**-24, 1.0 + 2.0**-22),
    ],
)
def test_rounding_at_the_edges(value: float, expected: float) -> None:
    assert round32(value) == expected


def test_large_integers_are_rounded_once() -> None:
    # Through float64 this one would fall on a tie first and then go the wrong way.
    value = 2**60 + 2**36 + 1
    assert round32(float(value)) == float(2**60)
    assert round32_integer(value) == float(2**60 + 2**37)
    assert round32_integer(-value) == -float(2**60 + 2**37)
    assert round32_integer(10**400) == math.inf
    draw = random.Random(1)
    for _ in range(2000):
        value = draw.getrandbits(63) * draw.choice([-1, 1])
        assert round32_integer(value) == float(np.int64(value).astype(np.float32))


def test_bits_round_trip() -> None:
    for bits in (0, 1, 0x3F800000, 0x80000000, 0x7F800000, 0xFF7FFFFF):
        assert bits32(from_bits32(bits)) == bits
    for bits in (0, 1, 0x3FF0000000000000, 1 << 63, 0x7FF8000000000000):
        assert bits64(from_bits64(bits)) == bits


def test_ulp_distance() -> None:
    assert ulp_distance(1.0, math.nextafter(1.0, 2.0)) == 1
    assert ulp_distance(-5e-324, 5e-324) == 2
    assert ulp_distance(0.0, -0.0) == 0
    assert ulp_distance(1.0, 1.0 + 2.0**-23, width=32) == 1
    assert ulp_distance(math.nan, 1.0) is None
    assert ulp_distance(math.nan, math.nan) == 0
    with pytest.raises(ValueError, match="32 or 64"):
        ulp_distance(1.0, 1.0, width=16)
