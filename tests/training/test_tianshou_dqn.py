"""training/tianshou_dqn.py at a small size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

pytest.importorskip("tianshou")

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

SMALL: dict[str, Any] = {
    "env_id": "simulacrum/toywalk-v0",
    "total_steps": 1600,
    "num_envs": 8,
    "update_to_data": 0.25,
    "random_steps": 200,
    "width": 16,
    "test_episodes": 3,
    "eval_episodes": 3,
    "eval_seeds": 2,
}


@pytest.fixture
def tianshou_dqn(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("tianshou_dqn")


def test_trains_saves_and_measures(tianshou_dqn: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    results = tianshou_dqn.main(tianshou_dqn.Args(runs=tmp_path, **SMALL))
    folder = Path(results["folder"])
    assert results["steps"] >= 1600 + 200
    assert any(path.name.startswith("events.out") for path in folder.iterdir())
    assert torch.load(folder / "model.pt", weights_only=True)
    assert json.loads((folder / "environment.json").read_text())["digest"] == results["digest"]
    names = list(results["reference"])
    assert names[0] == "Tianshou DQN, trained"
    assert any(name.startswith("always_right") for name in names)
    assert all(measured["episodes"] == 6 for measured in results["reference"].values())


def test_continuous_actions_are_refused(tianshou_dqn: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="Discrete"):
        tianshou_dqn.main(tianshou_dqn.Args(runs=tmp_path, **{**SMALL, "env_id": "simulacrum/aim-v0"}))


def test_a_closed_gate_stops_it(tianshou_dqn: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        tianshou_dqn.main(tianshou_dqn.Args(runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
