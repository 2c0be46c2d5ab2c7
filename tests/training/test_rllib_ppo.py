"""training/rllib_ppo.py at a small size: RLlib's PPO in this process, and with env runners in two others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest
import torch

pytest.importorskip("ray.rllib")

import ray
from ray.rllib.algorithms.algorithm import Algorithm

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*rllib-single-agent-env-v0:UserWarning"),
]
ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {"num_envs": 8, "batch": 320, "minibatch": 160, "width": 16, "eval_episodes": 3}


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """RLlib with a seed turns torch's deterministic algorithms on, for the whole process and for good."""
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def rllib_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("rllib_ppo")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two processes of Ray on this machine; the script uses a Ray that is already there."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def cartpole(validated: Callable[..., EnvPackage]) -> EnvPackage:
    return validated(ROOT / "envs" / "cartpole")


@pytest.mark.slow
def test_learns_saves_and_measures(rllib_ppo: ModuleType, cartpole: EnvPackage, cluster: None, tmp_path: Path) -> None:
    args = rllib_ppo.Args(runs=tmp_path, total_steps=16_000, batch=2048, eval_episodes=5, eval_seeds=2)
    results = rllib_ppo.main(args)
    first, *_, last = (point[2] for point in results["curve"])
    assert first < 40
    assert last > 2 * first
    trained, *scripted = results["reference"]
    assert trained == "RLlib PPO, trained"
    assert "balance, scripted" in scripted
    assert results["reference"][trained]["return"] > 2 * first  # on the reference twin, without exploring
    folder = Path(results["folder"])
    assert {"environment.json", "results.json", "curve.png", "model"} <= {path.name for path in folder.iterdir()}
    environment = json.loads((folder / "environment.json").read_text())
    assert json.loads((folder / "results.json").read_text())["digest"] == environment["digest"]
    del gym.registry["simulacrum/cartpole-v1"]  # as in a new process: the config registers it, from its folder
    restored = Algorithm.from_checkpoint(str(folder / "model"))
    assert gym.spec("simulacrum/cartpole-v1").kwargs["package"] == str(cartpole.folder)
    assert restored.train()["env_runners"]["num_env_steps_sampled_lifetime"] > 16_000
    restored.stop()


@pytest.mark.slow
def test_two_env_runners(rllib_ppo: ModuleType, toywalk: EnvPackage, cluster: None, tmp_path: Path) -> None:
    args = rllib_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path, num_env_runners=2, total_steps=640, **SMALL)
    results = rllib_ppo.main(args)
    assert results["curve"][-1][0] >= 640
    assert results["reference"]["RLlib PPO, trained"]["episodes"] == 15


def test_a_closed_gate_stops_it(rllib_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        rllib_ppo.main(rllib_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
