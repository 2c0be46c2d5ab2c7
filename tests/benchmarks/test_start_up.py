"""The start-up benchmark runs, tells every line that was asked for, and refuses what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("start_up.py")


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_table_and_the_raw_figures(tmp_path: Path) -> None:
    done = run("pass", "simulacrum", "help", "--rounds", 2, "--json", tmp_path / "raw.json")
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split("|") for line in done.stdout.splitlines() if line.startswith("| `")]
    assert [row[0].strip() for row in rows] == ["`-c pass`", "`-c import simulacrum`", "`-m simulacrum --help`"]
    assert rows[0][-1].strip() == "1.00"
    raw = json.loads((tmp_path / "raw.json").read_text())
    assert set(raw["lines"]) == {"pass", "simulacrum", "help"}
    for figures in raw["lines"].values():
        assert len(figures["wall"]) == len(figures["processor"]) == 2
        assert all(seconds > 0 for seconds in figures["wall"] + figures["processor"])


@pytest.mark.parametrize("words", [["nonsense"], ["pass", "--rounds", "0"]])
def test_what_it_does_not_know(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert "error: " in done.stderr
