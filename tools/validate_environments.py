"""Validate every environment below envs/ in full, some side by side, and print what came of each: `make test-envs`.

    python tools/validate_environments.py --jobs 2              all of them
    python tools/validate_environments.py cartpole pong         these
    python tools/validate_environments.py --quick               a fraction of the work; grants nothing

Each is a `simulacrum validate NAME --json` of its own. Exit codes: 0 all passed, 1 one failed, 2 there is none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ENVS = Path(__file__).resolve().parents[1] / "envs"
QUICK = ["--quick"]


@dataclass(frozen=True)
class Outcome:
    """How one validation ended. `forms` were built and passed, `why` tells what failed and is empty otherwise."""

    name: str
    passed: bool
    seconds: float
    forms: str
    why: str


def environments(folder: Path = ENVS) -> list[str]:
    """The folders that hold an environment, or the beginnings of one: what is half there must fail, not be left out."""
    places = (path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(("_", ".")))
    return sorted(path.name for path in places if any(path.glob("*.py")) or (path / "spec.md").is_file())


def validate(folder: Path, options: Sequence[str]) -> Outcome:
    """Run one validation to its end."""
    command = [sys.executable, "-m", "simulacrum", "validate", str(folder), "--json", *options]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    events = list(_events(done.stdout))
    last = next((event for event in reversed(events) if event["event"] in ("finished", "error")), {})
    first = next((event for event in events if event["event"] == "started"), {})
    passed = done.returncode == 0 and last.get("passed") is True
    why = "" if passed else _why(events, last, done)
    return Outcome(folder.name, passed, time.monotonic() - began, ", ".join(first.get("forms", ())), why)


def _events(text: str) -> Iterator[dict[str, object]]:
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            yield event


def _why(events: list[dict[str, object]], last: dict[str, object], done: subprocess.CompletedProcess[str]) -> str:
    bad = [f"{one['name']}: {one['message']}" for one in events
           if one["event"] == "check" and one["status"] in ("failed", "inconclusive")]  # fmt: skip
    if bad:
        return "; ".join(bad)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return str(last.get("message") or (said[-1] if said else f"ended with status {done.returncode}"))


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="environments; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="side by side")
    parser.add_argument("--folder", type=Path, default=ENVS, help="where they are")
    parser.add_argument("--quick", action="store_true", help="a fraction of the work; grants nothing")
    asked = parser.parse_args(given)
    names = asked.names or environments(asked.folder)
    if not names:
        print(f"no environment in {asked.folder}", file=sys.stderr)
        return 2
    options, failed = QUICK if asked.quick else [], list[str]()
    width = max(map(len, names))
    with ThreadPoolExecutor(max(1, asked.jobs)) as pool:
        runs = [pool.submit(validate, asked.folder / name, options) for name in names]
        for run in as_completed(runs):
            one = run.result()
            failed += [] if one.passed else [one.name]
            ended, told = ("passed", one.forms) if one.passed else ("FAILED", one.why)
            print(f"{one.name:{width}}  {ended}  {one.seconds:6.0f} s  {told}", flush=True)
    left = "".join(f", {name} did not" for name in sorted(failed))
    print(f"{len(names) - len(failed)} of {len(names)} environments passed{left}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
