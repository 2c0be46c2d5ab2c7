"""training/curves.py on runs that are written by hand: what it reads, groups, and draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import tyro

Script = Callable[[str], ModuleType]


@pytest.fixture
def curves(script: Script) -> ModuleType:
    return script("curves")


def write(folder: Path, name: str, curve: list[list[float]], reached: float, env_id: str = "simulacrum/x-v0") -> Path:
    folder.mkdir(parents=True)
    reference = {f"{name}, trained": {"return": reached}, "greedy, scripted": {"return": 9.0}}
    body = {"env_id": env_id, "curve": curve, "steps": curve[-1][0] if curve else 0, "reference": reference}
    (folder / "results.json").write_text(json.dumps(body))
    return folder


def rising(top: float) -> list[list[float]]:
    return [[1000.0 * k, float(k), top * k / 10, 5.0, 2.0] for k in range(1, 11)]


def test_runs_of_one_algorithm_are_one_line(curves: ModuleType, tmp_path: Path) -> None:
    folders = (
        write(tmp_path / "a", "PQN", rising(10), 10.5),
        write(tmp_path / "b", "DQN", rising(8), 8.0),
        write(tmp_path / "c", "PQN", rising(12), 12.5),
    )
    lines = curves.main(curves.Args(folders=folders, out=tmp_path / "new" / "curves.png"))
    assert lines[2:] == [
        "| PQN | simulacrum/x-v0 | 2 | 10,000 | 11.50 | 10.50 to 12.50 |",
        "| DQN | simulacrum/x-v0 | 1 | 10,000 | 8.00 |  |",
    ]
    assert (tmp_path / "new" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_point_is_the_mean_of_the_episodes_of_its_window(curves: ModuleType) -> None:
    run = {"curve": [[10.0, 0.0, 1.0, 5.0, 1.0], [20.0, 0.0, 4.0, 5.0, 3.0], [60.0, 0.0, 7.0, 5.0, 1.0]]}
    found = curves.smooth(run, np.array([0.0, 10.0, 20.0, 20.0, 50.0, 60.0]), 15)
    assert np.isnan(found[0])
    assert found[1:].tolist() == [1.0, (1 + 3 * 4) / 4, (1 + 3 * 4) / 4, 4.0, 7.0]


def test_what_is_no_finished_run_is_named(curves: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    with pytest.raises(SystemExit, match="not finished"):
        curves.main(curves.Args(folders=(tmp_path / "open",)))
    with pytest.raises(SystemExit, match="no curve"):
        curves.main(curves.Args(folders=(write(tmp_path / "empty", "PQN", [], 0.0),)))
    with pytest.raises(SystemExit, match="at least one"):
        curves.main(curves.Args(folders=()))


def test_arguments_are_read_from_the_command_line(curves: ModuleType) -> None:
    args = tyro.cli(curves.Args, args=["runs/a", "runs/b", "--out", "x.png"])
    assert args.folders == (Path("runs/a"), Path("runs/b"))
    assert args.out == Path("x.png")
