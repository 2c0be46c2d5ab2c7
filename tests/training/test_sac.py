"""training/sac.py at a small size: it learns, resumes to the bit, and knows what the end of an episode is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from simulacrum.contract.package import EnvPackage
from tests.training.same import assert_resumes_to_the_bit

SMALL = {"num_envs": 8, "num_steps": 10, "minibatch": 32, "width": 16, "eval_episodes": 3, "eval_seeds": 2}
AIM = {"env_id": "simulacrum/aim-v0", **SMALL}
Script = Callable[[str], ModuleType]


@pytest.fixture
def sac(script: Script) -> ModuleType:
    return script("sac")


def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(sac: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    """Not a whole number of updates a step, and a buffer that has gone round when the run is taken up, amid random
    actions of which each is held for longer than the iteration lasts."""
    size = {"total_steps": 6 * 80, "random_steps": 120, "hold": 4, "buffer": 100, "update_to_data": 0.07}
    assert_resumes_to_the_bit(sac, tmp_path, **size, **AIM)


@pytest.mark.long
def test_learns_the_target_from_actions_scaled_to_their_bounds(
    sac: ModuleType, aim: EnvPackage, tmp_path: Path
) -> None:
    """Aiming always at 0 earns -5/3 an episode, a random aim less than -5, the optimum is 0."""
    size = {**AIM, "num_envs": 16, "total_steps": 8_000, "update_to_data": 0.125, "minibatch": 64, "width": 32}
    chosen = {"gamma": 0.5, "learning_rate": 3e-3, "eval_episodes": 20, "runs": tmp_path}
    results = sac.main(sac.Args(**{**size, **chosen}))
    assert results["reference"]["SAC, trained"]["return"] > -0.1
    saved = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)
    parts = saved["replay"]["parts"]
    assert float(parts["action"].abs().max()) <= 1.0
    # What is kept between -1 and 1 was played between -2 and 2: only so the reward is as the rules say.
    miss = 2 * parts["action"] - parts["observation"]
    torch.testing.assert_close(parts["reward"], -miss.square()[:, 0])


def test_a_cut_off_episode_is_worth_what_would_have_come(sac: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    """aim's episodes are cut off after every step's target: the transition keeps that target and is no termination."""
    results = sac.main(sac.Args(runs=tmp_path, total_steps=160, stop_after=1, **AIM))
    parts = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)["replay"]["parts"]
    assert torch.equal(parts["following"], parts["observation"])  # the target stays, also at the cut after 5 steps
    assert not parts["terminated"].any()
    assert len(parts["observation"].unique()) == 16  # of 8 rows, two episodes each


def test_a_random_action_is_held(sac: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    """Each row draws its own and plays it as often as it is told to, over the end of an episode too."""
    size = {"total_steps": 160, "stop_after": 1, "random_steps": 160, "hold": 4}
    results = sac.main(sac.Args(runs=tmp_path, **size, **AIM))
    parts = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)["replay"]["parts"]
    steps = parts["action"].view(-1, 8)[:10]
    assert [len(steps[start : start + 4].unique()) for start in (0, 4, 8)] == [8, 8, 8]
    assert len(steps.unique()) == 24


@pytest.mark.long
def test_terminations_and_only_they_end_the_future(sac: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    """With reward -1 everywhere and discount 1/2, what comes is worth -1 where all are terminated and -2 where none."""
    for terminated, worth in ((True, -1.0), (False, -2.0)):
        critics = learned_critics(sac, terminated, tmp_path)
        value = critics(torch.zeros(1, 1), torch.zeros(1, 1)).mean().item()
        assert value == pytest.approx(worth, abs=0.25)


def learned_critics(sac: ModuleType, terminated: bool, runs: Path) -> torch.nn.Module:
    """A run of which the buffer was replaced: it goes on to learn from that."""
    size = {**AIM, "total_steps": 2_400, "stop_after": 1, "update_to_data": 0.125, "random_steps": 0}
    chosen = {"gamma": 0.5, "learning_rate": 1e-2, "tau": 0.05, "temperature": 1e-9}
    folder = Path(sac.main(sac.Args(runs=runs, **size, **chosen))["folder"])
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    parts = saved["replay"]["parts"]
    parts["reward"].fill_(-1.0)
    parts["terminated"].fill_(terminated)
    torch.save(saved, folder / "checkpoint.pt")
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patched:
        patched.setattr(sac.Replay, "add", lambda self, **parts: None)
        sac.main(sac.Args(resume=folder, stop_after=28))
    critics = sac.Critics(1, 1, 16)
    critics.load_state_dict(torch.load(folder / "checkpoint.pt", weights_only=True)["critics"])
    return critics


def test_the_density_is_that_of_the_squashed_normal(sac: ModuleType) -> None:
    actor, generator = sac.Actor(3, 2, 8), torch.Generator().manual_seed(1)
    seen = torch.randn(50, 3)
    action, log_prob = actor.sample(seen, generator)
    mean, log_std = actor(seen)
    normal = torch.distributions.Normal(mean.double(), log_std.double().exp())
    tanh = torch.distributions.transforms.TanhTransform()
    expected = torch.distributions.TransformedDistribution(normal, tanh).log_prob(action.double()).sum(-1)
    torch.testing.assert_close(log_prob.double(), expected, rtol=1e-3, atol=1e-3)


def test_twin_critics_are_two_networks(sac: ModuleType) -> None:
    critics, seen, action = sac.Critics(3, 1, 8), torch.randn(5, 3), torch.randn(5, 1)
    values = critics(seen, action)
    assert values.shape == (2, 5)
    assert not torch.allclose(values[0], values[1])
    for which in range(2):
        hidden = torch.cat([seen, action], dim=-1)
        for index in range(3):
            hidden = hidden @ critics.weights[index][which] + critics.biases[index][which]
            hidden = hidden.relu() if index < 2 else hidden
        torch.testing.assert_close(values[which], hidden[:, 0])


def test_discrete_actions_are_refused(sac: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="bounded Boxes"):
        sac.main(sac.Args(runs=tmp_path, env_id="simulacrum/toywalk-v0", **SMALL))
