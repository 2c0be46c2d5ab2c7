"""training/tune_ppo.py at a small size: trials in processes of Ray, and what is made of them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("ray.tune")

import ray

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*RAY_AIR_NEW_OUTPUT.*:UserWarning"),
]
SMALL: dict[str, Any] = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "total_steps": 960, "eval_episodes": 3}


@pytest.fixture
def tune_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("tune_ppo")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two processes of Ray on this machine; the script uses a Ray that is already there."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def package(toywalk: EnvPackage) -> EnvPackage:
    return toywalk


def small(tune_ppo: ModuleType, package: EnvPackage, runs: Path, **more: Any) -> Any:
    env_id = package.env_id
    return tune_ppo.Args(env_id=env_id, register=package.folder, runs=runs, settings=2, seeds=(1, 2), **SMALL, **more)


@pytest.mark.slow
def test_settings_times_seeds(tune_ppo: ModuleType, package: EnvPackage, cluster: None, tmp_path: Path) -> None:
    results = tune_ppo.main(small(tune_ppo, package, tmp_path))
    assert len(results["settings"]) == 2
    assert sum(entry["usual"] for entry in results["settings"]) == 1
    folder = Path(results["folder"])
    assert {"sweep.png", "results.json", "environment.json"} <= {path.name for path in folder.iterdir()}
    for entry in results["settings"]:
        assert [one["seed"] for one in entry["trials"]] == [1, 2]
        for one in entry["trials"]:
            written = json.loads((Path(one["folder"]) / "results.json").read_text())  # a whole run of ppo.py each
            assert written["digest"] == one["digest"] == results["digest"]
            assert written["args"]["total_steps"] == 960
            assert {key: written["args"][key] for key in tune_ppo.SEARCHED} == entry["setting"]
            assert written["args"]["seed"] == one["seed"]
    (usual,) = (entry["setting"] for entry in results["settings"] if entry["usual"])
    assert usual == {key: getattr(tune_ppo.PPOArgs(), key) for key in tune_ppo.SEARCHED}


@pytest.mark.slow
def test_a_trial_that_fails_is_told(tune_ppo: ModuleType, package: EnvPackage, cluster: None, tmp_path: Path) -> None:
    args = small(tune_ppo, package, tmp_path)
    args.settings, args.seeds, args.minibatch = 1, (1,), 77  # 77 divides nothing
    with pytest.raises(SystemExit, match=r"1 of 1 trials failed(.|\n)*minibatch"):
        tune_ppo.main(args)


def test_a_closed_gate_stops_it(tune_ppo: ModuleType, package: EnvPackage, tmp_path: Path) -> None:
    (package.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        tune_ppo.main(small(tune_ppo, package, tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


def test_trials_are_gathered_by_setting_with_their_spread(tune_ppo: ModuleType) -> None:
    drawn = {"learning_rate": 0.01, "entropy": 0.001, "epochs": 1}
    usual = {key: getattr(tune_ppo.PPOArgs(), key) for key in tune_ppo.SEARCHED}
    rest = {"length": 5.0, "folder": "", "digest": "", "seconds": 1.0, "curve": []}
    trials = [
        ({**usual, "seed": 2}, {"return": 1.0, **rest}),
        ({**drawn, "seed": 2}, {"return": 6.0, **rest}),
        ({**drawn, "seed": 1}, {"return": 4.0, **rest}),
    ]
    first, second = tune_ppo.gathered(trials)
    assert (first["setting"], first["return"], first["usual"]) == (drawn, 5.0, False)
    assert first["standard_error"] == pytest.approx(1.0)
    assert [one["seed"] for one in first["trials"]] == [1, 2]
    assert (second["return"], second["usual"]) == (1.0, True)
    assert math.isnan(second["standard_error"])
