"""tools/validate_environments.py: all that is shipped is validated, and a failure of one is a failure of the whole."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import validate_environments  # noqa: E402  # after its folder is on the path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one environment, and beside it what is none."""
    shutil.copytree(ROOT / "envs" / "toywalk", tmp_path / "toywalk", ignore=shutil.ignore_patterns("*report.json"))
    (tmp_path / "_shared").mkdir()
    (tmp_path / "_shared" / "help.py").touch()
    (tmp_path / "__pycache__").mkdir()
    return tmp_path


def test_finds_every_environment_of_the_project():
    shipped = {path.parent.name for path in (ROOT / "envs").glob("*/schema.json")}
    assert shipped <= set(validate_environments.environments())
    assert {"toywalk", "cartpole"} <= shipped


def test_half_an_environment_is_not_left_out(folder: Path):
    (folder / "begun").mkdir()
    (folder / "begun" / "reference.py").touch()
    assert validate_environments.environments(folder) == ["begun", "toywalk"]


@pytest.mark.long
def test_a_broken_environment_is_told_beside_one_that_passes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    shutil.copytree(folder / "toywalk", folder / "broken")
    (folder / "broken" / "fast.py").unlink()
    # One check is enough to see how a run ends.
    monkeypatch.setattr(validate_environments, "QUICK", ["--quick", "-k", "spec_contract"])
    given = ["toywalk", "broken", "--folder", str(folder), "--quick", "--jobs", "2"]
    assert validate_environments.main(given) == 1
    lines = capsys.readouterr().out.splitlines()
    told = {line.split()[0]: line for line in lines[:2]}
    assert "passed" in told["toywalk"]
    assert "FAILED" in told["broken"]
    assert "fast.py" in told["broken"]
    assert lines[-1] == "1 of 2 environments passed, broken did not"
    assert validate_environments.main(["toywalk", *given[2:]]) == 0


def test_a_folder_without_environments_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert validate_environments.main(["--folder", str(tmp_path)]) == 2
    assert "no environment" in capsys.readouterr().err
