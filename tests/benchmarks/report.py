"""Make the docs' tables and pictures from a run of bench.py.

    python tests/benchmarks/report.py                 from build/bench/latest.json
    python tests/benchmarks/report.py RUN.json        from another run
    python tests/benchmarks/report.py RUN.json --growth-from OTHER.json      growth from a run of its own
    python tests/benchmarks/report.py --table         only the page anew, from docs/assets/benchmarks.json

The run goes to docs/assets/benchmarks.json, the pictures beside it, the text between the markers of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from suite import plots, text

ROOT = Path(__file__).parents[2]
LATEST = ROOT / "build" / "bench" / "latest.json"
PAGE = ROOT / "docs" / "benchmarks.md"
ASSETS = ROOT / "docs" / "assets"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


def write(result: dict[str, Any], page: Path, assets: Path, *, pictures: bool = True) -> list[Path]:
    """Put the run's text into the page, and data and pictures into the folder; returns the files written."""
    made = [page]
    if pictures:
        assets.mkdir(parents=True, exist_ok=True)
        data = assets / "benchmarks.json"
        data.write_text(json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")
        made += [data, *plots.all_of(result, assets)]
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{text.whole(result)}\n\n{END}{after}", encoding="utf-8")
    return made


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, nargs="?", default=LATEST)
    parser.add_argument("--table", action="store_true", help="only the page, from docs/assets/benchmarks.json")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    parser.add_argument("--assets", type=Path, default=ASSETS, help="the folder of data and pictures")
    parser.add_argument("--growth-from", type=Path, help="a run of `bench.py --growth`, where RUN has no growth")
    options = parser.parse_args()
    source = options.assets / "benchmarks.json" if options.table else options.run
    if not source.exists():
        raise SystemExit(f"{source} is not there: run `make bench ARGS=--full` first")
    result = json.loads(source.read_text(encoding="utf-8"))
    if options.growth_from is not None:
        other = json.loads(options.growth_from.read_text(encoding="utf-8"))
        result["growth"] = other["growth"]
        result["growth_run"] = {key: other[key] for key in ("made", "arguments", "rounds", "window_seconds")}
    for path in write(result, options.page, options.assets, pictures=not options.table):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
