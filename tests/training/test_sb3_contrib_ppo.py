"""training/sb3_ppo.py with sb3-contrib's MaskablePPO."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO

from simulacrum.contract.package import EnvPackage

SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "width": 16, "eval_episodes": 3, "eval_seeds": 2}


@pytest.fixture
def sb3_ppo(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("sb3_ppo")


def test_masked_actions_in_training_and_measuring(sb3_ppo: ModuleType, cut_off: EnvPackage, tmp_path: Path) -> None:
    args = sb3_ppo.Args(
        env_id="simulacrum/counter-v0", algorithm="maskable_ppo", runs=tmp_path, total_steps=640, **SMALL
    )
    results = sb3_ppo.main(args)
    model = MaskablePPO.load(Path(results["folder"]) / "model.zip", device="cpu")
    assert model.num_timesteps == 640
    assert results["reference"]["SB3 MaskablePPO, trained"]["return"] == 7  # counter: 1 a step, cut off after 7


def test_an_environment_without_masks_is_refused(sb3_ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    args = sb3_ppo.Args(env_id="simulacrum/toywalk-v0", algorithm="maskable_ppo", runs=tmp_path / "runs", **SMALL)
    with pytest.raises(SystemExit, match="action masks"):
        sb3_ppo.main(args)
    assert not (tmp_path / "runs").exists()
