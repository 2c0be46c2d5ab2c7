"""Arguments for the tests of portable functions: special, boundary and random values, the same in every
run."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable

import mpmath

from simulacrum.portable import from_bits64

UNARY = ("sqrt", "exp", "log", "tanh", "sin", "cos", "tan")
BINARY = ("atan2", "pow")

SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    from_bits64(0xFFF8000000000001),  # another NaN: negative, with a payload
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    0.5,
    -0.5,
    2.0,
    3.0,
    -3.0,
    -2.5,
    1e-5,
    709.782712893384,  # about the largest argument of exp with a finite answer
    710.0,
    -745.1,
    -746.0,
    88.72284,  # the same for float32
    -103.97,
    1048576.0,  # the last angle with an answer, and the first without
    math.nextafter(1048576.0, math.inf),
    math.pi / 2,
    math.pi,
    0.7071067811865476,
    0.41421356237309503,
    1e16,
    9007199254740993.0,
    20.0,
    22.0,
    2.0**-28,
    1.0 - 2.0**-53,
    1.0 + 2.0**-52,
    1e-40,
    3.4e38,
    1e-45,
    1e300,
    1e-300,
)


def one(count: int, seed: int = 0) -> list[float]:
    """`count` arguments: the special ones, then random ones over several ranges."""
    draw = random.Random(seed)
    shapes = (
        lambda: draw.uniform(-5, 5),
        lambda: draw.uniform(-1, 1) * 10 ** draw.uniform(-308, 308),
        lambda: draw.uniform(-750, 750),
        lambda: draw.uniform(-1.1e6, 1.1e6),
        lambda: math.exp(draw.uniform(-20, 20)),
        lambda: draw.randrange(1, 600_000) * math.pi / 2,  # where sine or cosine nearly vanish
    )
    values = [*SPECIAL, *(draw.choice(shapes)() for _ in range(count))]
    return values[:count]


def two(count: int, seed: int = 0) -> list[tuple[float, float]]:
    """`count` pairs: every pair of special arguments, then random ones."""
    draw = random.Random(seed)
    pairs = list(itertools.product(SPECIAL, SPECIAL))
    values = one(2 * count + len(SPECIAL), seed + 1)[len(SPECIAL) :]
    pairs += [(draw.choice(SPECIAL), value) for value in values[: count // 4]]
    pairs += [(abs(draw.uniform(0, 3)), draw.uniform(-20, 20)) for _ in range(count // 4)]
    pairs += list(zip(values[:count], values[count:], strict=False))
    return pairs[:count]


Draw = Callable[[random.Random], tuple[float, ...]]


def spread(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


ANGLES: list[Draw] = [
    lambda d: (d.uniform(-4, 4),),
    lambda d: (d.uniform(-(2**20), 2**20),),
    lambda d: (spread(d, 1e-9, 1),),
    lambda d: (d.randrange(1, 660_000) * math.pi / 2 * (1 + d.uniform(-1, 1) * 1e-15),),
]
RANGES: dict[str, list[Draw]] = {
    "sqrt": [lambda d: (spread(d, 5e-324, 1.7e308),)],
    "exp": [lambda d: (d.uniform(-745, 709.7),), lambda d: (d.uniform(-1, 1),)],
    "log": [lambda d: (spread(d, 1e-320, 1e308),), lambda d: (d.uniform(0.5, 2),)],
    "tanh": [lambda d: (d.uniform(-25, 25),), lambda d: (d.uniform(0, 0.7),), lambda d: (spread(d, 1e-9, 1),)],
    "sin": ANGLES,
    "cos": ANGLES,
    "tan": ANGLES,
    "atan2": [
        lambda d: (d.uniform(-4, 4), d.uniform(-4, 4)),
        lambda d: (spread(d, 1e-320, 1e308), d.choice([1, -1]) * spread(d, 1e-320, 1e308)),
    ],
    "pow": [
        lambda d: (spread(d, 1e-3, 1e3), d.uniform(-50, 50)),
        lambda d: (spread(d, 1e-300, 1e300), d.uniform(-1, 1)),
        lambda d: (1 + d.uniform(-1, 1) * 1e-3, d.uniform(-7e5, 7e5)),
    ],
}


def exact(name: str, arguments: tuple[float, ...]) -> mpmath.mpf:
    function = mpmath.power if name == "pow" else getattr(mpmath, name)
    with mpmath.workprec(200):
        return function(*map(mpmath.mpf, arguments))


def units_off(got: float, true: mpmath.mpf, spacing: float) -> float:
    with mpmath.workprec(200):
        return float(abs(mpmath.mpf(got) - true) / mpmath.mpf(spacing))
