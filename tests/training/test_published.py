"""training/published.py: what is trained, what is kept of it, and whether a level counts as reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from simulacrum.contract.package import EnvPackage

Script = Callable[[str], ModuleType]
SIZE = {"total_steps": 16_000, "num_envs": 64, "minibatch": 256, "width": 32, "eval_episodes": 10, "eval_seeds": 1}


@pytest.fixture
def published(script: Script) -> ModuleType:
    return script("published")


@pytest.fixture
def toy(script: Script, published: ModuleType, monkeypatch: pytest.MonkeyPatch, toywalk: EnvPackage) -> str:
    """toywalk as the only row of the table; its optimum is 1 less what the steps cost."""
    settings = script("settings").Settings("pqn", 0.5, "what is asked of it here", seeds=2, arguments=SIZE)
    monkeypatch.setattr(published, "TABLE", {"toywalk": settings})
    monkeypatch.setattr(published, "load_package", lambda name: toywalk)
    return "toywalk"


def test_trains_each_seed_and_keeps_what_the_page_shows(published: ModuleType, toy: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert published.main(published.Args(names=(toy,), runs=tmp_path / "runs", out=out)) == 0
    kept = json.loads((out / "toywalk-training.json").read_text())
    assert (kept["env_id"], kept["algorithm"], kept["reached"]) == ("simulacrum/toywalk-v0", "PQN", True)
    assert [run["seed"] for run in kept["runs"]] == [1, 2]
    assert kept["return"] == sum(run["return"] for run in kept["runs"]) / 2 >= 0.5
    assert kept["scripted"]["always_right, scripted"] == pytest.approx(kept["return"], abs=0.2)
    assert kept["command"] == (
        "python training/pqn.py --env-id simulacrum/toywalk-v0 --total-steps 16_000 --num-envs 64 --minibatch 256 "
        "--width 32 --eval-episodes 10 --eval-seeds 1"
    )
    assert (out / "toywalk-training.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_says_the_parameters_as_one_types_them(published: ModuleType, toy: str) -> None:
    row = replace(published.TABLE[toy], arguments={"total_steps": 100, "params": {"slip": 0.5, "size": 5}})
    assert published.command(toy, row).endswith("--total-steps 100 --params slip 0.5 size 5")


def test_a_level_that_was_not_reached_is_told(
    published: ModuleType, toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published.TABLE[toy] = replace(published.TABLE[toy], level=2.0, arguments={**SIZE, "total_steps": 2_048})
    args = published.Args(names=(toy,), seeds=1, runs=tmp_path / "runs", out=tmp_path)
    assert published.main(args) == 1
    assert "not reached" in capsys.readouterr().out.splitlines()[-1]
    assert json.loads((tmp_path / "toywalk-training.json").read_text())["reached"] is False


def test_a_closed_gate_is_told_with_what_mends_it(
    published: ModuleType, toy: str, toywalk: EnvPackage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    assert published.main(published.Args(names=(toy,), runs=tmp_path / "runs", out=tmp_path / "out")) == 1
    told = capsys.readouterr().out
    assert "toywalk                  not trained: " in told
    assert "simulacrum" in told
    assert not (tmp_path / "out").exists()


def test_a_quick_look_writes_nothing(published: ModuleType, toy: str, tmp_path: Path) -> None:
    assert published.main(published.Args(names=(toy,), quick=True, runs=tmp_path / "runs", out=tmp_path / "out")) == 0
    assert not (tmp_path / "out").exists()
    (folder,) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "results.json").read_text())["args"]["total_steps"] == 800


def test_which_environments_are_meant(published: ModuleType, toy: str, tmp_path: Path) -> None:
    assert published.chosen(published.Args(all=True)) == ["toywalk"]
    assert published.chosen(published.Args(missing=True, out=tmp_path)) == ["toywalk"]
    (tmp_path / "toywalk-training.json").write_text("{}")
    assert published.chosen(published.Args(missing=True, out=tmp_path)) == []
    with pytest.raises(SystemExit, match="no settings for chess"):
        published.chosen(published.Args(names=("chess",)))
    with pytest.raises(SystemExit, match="name an environment"):
        published.chosen(published.Args())


def test_the_table_names_scripts_and_their_arguments(script: Script) -> None:
    for name, settings in script("settings").TABLE.items():
        module = script(settings.script)
        assert settings.arguments["total_steps"] > 0, name
        module.Args(**settings.arguments)
