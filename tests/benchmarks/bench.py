"""Measure forms, hand-written C and other libraries side by side: `make bench`.

    python tests/benchmarks/bench.py                                a few minutes: N = 64 and 8,192
    python tests/benchmarks/bench.py --full                         all sizes, then growth against N, berries and grid
    python tests/benchmarks/bench.py --peers envpool gymnax         and these, set up in .venv-bench on first use
    python tests/benchmarks/bench.py --environments toywalk --sizes 1 64 --forms eager

Contenders take turns, window by window, in one run on one thread (suite/contender.py). Raw windows, versions and the
machine are kept as JSON in build/bench (or --out); tests/benchmarks/report.py makes tables and pictures of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch
from suite import growth, machine, ours, plan, tables, venvs

RESULTS = Path(__file__).parents[2] / "build" / "bench"
FORMAT = 1


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="all sizes, more rounds, and growth")
    parser.add_argument("--growth", action="store_true", help="growth alone")
    parser.add_argument("--environments", nargs="+", default=list(plan.ENVIRONMENTS), choices=plan.ENVIRONMENTS)
    parser.add_argument("--sizes", nargs="+", type=int, help="numbers of rows N")
    parser.add_argument("--forms", nargs="+", default=ours.forms(), choices=ours.forms())
    parser.add_argument("--peers", nargs="*", default=[], help=f"of {', '.join(venvs.PINS)}")
    parser.add_argument("--rounds", type=int, help="windows of each contender (5; 9 with --full)")
    parser.add_argument("--seconds", type=float, help="of each window (0.2)")
    parser.add_argument("--out", type=Path, help="the file to write; build/bench/TIME.json and latest.json otherwise")
    return parser.parse_args(given)


def planned(options: argparse.Namespace) -> plan.Plan:
    """The plan that the command line asks for."""
    progress = Progress()
    return plan.Plan(
        environments=options.environments,
        sizes=options.sizes or (plan.SIZES_FULL if options.full else plan.SIZES_SHORT),
        forms=options.forms,
        # Gymnasium is measured in any case: it needs no virtual environment of its own.
        peers=[name for name in options.peers if name != "gymnasium"],
        rounds=options.rounds or (9 if options.full else 5),
        seconds=options.seconds or 0.2,
        say=progress.say,
        show=progress.show,
    )


class Progress:
    """One line on the standard error that says what is being done, and a table for each finished group."""

    def __init__(self) -> None:
        self.began, self.live = time.perf_counter(), sys.stderr.isatty()

    def say(self, text: str) -> None:
        """Show what is being done; on a terminal only, where the line can be written over."""
        if self.live:
            line = f"{time.perf_counter() - self.began:6.0f} s  {text}"
            print(f"\r\x1b[K{line[:110]}", end="", file=sys.stderr, flush=True)

    def show(self, group: dict[str, Any]) -> None:
        """Print the figures of a group."""
        if self.live:
            print("\r\x1b[K", end="", file=sys.stderr)
        print(f"{tables.plain(group)}\n", flush=True)


def main() -> int:
    options = arguments()
    torch.set_num_threads(1)
    chosen = planned(options)
    failed = venvs.ensure(chosen.peers, say=lambda text: print(text, file=sys.stderr, flush=True))
    began = time.perf_counter()
    result: dict[str, Any] = {
        "format": FORMAT,
        "made": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "arguments": [text for text in sys.argv[1:] if text not in ("--out", str(options.out))],
        "machine": machine.describe(),
        "rounds": chosen.rounds,
        "window_seconds": chosen.seconds,
        "groups": [],
        "missing": [],
    }
    try:
        if not options.growth:
            plan.run(chosen, result)
        if options.full or options.growth:
            growth.run(chosen, result)
    except KeyboardInterrupt:
        print("\nstopped: what was measured so far is kept", file=sys.stderr)
    result["missing"] += [{"name": name, "why": why} for name, why in failed.items()]
    result["took_seconds"] = round(time.perf_counter() - began)
    for path in keep(result, options.out):
        print(f"kept in {path}")
    for text in sorted({f"{each['name']}: {each['why']}" for each in result["missing"]}):
        print(f"not measured: {text}")
    return 0


def keep(result: dict[str, Any], out: Path | None) -> list[Path]:
    """Write the result; returns the files."""
    stamp = result["made"].replace(":", "").replace("+0000", "Z")
    paths = [out] if out else [RESULTS / f"{stamp}.json", RESULTS / "latest.json"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return paths


if __name__ == "__main__":
    sys.exit(main())
