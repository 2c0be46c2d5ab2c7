"""training/sb3_off_policy.py at a small size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from stable_baselines3 import DQN, SAC

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

SMALL = {"num_envs": 8, "num_steps": 10, "minibatch": 32, "width": 16, "eval_episodes": 3, "eval_seeds": 2}
LITTLE = {"total_steps": 640, "random_steps": 80, "update_to_data": 0.1}
Script = Callable[[str], ModuleType]


@pytest.fixture
def sb3_off_policy(script: Script) -> ModuleType:
    return script("sb3_off_policy")


@pytest.mark.parametrize(("algorithm", "kind", "package"), [("dqn", DQN, "toywalk"), ("sac", SAC, "aim")])
def test_trains_saves_and_measures(
    sb3_off_policy: ModuleType,
    algorithm: str,
    kind: type[DQN] | type[SAC],
    package: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    env_id = request.getfixturevalue(package).env_id
    args = sb3_off_policy.Args(algorithm=algorithm, env_id=env_id, runs=tmp_path, **LITTLE, **SMALL)
    results = sb3_off_policy.main(args)
    model = kind.load(Path(results["folder"]) / "model.zip", device="cpu")
    assert model.num_timesteps == 640
    assert model._n_updates == 7 * 8  # in seven of eight rounds there is enough to learn from
    reference = results["reference"]
    assert next(iter(reference)) == f"SB3 {algorithm.upper()}, trained"
    assert all(measured["episodes"] == 6 for measured in reference.values())
    assert results["curve"][-1][0] <= 640
    assert 0 < sum(point[4] for point in results["curve"]) <= 8 * 640


def test_a_closed_gate_stops_it(sb3_off_policy: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        sb3_off_policy.main(
            sb3_off_policy.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **LITTLE, **SMALL)
        )
    assert not (tmp_path / "runs").exists()
