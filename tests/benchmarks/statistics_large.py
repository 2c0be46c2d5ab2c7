"""TestU01 over the words of the draws, in the orders in which environments meet them.

    python tests/benchmarks/statistics_large.py               SmallCrush on every order
    python tests/benchmarks/statistics_large.py --write       and put the table into docs/draws.md
    python tests/benchmarks/statistics_large.py --battery crush --order batch     long, on one thread

Needs a C compiler and TestU01 (Debian: libtestu01-0-dev, in non-free). The words come from orders.c, which is
first compared with the Python form at hundreds of places of every order. For PractRand: build orders.c with
-DNO_TESTU01 and pipe `orders batch bytes 1099511627776` into `RNG_test stdin32`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulacrum.rng.layout import RESET_BLOCKS
from simulacrum.rng.scalar import episode_key, threefry2x32

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "draws.md"
BEGIN, END = "<!-- statistics: begin -->", "<!-- statistics: end -->"
LIBRARIES = ["-ltestu01", "-ltestu01probdist", "-ltestu01mylib", "-lm"]

# order -> what varies fastest first, and the place of word i: (seed, episode, t, word number, at reset).
Place = tuple[int, int, int, int, bool]
ORDERS: dict[str, tuple[str, Callable[[int], Place]]] = {
    "rows": (
        "4,096 rows, then steps, then episodes; one slot",
        lambda i: (i % 4096, i // 819200, i // 4096 % 200, 0, False),
    ),
    "steps": ("steps of one endless episode; one slot", lambda i: (7, 0, i, 0, False)),
    "episodes": ("episodes of one row; one reset slot", lambda i: (7, i, 0, 0, True)),
    "slots": ("37 slots, then steps; one row", lambda i: (7, 0, i // 37, i % 37, False)),
    "indices": (
        "256 indices, then 64 rows, then steps",
        lambda i: (i // 256 % 64, 0, i // 16384, i % 256, False),
    ),
    "batch": (
        "6 slots, then 1,024 rows, then steps, then episodes of 50: a vector environment",
        lambda i: (i // 6 % 1024, i // 307200, i // 6144 % 50, i % 6, False),
    ),
    "resets": (
        "reset and step words in turn, then rows, then episodes",
        lambda i: (i // 2 % 4096, i // 8192, 0, 0, i % 2 == 0),
    ),
    "seed_bits": (
        "seeds that differ in one bit, 64 around each of many centres",
        lambda i: (i // 64 * 0x9E3779B97F4A7C15 % 2**64 ^ 1 << i % 64, 0, 0, 0, True),
    ),
    "high_seeds": ("seeds 0, `2**32`, `2 * 2**32`, ...", lambda i: (i << 32, 0, 0, 0, True)),
    "low_bytes": ("the lowest byte of each word of `batch`", lambda i: (0, 0, 0, 0, False)),
    "reversed": ("the words of `batch`, bits reversed", lambda i: (0, 0, 0, 0, False)),
    "keys": ("episode keys themselves: 4,096 rows, then episodes", lambda i: (0, 0, 0, 0, False)),
}


def word_at(order: str, i: int) -> int:
    """Word i of an order, from the room's scalar form."""
    if order == "low_bytes":
        return sum((word_at("batch", 4 * i + part) & 255) << 8 * (3 - part) for part in range(4))
    if order == "reversed":
        return int(f"{word_at('batch', i):032b}"[::-1], 2)
    if order == "keys":
        return episode_key(i // 2 % 4096, i // 2 // 4096)[i % 2]
    seed, episode, t, number, at_reset = ORDERS[order][1](i)
    return threefry2x32(episode_key(seed, episode), (t, number // 2 + at_reset * RESET_BLOCKS))[number % 2]


def build(folder: Path) -> Path | None:
    """The program, with TestU01 where that is installed; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    program = folder / "orders"
    command = [compiler, "-O3", "-march=native", "-w", "-o", str(program), str(HERE / "orders.c")]
    with_library = [*command, "-I/usr/include/testu01", *LIBRARIES]
    if subprocess.run(with_library, capture_output=True, check=False).returncode:
        subprocess.run([*command, "-DNO_TESTU01"], check=True)
    return program


def compare(program: Path) -> list[str]:
    """Orders in which orders.c and the Python form give different words somewhere."""
    wrong: list[str] = []
    for order in ORDERS:
        for first in (0, 8190, 1_234_560, 307_150):
            command = [str(program), order, "words", str(first), "100"]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            if [int(line) for line in lines] != [word_at(order, i) for i in range(first, first + 100)]:
                wrong.append(f"{order}, words from {first}")
    return wrong


def run(program: Path, order: str, battery: str, rounds: int) -> dict[str, Any]:
    """One battery over one order: tests, suspect and failed p values, the least of them, words used."""
    done = subprocess.run(
        [str(program), order, battery, str(rounds)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{order}, {battery}: {done.stderr or 'ended without a result'}")
    return json.loads(done.stderr.splitlines()[-1])


def row(order: str, results: list[dict[str, Any]], rounds: int) -> str:
    """One line of the table."""
    meaning = ORDERS[order][0] + ("" if rounds == 13 else f"; **{rounds} rounds only**, a control")
    cells = [f"| {order} | {meaning}"]
    for result in results:
        size = result["words"] * 4 / 2**30
        cells.append(f"{size:.2f} GiB | {result['failed']} | {result['suspect']} | {result['least']:.1e}")
    return " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--battery", choices=["small", "rabbit", "crush"], action="append")
    parser.add_argument("--order", choices=list(ORDERS), action="append")
    parser.add_argument("--check", action="store_true", help="compare orders.c with the Python form and stop")
    parser.add_argument("--write", action="store_true", help="put the table into docs/draws.md")
    options = parser.parse_args()
    batteries, orders = options.battery or ["small"], options.order or list(ORDERS)
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        if program is None:
            raise SystemExit("no C compiler found: install gcc or clang")
        wrong = compare(program)
        if wrong:
            raise SystemExit("orders.c differs from the Python form: " + "; ".join(wrong))
        print(f"orders.c and the Python form give the same words in all {len(ORDERS)} orders")
        if options.check:
            return 0
        head = " | ".join(f"{name}: read | failed | suspect | least p" for name in batteries)
        lines = [f"| order | what varies, fastest first | {head} |", "|---" * (2 + 4 * len(batteries)) + "|"]
        failed = 0
        # The control must fail, or the batteries do not see what they should.
        for order, rounds in [*((order, 13) for order in orders), (orders[0], 5)]:
            results = [run(program, order, battery, rounds) for battery in batteries]
            lines.append(row(order, results, rounds))
            print(lines[-1], flush=True)
            bad = sum(result["failed"] for result in results)
            failed += bad if rounds == 13 else bad == 0
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(
            f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}" + rest.split(END)[1], encoding="utf-8"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
