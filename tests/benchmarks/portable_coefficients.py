"""Computes the constants in simulacrum/portable/coefficients.py and writes that file.

    python tests/benchmarks/portable_coefficients.py            # print the error of each polynomial
    python tests/benchmarks/portable_coefficients.py --write    # and write the file

Each polynomial interpolates its function at Chebyshev nodes in 60 digits, and is then rounded to float64;
that is within a small factor of the best possible polynomial of the degree, and one degree more than
needed pays for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpmath import atan, atanh, cos, exp, log, lu_solve, matrix, mp, mpf, pi, sin
from mpmath import sqrt as root

mp.dps = 60
TARGET = Path(__file__).resolve().parents[2] / "simulacrum" / "portable" / "coefficients.py"
HEADER = '''"""Constants of the portable functions, written by tests/benchmarks/portable_coefficients.py.

Polynomials are lists from the constant term up. `z` is the square of the reduced argument.
"""

from __future__ import annotations
'''
# Near zero the closed forms cancel; 60 digits leave plenty at this distance, and the nodes keep away from
# zero anyway.
Series = Callable[[Any], Any]
POLYNOMIALS: dict[str, tuple[str, Series, Any, Any, int]] = {
    "EXP": (
        "(exp(r) - 1 - r) / r**2 for |r| <= log(2)/2",
        lambda r: (exp(r) - 1 - r) / r**2,
        -log(2) / 2,
        log(2) / 2,
        11,
    ),
    "LOG": (
        "(2 atanh(s)/s - 2) / z, z = s*s, |s| <= 0.1716",
        lambda z: (2 * atanh(root(z)) / root(z) - 2) / z,
        0,
        mpf("0.02945"),
        7,
    ),
    "LOG_TAIL": (
        "(atanh(s)/s - 1 - z/3) / z**2, same range",
        lambda z: (atanh(root(z)) / root(z) - 1 - z / 3) / z**2,
        0,
        mpf("0.02945"),
        6,
    ),
    "SIN": (
        "(sin(y)/y - 1) / z, z = y*y, |y| <= pi/4",
        lambda z: (sin(root(z)) / root(z) - 1) / z,
        0,
        (pi / 4) ** 2,
        6,
    ),
    "COS": (
        "(cos(y) - 1 + z/2) / z**2, same range",
        lambda z: (cos(root(z)) - 1 + z / 2) / z**2,
        0,
        (pi / 4) ** 2,
        6,
    ),
    "ATAN": (
        "(atan(t)/t - 1) / z, z = t*t, |t| <= tan(pi/8)",
        lambda z: (atan(root(z)) / root(z) - 1) / z,
        0,
        mpf("0.1716"),
        12,
    ),
}


def interpolate(function: Series, low: Any, high: Any, degree: int) -> list[float]:
    """Float64 coefficients, constant first, of the interpolant at degree + 1 Chebyshev nodes."""
    count = degree + 1
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    system = matrix(count, count)
    for row, node in enumerate(nodes):
        for column in range(count):
            system[row, column] = node**column
    solution = lu_solve(system, matrix([function(node) for node in nodes]))
    return [float(solution[i]) for i in range(count)]


def worst_error(function: Series, low: Any, high: Any, coefficients: list[float]) -> float:
    """The largest absolute error of the rounded polynomial on a grid of 400 points."""
    worst = mpf(0)
    for i in range(400):
        place = low + (high - low) * (mpf(i) + mpf("0.5")) / 400
        value = sum(mpf(c) * place**n for n, c in enumerate(coefficients))
        worst = max(worst, abs(value - function(place)))
    return float(worst)


def leading(value: Any, bits: int) -> float:
    """`value` cut (not rounded) to its first `bits` bits, so that small multiples of it are exact."""
    shift = bits - 1 - int(mp.floor(mp.log(value, 2)))
    return float(mp.floor(value * mpf(2) ** shift) / mpf(2) ** shift)


def in_parts(value: Any, widths: list[int]) -> list[float]:
    """`value` as a sum: one cut part for each width, then what is left as a float64."""
    parts: list[float] = []
    for width in widths:
        parts.append(leading(value, width))
        value = value - mpf(parts[-1])
    return [*parts, float(value)]


def text() -> tuple[str, list[str]]:
    """The file's text, and a line of error for each polynomial."""
    lines, report = [HEADER], []
    for name, (meaning, function, low, high, degree) in POLYNOMIALS.items():
        coefficients = interpolate(function, mpf(low), mpf(high), degree)
        worst = worst_error(function, mpf(low), mpf(high), coefficients)
        report.append(f"{name:9} degree {degree:2}  worst error {worst:.2e}")
        lines += [f"# {meaning}", f"{name} = (", *(f"    {c!r}," for c in coefficients), ")", ""]
    lines += ["# pi/2 in three parts of 33 bits and a rest: n * part is exact for whole n up to 2**20."]
    lines += ["HALF_PI_PARTS = (", *(f"    {part!r}," for part in in_parts(pi / 2, [33, 33, 33])), ")"]
    lines += ["TWO_OVER_PI = " + repr(float(2 / pi)), ""]
    lines += ["# log(2) in 32 bits and a rest: k * LN2_HIGH is exact for whole k up to 2**21."]
    high, low = in_parts(log(2), [32])
    lines += [f"LN2_HIGH = {high!r}", f"LN2_LOW = {low!r}", f"LOG2_E = {float(1 / log(2))!r}"]
    lines += [f"SQRT_HALF = {float(root(mpf(1) / 2))!r}", f"TAN_PI_8 = {float(root(mpf(2)) - 1)!r}", ""]
    for name, value in (
        ("THIRD", mpf(1) / 3),
        ("QUARTER_PI", pi / 4),
        ("HALF_PI", pi / 2),
        ("PI", pi),
        ("THREE_QUARTER_PI", 3 * pi / 4),
    ):
        lines += [f"{name}_HIGH = {float(value)!r}", f"{name}_LOW = {float(value - mpf(float(value)))!r}"]
    return "\n".join(lines) + "\n", report


if __name__ == "__main__":
    content, errors = text()
    print("\n".join(errors))
    if "--write" in sys.argv:
        TARGET.write_text(content, encoding="utf-8")
        print(f"wrote {TARGET}")
