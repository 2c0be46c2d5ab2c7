"""Failures of planted faults made small, and the test file that is written beside them."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from mutants.mutant import ROOT, Edit, copy_env

from simulacrum.contract.package import load_package
from simulacrum.harness.bench import Bench
from simulacrum.harness.replay_step import replay_divergence
from simulacrum.harness.running import run_check
from simulacrum.trace.divergence import Divergence, read_divergence

WALL = ("(state.position + move).clamp(LEFT_END, GOAL)", "(state.position + move).clamp(LEFT_END + 1, GOAL)")
START = ("START_HIGH + 1, low=START_LOW)", "START_HIGH + 1, low=START_LOW).abs()")
LEAK = ("state.position + move)", "state.position + move.roll(1))")
SIXTEEN = (
    "move = self._move(action, slips)  # R4: int32 [N]",
    "move = self._move(action, slips)  # R4\n        move = -move if len(move) % 16 == 0 else move",
)


def failure(tmp_path: Path, edit: tuple[str, str], check: str = "differential", env: str = "toywalk") -> Divergence:
    folder = copy_env(env, tmp_path, [Edit("fast.py", *edit)])
    name = check.partition(".")[0]
    asked = frozenset({check}) if "." in check else frozenset[str]()
    bench = Bench(load_package(folder), forms=("eager",), quick=True, failures=tmp_path / "failures", asked=asked)
    outcome, _ = run_check(bench, name)
    assert outcome.status == "failed", outcome.message
    assert outcome.divergence is not None
    return outcome.divergence


def mend(tmp_path: Path, edit: tuple[str, str], env: str = "toywalk") -> None:
    path = tmp_path / env / "fast.py"
    path.write_text(path.read_text("utf-8").replace(edit[1], edit[0]), "utf-8")


def test_a_rule_fault_is_one_state_and_one_action(tmp_path: Path) -> None:
    found = failure(tmp_path, WALL, "differential.rollouts")
    shrunk = found.shrunk
    assert shrunk is not None
    assert shrunk.verified
    assert (shrunk.case.num_envs, shrunk.case.steps, shrunk.step) == (1, 1, 0)
    assert shrunk.case.line.start == {"position": -4}
    assert (shrunk.difference.kind, shrunk.difference.field) == ("state", "position")
    assert read_divergence(found.files["record"]) == found


@pytest.mark.long
def test_the_test_file_fails_until_the_twin_is_mended(tmp_path: Path) -> None:
    found = failure(tmp_path, WALL)
    wrong = pytest_on(found.files["test"])
    assert wrong.returncode == 1
    assert "the twins part in state.position after step 1 of 1" in wrong.stdout
    mend(tmp_path, WALL)
    load_package(tmp_path / "toywalk").reload()
    runpy.run_path(found.files["test"])["test_state_position"]()
    result = replay_divergence(found.files["record"], load_package(tmp_path / "toywalk"))
    assert not result.differs


def pytest_on(path: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, path]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=Path(path).parent)


def test_a_fault_of_the_reset_needs_no_action(tmp_path: Path) -> None:
    shrunk = failure(tmp_path, START, "differential.rollouts").shrunk
    assert shrunk is not None
    assert (shrunk.case.num_envs, shrunk.case.steps, shrunk.step) == (1, 0, -1)
    assert shrunk.case.line.start is None


@pytest.mark.parametrize("check", ["differential.rollouts", "batch_independence"])
def test_a_leak_between_rows_needs_one_companion(check: str, tmp_path: Path) -> None:
    shrunk = failure(tmp_path, LEAK, check).shrunk
    assert shrunk is not None
    assert (shrunk.case.num_envs, shrunk.case.steps) == (2, 1)


def test_a_fault_of_a_batch_size_is_copies_of_one_row(tmp_path: Path) -> None:
    shrunk = failure(tmp_path, SIXTEEN, "batch_independence").shrunk
    assert shrunk is not None
    assert (shrunk.case.num_envs, len(shrunk.case.lines), shrunk.case.steps) == (16, 1, 1)


@pytest.mark.parametrize("check", ["auto_reset", "invariant_sweep"])
def test_other_checks_end_in_one_step_too(check: str, tmp_path: Path) -> None:
    edit = WALL if check == "auto_reset" else ("(state.position + move).clamp(LEFT_END, GOAL)", "state.position + move")
    shrunk = failure(tmp_path, edit, check).shrunk
    assert shrunk is not None
    assert (shrunk.case.num_envs, shrunk.case.steps) == (1, 1)
