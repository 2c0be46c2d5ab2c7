"""training/randomized_forager.py at a small size: three ways to train, each with its own winds, measured alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError
from simulacrum.wrappers import Curriculum, DomainRandomization

SMALL: dict[str, Any] = {
    "compile": "eager", "num_envs": 16, "num_steps": 20, "minibatch": 80, "width": 16, "total_steps": 640,
    "eval_episodes": 2, "eval_seeds": 2, "winds": (0.15, 0.7), "target": -100.0, "window": 5,
}  # fmt: skip
Script = Callable[[str], ModuleType]


@pytest.fixture
def windy(script: Script, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = script("randomized_forager")
    usual = module.ppo.Args
    monkeypatch.setattr(module.ppo, "Args", lambda **given: usual(compile_policy=False, **given))
    return module


def test_trains_measures_and_draws(windy: ModuleType, forager: EnvPackage, tmp_path: Path) -> None:
    results = windy.main(windy.Args(runs=tmp_path, **SMALL))
    folder = Path(results["folder"])
    assert folder.name.startswith("forager-v0__randomized__1__")
    assert (folder / "winds.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((folder / "results.json").read_text())
    assert list(written["returns"]) == [windy.USUAL, windy.RANDOM, windy.GROWING]
    assert all(len(means) == 2 for means in written["returns"].values())
    assert {(Path(run["folder"]) / "checkpoint.pt").is_file() for run in written["runs"].values()} == {True}
    stages = [run["stage"] for run in written["runs"].values()]
    assert stages[:2] == [None, None]
    assert 0 <= stages[2] <= 3


def test_each_way_has_its_own_winds(windy: ModuleType, forager: EnvPackage) -> None:
    args = windy.Args(**SMALL)
    found: dict[str, Any] = {}
    for name, wrap in windy.ways(args).items():
        env_id = windy.registered(args.env_id, name, wrap)
        envs = gym.make_vec(env_id, num_envs=64, vectorization_mode="vector_entry_point", compile="eager")
        envs.reset(seed=0)
        found[name] = envs
        assert float(gym.make(env_id).unwrapped.runner.params.gust) == pytest.approx(0.15)
    gusts = {name: envs.unwrapped.params.gust for name, envs in found.items()}
    assert gusts[windy.USUAL].unique().tolist() == pytest.approx([0.15])
    assert isinstance(found[windy.RANDOM], DomainRandomization)
    assert 0.7 < gusts[windy.RANDOM].max() <= 0.8
    assert isinstance(found[windy.GROWING], Curriculum)
    assert 0.15 < gusts[windy.GROWING].max() <= 0.2
    assert [stage["gust"].high for stage in windy.ranges(args)] == pytest.approx([0.2, 0.4, 0.6, 0.8])


def test_the_measured_policy_is_the_trained_one(windy: ModuleType, forager: EnvPackage, tmp_path: Path) -> None:
    args = windy.Args(runs=tmp_path, **SMALL)
    act, told = windy.train(args, windy.USUAL, lambda envs: envs)
    measured = json.loads((Path(told["folder"]) / "results.json").read_text())["reference"]["PPO, trained"]
    again, _ = windy.measure(windy.Args(**{**SMALL, "eval_episodes": 1}), act)
    assert again.mean() == pytest.approx(measured["return"])
    assert set(told) == {"folder", "seconds", "stage"}


def test_a_closed_gate_stops_it_before_anything_is_made(
    windy: ModuleType, forager: EnvPackage, tmp_path: Path
) -> None:
    (forager.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="forager"):
        windy.main(windy.Args(runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()
