"""training/torchrl_ppo.py at a small size."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

with warnings.catch_warnings():  # the library warns of its own classes while it is imported
    warnings.simplefilter("ignore")
    pytest.importorskip("torchrl.collectors")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "width": 16, "eval_episodes": 3, "eval_seeds": 2}


@pytest.fixture
def torchrl_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("torchrl_ppo")


def test_trains_saves_and_measures(torchrl_ppo: ModuleType, forager: EnvPackage, tmp_path: Path) -> None:
    results = torchrl_ppo.main(torchrl_ppo.Args(runs=tmp_path, total_steps=3 * 320, **SMALL))
    folder = Path(results["folder"])
    assert results["steps"] == 3 * 320
    assert any(path.name.startswith("events.out") for path in folder.iterdir())
    saved = torch.load(folder / "model.pt", weights_only=True)
    assert any("see_item" in name for name in saved["policy"])  # forager's items are read as items
    assert json.loads((folder / "environment.json").read_text())["digest"] == results["digest"]
    names = list(results["reference"])
    assert names[0] == "TorchRL PPO, trained"
    assert any(name.startswith("greedy") for name in names)
    assert all(measured["episodes"] == 6 for measured in results["reference"].values())


def test_learns_to_aim_with_numbers_for_actions(torchrl_ppo: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    size = {**SMALL, "num_envs": 64, "minibatch": 320, "learning_rate": 1e-2, "width": 32}
    results = torchrl_ppo.main(
        torchrl_ppo.Args(env_id="simulacrum/aim-v0", runs=tmp_path, total_steps=25 * 1280, **size)
    )
    assert results["reference"]["TorchRL PPO, trained"]["return"] > -0.5  # aiming at 0 always: -5/3


def test_a_closed_gate_stops_it(torchrl_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        torchrl_ppo.main(torchrl_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
