"""How long a fresh interpreter takes to import simulacrum and to print its help, beside what it stands on.

    python tests/benchmarks/start_up.py                         every line, 15 rounds
    python tests/benchmarks/start_up.py pass simulacrum help    some lines
    python tests/benchmarks/start_up.py --json start_up.json    and keep the raw figures

All lines are run in turns, round after round, so that a busy machine slows all of them alike; a first round, which
may write bytecode, does not count. Ratios are medians of the ratios within each round. Seconds are of the whole
process, start and end of the interpreter included; processor time is hardly changed by other work on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

BARE, MAIN = "pass", "simulacrum"
# line -> the words after `python`.
LINES: dict[str, list[str]] = {
    BARE: ["-c", "pass"],
    "numpy": ["-c", "import numpy"],
    "gymnasium": ["-c", "import gymnasium"],
    "torch": ["-c", "import torch"],
    MAIN: ["-c", "import simulacrum"],
    "both": ["-c", "import simulacrum, gymnasium"],
    "typer": ["-c", "import typer, typer.rich_utils"],
    "help": ["-m", "simulacrum", "--help"],
    "validate-help": ["-m", "simulacrum", "validate", "--help"],
    "module-help": ["-m", "simulacrum.validate", "--help"],
    "list": ["-m", "simulacrum", "list"],
}
LIBRARIES = ("numpy", "gymnasium", "torch", "typer", "rich")


@dataclass(frozen=True)
class Figures:
    """One line: seconds by the clock and by the processor, one of each a round, in the order of the rounds."""

    words: list[str]
    wall: list[float]
    processor: list[float]


def run_once(words: Sequence[str]) -> tuple[float, float]:
    """Seconds (by the clock, by the processor) of one interpreter. CalledProcessError where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(lines: Sequence[str], rounds: int) -> dict[str, Figures]:
    """The figures of each line; all lines are run once in each round."""
    found = {line: Figures(LINES[line], [], []) for line in lines}
    for number in range(rounds + 1):
        for figures in found.values():
            wall, processor = run_once(figures.words)
            if number:  # the first round only warms the caches
                figures.wall.append(wall)
                figures.processor.append(processor)
    return found


def ratio(one: Figures, other: Figures) -> float:
    """How many times as long as the other, by the clock."""
    return statistics.median(mine / its for mine, its in zip(one.wall, other.wall, strict=True))


def table(found: dict[str, Figures]) -> str:
    """Markdown: milliseconds (best, median, processor), then how many times each of the lines measured first."""
    others = [line for line in (BARE, "numpy", "gymnasium", "torch") if line in found]
    heads = ["python ...", "best ms", "median ms", "processor ms", *(f"x {line}" for line in others)]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for figures in found.values():
        milliseconds = [min(figures.wall), statistics.median(figures.wall), statistics.median(figures.processor)]
        rows.append(
            [
                f"`{' '.join(figures.words)}`",
                *(f"{1000 * seconds:.0f}" for seconds in milliseconds),
                *(f"{ratio(figures, found[line]):.2f}" for line in others),
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="*", metavar="LINE", help=f"of {', '.join(LINES)}; all by default")
    parser.add_argument("--rounds", type=int, default=15, help="processes for each line (default 15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw figures there")
    options = parser.parse_args()
    unknown = [line for line in options.lines if line not in LINES]
    if unknown or options.rounds < 1:
        parser.error(f"no line is called {', '.join(unknown)}" if unknown else "at least one round")
    found = measure(options.lines or list(LINES), options.rounds)
    versions = {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
    print(table(found))
    stated = ", ".join(f"{name} {number}" for name, number in versions.items())
    print(f"\n{options.rounds} rounds, {platform.machine()}, {os.cpu_count()} cores; {stated}.")
    if options.json is not None:
        raw = {"versions": versions, "rounds": options.rounds, "lines": {k: asdict(v) for k, v in found.items()}}
        options.json.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
