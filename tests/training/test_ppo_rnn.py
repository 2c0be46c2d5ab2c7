"""training/ppo_rnn.py at a small size: it remembers, and is right about what memory means at the end of an episode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from simulacrum.contract.package import EnvPackage
from tests.training.same import assert_resumes_to_the_bit

SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 8, "width": 16, "eval_episodes": 3, "eval_seeds": 2}
COUNTER = {"env_id": "simulacrum/counter-v0", **SMALL}
RECALL = {"env_id": "simulacrum/recall-v0", "total_steps": 60_000, "num_steps": 32, "learning_rate": 3e-3}
MEASURED = {"eval_episodes": 40, "eval_seeds": 2}
Script = Callable[[str], ModuleType]


@pytest.fixture
def ppo_rnn(script: Script) -> ModuleType:
    return script("ppo_rnn")


@pytest.mark.long
def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(
    ppo_rnn: ModuleType, cut_off: EnvPackage, tmp_path: Path
) -> None:
    """The episodes of 7 steps do not fit into the 20 of an iteration: the memory of open ones is in the checkpoint."""
    assert_resumes_to_the_bit(ppo_rnn, tmp_path, total_steps=6 * 320, **COUNTER)


@pytest.mark.long
@pytest.mark.nightly
def test_remembers_what_the_environment_shows_once(
    ppo_rnn: ModuleType, script: Script, recall: EnvPackage, tmp_path: Path
) -> None:
    """Naming the cue always earns 1; without memory nothing is better than 1/4 on average."""
    results = ppo_rnn.main(ppo_rnn.Args(runs=tmp_path, **RECALL, **MEASURED))
    assert results["reference"]["recurrent PPO, trained"]["return"] == 1.0
    less = {**RECALL, "total_steps": 30_000}
    results = ppo_rnn.main(ppo_rnn.Args(runs=tmp_path, memory=False, **less, **MEASURED))
    assert results["reference"]["PPO without memory, trained"]["return"] < 0.5
    ppo = script("ppo")
    small = {"num_envs": 64, "minibatch": 512, "width": 32, "compile_policy": False}
    results = ppo.main(ppo.Args(runs=tmp_path, **small, **less, **MEASURED))
    assert results["reference"]["PPO, trained"]["return"] < 0.5


@pytest.mark.parametrize(("package", "worth"), [("cut_off", 2.0), ("terminated", 1.0)])
def test_a_cut_off_episode_is_worth_what_would_have_come_and_a_terminated_one_is_not(
    ppo_rnn: ModuleType, package: str, worth: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With reward 1 and discount 1/2, the state before the end is worth 1 + 1/2 + 1/4 + ... or just 1."""
    request.getfixturevalue(package)
    args = ppo_rnn.Args(runs=tmp_path, total_steps=9_600, stop_after=29, gamma=0.5, learning_rate=3e-3, **COUNTER)
    saved = torch.load(Path(ppo_rnn.main(args)["folder"]) / "checkpoint.pt", weights_only=True)
    agent = ppo_rnn.Agent(2, 2, args)
    agent.load_state_dict(saved["agent"])
    marks = torch.tensor([0.2, 0.5, 0.8])
    episode = torch.stack([torch.stack([torch.full((3,), float(count)), marks], dim=-1) for count in range(7)])
    begins = torch.zeros(7, 3, dtype=torch.bool)
    _, value, _ = agent(episode, agent.empty(3), begins)
    assert value[-1].tolist() == pytest.approx([worth] * 3, abs=0.4)  # learned, not exact; the two are 1 apart


def test_the_last_observation_is_read_with_the_memory_of_its_own_episode(
    ppo_rnn: ModuleType, cut_off: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[torch.Tensor, ...]] = []

    class Watched(ppo_rnn.Agent):
        def forward(self, observation: torch.Tensor, hidden: torch.Tensor, begins: torch.Tensor) -> Any:
            out = super().forward(observation, hidden, begins)
            if not torch.is_grad_enabled():
                calls.append((observation[0, :, 0], hidden, begins[0], out[2]))
            return out

    monkeypatch.setattr(ppo_rnn, "Agent", Watched)
    ppo_rnn.main(ppo_rnn.Args(runs=tmp_path, total_steps=640, stop_after=1, **COUNTER))
    ends = [index for index, (count, *_) in enumerate(calls) if bool((count == 7).all())]
    assert len(ends) == 2  # in 20 steps all rows end twice
    for end in ends:
        (_, _, _, remembered), (_, given, begins, _), (first, _, empty, _) = calls[end - 1 : end + 2]
        assert torch.equal(given, remembered)
        assert not begins.any()
        assert bool((first == 0).all())
        assert bool(empty.all())  # the next episode begins without it


def test_a_sequence_read_at_once_is_the_same_read_step_by_step(ppo_rnn: ModuleType) -> None:
    agent = ppo_rnn.Agent(3, 2, ppo_rnn.Args(width=8, hide=(1,)))
    observation, begins = torch.randn(6, 4, 3), torch.rand(6, 4) < 0.3
    hidden = torch.randn(4, 8)
    policy, value, last = agent(observation, hidden, begins)
    for t in range(6):
        one, worth, hidden = agent(observation[t : t + 1], hidden, begins[t : t + 1])
        torch.testing.assert_close((one[0], worth[0]), (policy[t], value[t]))
    torch.testing.assert_close(hidden, last)
    unseen = observation.clone()
    unseen[:, :, 1] += 1
    assert torch.equal(agent(unseen, hidden, begins)[1], agent(observation, hidden, begins)[1])
    before = observation.clone()
    before[2] += 1
    begins[3] = True  # what was seen before a beginning changes nothing after it
    assert torch.equal(agent(before, hidden, begins)[1][3:], agent(observation, hidden, begins)[1][3:])
    begins[3] = False
    assert not torch.equal(agent(before, hidden, begins)[1][3:], agent(observation, hidden, begins)[1][3:])


def test_hidden_entries_must_be_there(ppo_rnn: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="0 to 1"):
        ppo_rnn.main(ppo_rnn.Args(runs=tmp_path, env_id="simulacrum/toywalk-v0", hide=(2,), **SMALL))


def test_gets_used_to_what_it_sees(ppo_rnn: ModuleType) -> None:
    """In pieces or at once: mean and standard deviation of all that was counted."""
    agent, seen = ppo_rnn.Agent(3, 2, ppo_rnn.Args(width=8)), torch.randn(60, 50, 3) * torch.tensor([0.1, 1, 9]) + 4
    for part in seen.split((7, 20, 33)):
        agent.get_used_to(part)
    torch.testing.assert_close(agent.mean, seen.mean((0, 1)), rtol=1e-4, atol=0)
    torch.testing.assert_close((agent.squares / agent.count).sqrt(), seen.std((0, 1)), rtol=1e-3, atol=0)
    shown: list[torch.Tensor] = []
    agent.read.register_forward_pre_hook(lambda _, inputs: shown.append(inputs[0]))
    agent(seen, agent.empty(50), torch.zeros(60, 50, dtype=torch.bool))
    torch.testing.assert_close(shown[0].std((0, 1)), torch.ones(3), rtol=1e-2, atol=0)
