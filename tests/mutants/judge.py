"""Run the quick checks on one package, eagerly, and print or return how each ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.contract.package import load_package
from simulacrum.harness.bench import Bench
from simulacrum.harness.running import run_check

# The compiled form has mutants of its own; there is nothing eager for its check to judge.
EAGER_CHECKS = tuple(name for name in CHECK_NAMES if name != "benchmark_factory_parity")


def statuses(
    folder: Path, scratch: Path, checks: Sequence[str] = EAGER_CHECKS, forms: tuple[str, ...] = ("eager",)
) -> dict[str, tuple[str, str]]:
    """(status, message) of each check, by name, on the package in `folder`."""
    bench = Bench(load_package(folder), forms=forms, quick=True, failures=scratch, shrink=False)
    ended = {name: run_check(bench, name)[0] for name in checks}
    return {name: (outcome.status, outcome.message) for name, outcome in ended.items()}


def statuses_under(
    framework: Path, folder: Path, scratch: Path, checks: Sequence[str] = EAGER_CHECKS
) -> dict[str, tuple[str, str]]:
    """The same, by the framework in another folder, in a process of its own."""
    paths = [str(framework), str(Path(__file__).resolve().parents[1])]
    command = [sys.executable, "-m", "mutants.judge", str(folder), str(scratch), *checks]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, capture_output=True, text=True, check=False,
        cwd=framework,
    )
    assert done.returncode == 0, done.stderr
    return {name: (status, message) for name, (status, message) in json.loads(done.stdout.splitlines()[-1]).items()}


def caught(ended: dict[str, tuple[str, str]]) -> frozenset[str]:
    """The checks that did not let the package through."""
    return frozenset(name for name, (status, _) in ended.items() if status not in ("passed", "skipped"))


if __name__ == "__main__":
    print(json.dumps(statuses(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])))
