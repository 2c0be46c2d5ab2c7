"""training/sb3_ppo.py at a small size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from stable_baselines3 import PPO

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "width": 16, "eval_episodes": 3, "eval_seeds": 2}


@pytest.fixture
def sb3_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("sb3_ppo")


def test_trains_saves_and_measures(sb3_ppo: ModuleType, forager: EnvPackage, tmp_path: Path) -> None:
    results = sb3_ppo.main(sb3_ppo.Args(runs=tmp_path, total_steps=3 * 320, **SMALL))
    folder = Path(results["folder"])
    assert {"model.zip", "progress.csv", "results.json"} <= {path.name for path in folder.iterdir()}
    assert PPO.load(folder / "model.zip", device="cpu").num_timesteps == 3 * 320
    heads = (folder / "progress.csv").read_text().splitlines()[0]
    assert "rollout/ep_rew_mean" in heads
    names = list(results["reference"])
    assert names[0] == "SB3 PPO, trained"
    assert any(name.startswith("greedy") for name in names)
    assert all(measured["episodes"] == 6 for measured in results["reference"].values())


def test_trains_without_items_on_a_plain_network(sb3_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    env_id = "simulacrum/toywalk-v0"
    results = sb3_ppo.main(sb3_ppo.Args(env_id=env_id, runs=tmp_path, total_steps=320, **SMALL))
    model = PPO.load(Path(results["folder"]) / "model.zip", device="cpu")
    assert type(model.policy.features_extractor).__name__ == "FlattenExtractor"


def test_a_closed_gate_stops_it(sb3_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        sb3_ppo.main(sb3_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
