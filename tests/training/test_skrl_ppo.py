"""training/skrl_ppo.py at a small size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

pytest.importorskip("skrl")
SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "width": 16, "eval_episodes": 3, "eval_seeds": 2}


@pytest.fixture
def skrl_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("skrl_ppo")


def test_trains_saves_and_measures(skrl_ppo: ModuleType, forager: EnvPackage, tmp_path: Path) -> None:
    results = skrl_ppo.main(skrl_ppo.Args(runs=tmp_path / "runs", total_steps=3 * 320, **SMALL))
    folder = Path(results["folder"])
    assert results["steps"] == 3 * 320
    assert any(path.name.startswith("events.out") for path in folder.iterdir())
    saved = torch.load(folder / "model.pt", weights_only=True)
    assert any("see_item" in name for name in saved["policy"])  # forager's items are read as items
    assert json.loads((folder / "environment.json").read_text())["digest"] == results["digest"]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]  # the library writes nowhere else
    names = list(results["reference"])
    assert names[0] == "skrl PPO, trained"
    assert any(name.startswith("greedy") for name in names)
    assert all(measured["episodes"] == 6 for measured in results["reference"].values())


def test_learns_to_aim_with_numbers_for_actions(skrl_ppo: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    size = {**SMALL, "num_envs": 64, "minibatch": 320, "learning_rate": 1e-2, "width": 32}
    results = skrl_ppo.main(
        skrl_ppo.Args(env_id="simulacrum/aim-v0", runs=tmp_path / "runs", total_steps=25 * 1280, **size)
    )
    assert results["reference"]["skrl PPO, trained"]["return"] > -0.5  # aiming at 0 always: -5/3


def test_a_closed_gate_stops_it(skrl_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        skrl_ppo.main(skrl_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
