"""training/rsl_rl_ppo.py at a small size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError, UsageError

pytest.importorskip("rsl_rl")
SMALL = {"num_envs": 64, "num_steps": 20, "minibatch": 320, "width": 32, "eval_episodes": 3, "eval_seeds": 2}
GLIDER = Path(__file__).parents[1] / "kit" / "glider"


@pytest.fixture
def rsl_rl_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("rsl_rl_ppo")


def test_learns_to_aim_saves_and_measures(rsl_rl_ppo: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    results = rsl_rl_ppo.main(
        rsl_rl_ppo.Args(env_id="simulacrum/aim-v0", runs=tmp_path, total_steps=30 * 1280, learning_rate=3e-3, **SMALL)
    )
    assert results["steps"] == 30 * 1280
    assert results["reference"]["rsl_rl PPO, trained"]["return"] > -0.5  # aiming at 0 always: -5/3
    assert results["reference"]["rsl_rl PPO, trained"]["episodes"] == 6
    folder = Path(results["folder"])
    saved = torch.load(folder / results["model"], weights_only=False)
    assert saved["iter"] == 29
    assert any(path.name.startswith("events.out") for path in folder.iterdir())
    assert json.loads((folder / "environment.json").read_text())["digest"] == results["digest"]
    assert not list(folder.glob("git/*"))


def test_trains_on_the_groups_of_a_dict(
    rsl_rl_ppo: ModuleType, validated: Callable[..., EnvPackage], tmp_path: Path
) -> None:
    validated(GLIDER)
    results = rsl_rl_ppo.main(
        rsl_rl_ppo.Args(env_id="simulacrum/glider-v0", runs=tmp_path, total_steps=2 * 1280, **SMALL)
    )
    assert results["reference"]["rsl_rl PPO, trained"]["episodes"] == 6


def test_a_closed_gate_and_discrete_actions_stop_it(
    rsl_rl_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path
) -> None:
    args = rsl_rl_ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL)
    with pytest.raises(UsageError, match="continuous"):
        rsl_rl_ppo.main(args)
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        rsl_rl_ppo.main(args)
    assert not (tmp_path / "runs").exists()
