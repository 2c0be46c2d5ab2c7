"""The benchmark of the battery prints a table, keeps the raw figures, and refuses what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("battery.py")


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
@pytest.mark.nightly
def test_a_table_and_the_raw_figures(tmp_path: Path) -> None:
    done = run("toywalk", "--rounds", 1, "--json", tmp_path / "raw.json")
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("| toywalk")]
    assert len(row.strip("| ").split("|")) == 6
    figures = json.loads((tmp_path / "raw.json").read_text())["toywalk"]
    assert [len(figures[name]) for name in ("alone", "lockstep", "native")] == [1, 1, 1]
    assert min(figures["alone"] + figures["lockstep"] + figures["native"]) > 0


def test_what_it_does_not_know() -> None:
    done = run("toywalk", "--rounds", 0)
    assert done.returncode == 2
    assert "error: " in done.stderr
