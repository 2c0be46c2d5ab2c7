"""Measures the error of the portable functions against 60-digit arithmetic.

    python tests/benchmarks/portable_errors.py [samples per range]

Prints, for each function and each range of arguments of tests/portable/portable_inputs.py, the largest error in units
in the last place of float64 and the arguments that had it. A minute or two for the default 20000.
"""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "portable"))
from portable_inputs import RANGES, exact, units_off

from simulacrum.portable import scalar


def main(samples: int) -> None:
    for name, ranges in RANGES.items():
        draw = random.Random(name)
        for shape in ranges:
            worst = max((error(name, arguments), arguments) for arguments in (shape(draw) for _ in range(samples)))
            print(f"{name:6} {worst[0]:.4f} ulp at {worst[1]}", flush=True)


def error(name: str, arguments: tuple[float, ...]) -> float:
    got = getattr(scalar, name)(*arguments)
    return units_off(got, exact(name, arguments), math.ulp(got))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
