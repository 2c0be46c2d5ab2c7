"""training/pqn.py at a small size: it learns, resumes to the bit, and knows what the end of an episode is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest
import torch

from simulacrum.contract.package import EnvPackage
from tests.training.same import assert_resumes_to_the_bit

SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "width": 16, "eval_episodes": 3, "eval_seeds": 2}
COUNTER = {"env_id": "simulacrum/counter-v0", **SMALL}
Script = Callable[[str], ModuleType]


@pytest.fixture
def pqn(script: Script) -> ModuleType:
    return script("pqn")


@pytest.mark.long
def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(
    pqn: ModuleType, toywalk: EnvPackage, tmp_path: Path
) -> None:
    assert_resumes_to_the_bit(pqn, tmp_path, env_id="simulacrum/toywalk-v0", total_steps=6 * 320, **SMALL)


@pytest.mark.parametrize(("package", "worth"), [("cut_off", 2.0), ("terminated", 1.0)])
@pytest.mark.parametrize("q_lambda", [0.0, 1.0])
def test_a_cut_off_episode_is_worth_what_would_have_come_and_a_terminated_one_is_not(
    pqn: ModuleType, package: str, worth: float, q_lambda: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With reward 1 and discount 1/2, the state before the end is worth 1 + 1/2 + 1/4 + ... or just 1."""
    request.getfixturevalue(package)
    size = {**COUNTER, "total_steps": 9_600, "gamma": 0.5, "learning_rate": 1e-2, "epochs": 6, "width": 32}
    results = pqn.main(pqn.Args(runs=tmp_path, q_lambda=q_lambda, stop_after=29, **size))
    values = pqn.Values(2, 2, 32)
    values.load_state_dict(torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)["agent"])
    worths = values(torch.tensor([[6.0, 0.2], [6.0, 0.5], [6.0, 0.8]])).amax(-1)
    assert worths.tolist() == pytest.approx([worth] * 3, abs=0.4)  # learned, not exact; the two are 1 apart


def test_learns(pqn: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    """The optimum of toywalk is its probe `always_right`."""
    size = {"total_steps": 30_000, "minibatch": 512, "width": 32, "eval_episodes": 50, "eval_seeds": 2}
    results = pqn.main(pqn.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path, **size))
    reference = results["reference"]
    assert reference["PQN, trained"]["return"] == reference["always_right, scripted"]["return"]


def test_parameters_hold_in_training_and_in_measuring(
    pqn: ModuleType, toywalk: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, make = list[Any](), gym.make_vec
    monkeypatch.setattr(gym, "make_vec", lambda *given, **named: made.append(make(*given, **named)) or made[-1])
    run = {"env_id": "simulacrum/toywalk-v0", "runs": tmp_path, "total_steps": 320, **SMALL}
    usual = pqn.main(pqn.Args(**run))["reference"]
    slippery = pqn.main(pqn.Args(**run, params={"slip": 1.0}))["reference"]
    assert [float(env.params.slip.min()) for env in made] == pytest.approx([0.1, 1.0])
    assert slippery["always_right, scripted"]["return"] < usual["always_right, scripted"]["return"]
