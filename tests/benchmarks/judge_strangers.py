"""Which rules of the vector contract hold for which vector environments, ours and other people's.

    python tests/benchmarks/judge_strangers.py                    judge all that is installed; print what was found
    python tests/benchmarks/judge_strangers.py --set-up --write   set up what is missing, and write docs/conformance.md
    python tests/benchmarks/judge_strangers.py --only sync        those with this in their title
    python tests/benchmarks/judge_strangers.py --write --from-raw renew the page from the last run's results

Each environment is judged in a process of its own, in the virtual environment of its library (suite/venvs.py).
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from suite import venvs
from suite.findings import write_page
from suite.strangers import STRANGERS, Stranger

from simulacrum.conformance.rule import Result
from simulacrum.conformance.supervise import Made, Request, run

ROOT = Path(__file__).parents[2]
RAW = ROOT / "docs" / "assets" / "conformance.json"


def judge(stranger: Stranger, seconds: float) -> dict[str, Any]:
    """What was made and how each rule ended, as JSON; "missing" where the library is not installed."""
    python = Path(sys.executable) if stranger.venv is None else venvs.python_of(stranger.venv)
    head = {"title": stranger.title, "library": stranger.library, "command": stranger.command}
    if not python.exists():
        return {**head, "missing": f"{stranger.venv} is not set up"}
    found: list[dict[str, Any]] = []
    made: dict[str, Any] = {}
    environment = {"PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"}
    request = Request(stranger.target, kwargs=stranger.kwargs, vectorization_mode=stranger.mode, seconds=seconds,
                      python=str(python), environment=environment)  # fmt: skip
    for one in run(request):
        if isinstance(one, Made):
            made = {"class": one.name, "mode": one.mode, "versions": {**one.versions, **version_of(stranger)}}
        elif isinstance(one, Result):
            found.append({name: value for name, value in one.to_json().items() if name != "seconds"})
    return {**head, **made, "results": found}


def version_of(stranger: Stranger) -> dict[str, str]:
    """The version of a library that has a virtual environment of its own, as it is pinned there."""
    if stranger.venv is None:
        return {"simulacrum": version("simulacrum")} if stranger.library == "simulacrum" else {}
    pins = {**venvs.STRANGERS, **venvs.PINS}[stranger.venv]
    # A pin has two parts: name==version.
    return dict(pin.split("==") for pin in pins if pin.startswith(stranger.library))  # type: ignore[misc]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="judge those with this text in their title")
    parser.add_argument("--set-up", action="store_true", help="set up the libraries that are missing")
    parser.add_argument("--seconds", type=float, default=60.0, help="that one rule may take")
    parser.add_argument("--write", action="store_true", help="write docs/conformance.md and the raw results")
    parser.add_argument("--from-raw", action="store_true", help="take the last run's results")
    chosen = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    if chosen.set_up:
        venvs.ensure(sorted({one.venv for one in STRANGERS if one.venv}))
    for stranger in [] if chosen.from_raw else STRANGERS:
        if chosen.only in stranger.title:
            found[stranger.title] = judge(stranger, chosen.seconds)
            print(told(found[stranger.title]), flush=True)
    kept = {one["title"]: one for one in json.loads(RAW.read_text(encoding="utf-8"))} if RAW.exists() else {}
    kept |= found
    runs = [kept[one.title] for one in STRANGERS if one.title in kept]
    if chosen.write:
        RAW.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
        write_page(ROOT / "docs" / "conformance.md", runs)
    return 0


def told(one: dict[str, Any]) -> str:
    """One environment for the terminal."""
    if "missing" in one:
        return f"{one['title']}: {one['missing']}"
    lines = [f"{one['title']}: {one['class']}, {one['mode']}, {one['versions']}"]
    lines += [f"  {r['severity']:<8} {r['rule']:<34} {r['message']}" for r in one["results"] if r["status"] == "failed"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
