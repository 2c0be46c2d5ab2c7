"""training/pufferlib_ppo.py at a small size."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

if importlib.util.find_spec("pufferlib") is None:
    pytest.skip("could not import 'pufferlib'", allow_module_level=True)
pytestmark = [
    pytest.mark.filterwarnings("ignore:CUDA is not available:UserWarning"),  # the trainer asks for it on every device
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SIZE: dict[str, Any] = {"num_envs": 32, "num_steps": 32, "minibatch": 256, "width": 32}
SMALL = {**SIZE, "eval_episodes": 3, "eval_seeds": 2}


@pytest.fixture
def pufferlib_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("pufferlib_ppo")


def test_learns_saves_and_measures(pufferlib_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    results = pufferlib_ppo.main(
        pufferlib_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path, total_steps=20 * 1024, **SMALL)
    )
    folder = Path(results["folder"])
    assert results["steps"] == 20 * 1024
    assert any(path.name.startswith("events.out") for path in folder.iterdir())
    assert torch.load(folder / "pufferlib.pt", weights_only=True)
    assert json.loads((folder / "environment.json").read_text())["digest"] == results["digest"]
    assert results["reference"]["PufferLib PPO, trained"]["return"] > -5  # at random: about -40
    assert results["reference"]["PufferLib PPO, trained"]["episodes"] == 6


def test_continuous_actions_are_cut_to_their_bounds(
    pufferlib_ppo: ModuleType, aim: EnvPackage, tmp_path: Path
) -> None:
    results = pufferlib_ppo.main(
        pufferlib_ppo.Args(env_id="simulacrum/aim-v0", runs=tmp_path, total_steps=2 * 1024, **SMALL)
    )
    assert results["reference"]["PufferLib PPO, trained"]["return"] > -9 * 5


def test_a_closed_gate_stops_it(pufferlib_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        pufferlib_ppo.main(pufferlib_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
