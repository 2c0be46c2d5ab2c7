"""training/dqn.py at a small size: it learns, resumes to the bit, and knows what the end of an episode is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest
import torch

from simulacrum.contract.package import EnvPackage
from tests.training.same import assert_resumes_to_the_bit

SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 64, "width": 16, "eval_episodes": 3, "eval_seeds": 2}
COUNTER = {"env_id": "simulacrum/counter-v0", **SMALL}
Script = Callable[[str], ModuleType]


@pytest.fixture
def dqn(script: Script) -> ModuleType:
    return script("dqn")


def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(
    dqn: ModuleType, toywalk: EnvPackage, tmp_path: Path
) -> None:
    """Not a whole number of updates an iteration, and a buffer that has gone round when the run is taken up again."""
    size = {"total_steps": 6 * 320, "random_steps": 300, "buffer": 500, "update_to_data": 0.047}
    assert_resumes_to_the_bit(dqn, tmp_path, env_id="simulacrum/toywalk-v0", **size, **SMALL)


@pytest.mark.parametrize(("package", "worth"), [("cut_off", 2.0), ("terminated", 1.0)])
def test_a_cut_off_episode_is_worth_what_would_have_come_and_a_terminated_one_is_not(
    dqn: ModuleType, package: str, worth: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With reward 1 and discount 1/2, the state before the end is worth 1 + 1/2 + 1/4 + ... or just 1."""
    request.getfixturevalue(package)
    size = {"total_steps": 9_600, "stop_after": 20, "gamma": 0.5, "learning_rate": 3e-3, "tau": 0.05, **COUNTER}
    results = dqn.main(dqn.Args(runs=tmp_path, **size))
    saved = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)
    values = dqn.Values(dqn.Vector(gym.spaces.Box(-1, 1, (2,)), "dqn.py"), 2, 16)
    values.load_state_dict(saved["agent"])
    worths = values(torch.tensor([[6.0, 0.2], [6.0, 0.5], [6.0, 0.8]])).amax(-1)
    assert worths.tolist() == pytest.approx([worth] * 3, abs=0.4)  # learned, not exact; the two are 1 apart


def test_the_buffer_holds_true_transitions_only(dqn: ModuleType, cut_off: EnvPackage, tmp_path: Path) -> None:
    """Each leads from a step of an episode to the next one of the same, its last observation among them."""
    results = dqn.main(dqn.Args(runs=tmp_path, total_steps=640, stop_after=1, **COUNTER))
    saved = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)
    parts = saved["replay"]["parts"]
    assert saved["replay"]["size"] == 320
    before, after = parts["observation"], parts["following"]
    assert torch.equal(after[:, 0], before[:, 0] + 1)
    assert torch.equal(after[:, 1], before[:, 1])
    assert set(after[:, 0].tolist()) == {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}
    assert not parts["terminated"].any()


@pytest.mark.long
def test_learns(dqn: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    """The optimum of toywalk is its probe `always_right`."""
    size = {"total_steps": 15_000, "width": 32, "tau": 0.05, "eval_episodes": 50, "eval_seeds": 2}
    results = dqn.main(dqn.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path, **size))
    reference = results["reference"]
    assert reference["DQN, trained"]["return"] == reference["always_right, scripted"]["return"]


@pytest.mark.long
def test_explores_less_and_less(dqn: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    """At first half of the actions are the greedy ones by chance, in the end all are."""
    size = {"total_steps": 4 * 3_200, "learning_rate": 0.0, "explore_last": 0.0, "explore_until": 0.5}
    args = dqn.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path, **size, **{**SMALL, "num_steps": 200})
    saved = torch.load(Path(dqn.main(args)["folder"]) / "checkpoint.pt", weights_only=True)
    values = dqn.Values(dqn.Vector(gym.spaces.Box(-1, 1, (2,)), "dqn.py"), 2, 16)
    values.load_state_dict(saved["agent"])
    parts = saved["replay"]["parts"]
    greedy = (values(parts["observation"]).argmax(-1) == parts["action"]).float().unflatten(0, (4, 3_200)).mean(1)
    assert greedy[:2].tolist() == pytest.approx([0.5, 0.75], abs=0.05)
    assert greedy[2:].tolist() == [1.0, 1.0]
