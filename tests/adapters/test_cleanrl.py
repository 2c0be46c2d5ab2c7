"""The adapter against the shape that CleanRL's scripts have: their loops, written anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers.vector import ClipAction, TransformReward
from stable_baselines3.common.buffers import ReplayBuffer
from torch import nn

import simulacrum
from simulacrum.adapters.cleanrl import CleanRLVectorEnv, make_cleanrl
from simulacrum.errors import GateError, UsageError

LIMIT = 7  # counter's time limit
Vector = Callable[..., Any]


def zeros(envs: Any) -> np.ndarray:
    return np.zeros(envs.num_envs, dtype=np.int64)


# --- the door -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        CleanRLVectorEnv(vector(autoreset_mode=mode))
    assert "same_step" in str(caught.value)


def test_other_envs_and_other_outputs_are_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="output='numpy'"):
        CleanRLVectorEnv(vector(output="numpy"))
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        CleanRLVectorEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="make_cleanrl decides output itself"):
        make_cleanrl("simulacrum/forager-v0", 2, output="numpy")


def test_make_cleanrl_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            make_cleanrl("simulacrum/counter-v0", 2)
    finally:
        del gym.registry["simulacrum/counter-v0"]


# --- the shape of 0.29 ----------------------------------------------------------------------------------------------


def test_types_and_shapes(vector: Vector) -> None:
    envs = CleanRLVectorEnv(vector(3))
    assert (envs.num_envs, envs.single_observation_space.shape, envs.single_action_space.n) == (3, (2,), 2)
    observation, infos = envs.reset(seed=1)
    assert (type(observation), observation.dtype, observation.shape) == (np.ndarray, np.float32, (3, 2))
    assert infos["count"].tolist() == [0, 0, 0]
    assert infos["_count"].tolist() == [True] * 3
    observation, rewards, terminations, truncations, infos = envs.step(zeros(envs))
    assert (observation.dtype, rewards.dtype) == (np.float32, np.float32)
    assert (terminations.dtype, truncations.dtype) == (np.bool_, np.bool_)
    assert sorted(infos) == ["_action_mask", "_count", "_success", "action_mask", "count", "success"]
    assert torch.Tensor(observation).shape == (3, 2)


def test_an_end_has_the_keys_of_029_and_no_others(vector: Vector) -> None:
    envs = CleanRLVectorEnv(vector(3, params={"goal": [2, 3, 1000]}))
    first, _ = envs.reset(seed=1)
    _, _, _, _, infos = envs.step(zeros(envs))
    assert "final_info" not in infos
    observation, _, terminations, truncations, infos = envs.step(zeros(envs))
    assert (terminations.tolist(), truncations.tolist()) == ([True, False, False], [False] * 3)
    assert not {"final_obs", "_final_obs", "episode", "_episode"} & set(infos)
    assert infos["final_observation"].dtype == infos["final_info"].dtype == object
    assert infos["_final_observation"].tolist() == infos["_final_info"].tolist() == [True, False, False]
    assert infos["final_observation"][0].tolist() == [2, first[0][1]]
    assert list(infos["final_observation"][1:]) == list(infos["final_info"][1:]) == [None, None]
    assert observation[0][0] == 0
    assert observation[0][1] != first[0][1]
    last = infos["final_info"][0]
    assert (last["count"], last["success"]) == (2, True)
    assert {key: (value.shape, value.dtype) for key, value in last["episode"].items()} == {
        "r": ((1,), np.float32),
        "l": ((1,), np.int32),
        "t": ((1,), np.float32),
    }
    assert (last["episode"]["r"], last["episode"]["l"]) == ([2], [2])
    assert infos["count"][0] == 0  # the row's own info is the new episode's


def test_a_partial_reset_says_which_rows_it_concerned(vector: Vector) -> None:
    envs = CleanRLVectorEnv(vector(3))
    envs.reset(seed=1)
    envs.step(zeros(envs))
    observation, infos = envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert observation[:, 0].tolist() == [1, 0, 1]
    assert infos["_count"].tolist() == [False, True, False]


def test_vector_wrappers_of_gymnasium_go_around_it(vector: Vector) -> None:
    envs = TransformReward(CleanRLVectorEnv(vector(2)), lambda reward: 0.5 * reward)
    envs.reset(seed=1)
    assert envs.step(zeros(envs))[1].tolist() == [0.5, 0.5]
    package = simulacrum.load_package("tests/training/data/aim")
    clipped = ClipAction(CleanRLVectorEnv(vector(2, package)))
    clipped.reset(seed=1)
    clipped.step(np.array([[5.0], [-5.0]], dtype=np.float32))  # the space ends at 2


# --- the loops ------------------------------------------------------------------------------------------------------


class Agent(nn.Module):
    def __init__(self, envs: Any) -> None:
        super().__init__()
        size = int(np.array(envs.single_observation_space.shape).prod())
        self.actor = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, envs.single_action_space.n))
        self.critic = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, 1))


def test_a_ppo_loop_of_this_shape_logs_and_learns(vector: Vector) -> None:
    """Rollouts in tensors of their own, a done that marks the row of a new episode, logs out of `final_info`."""
    torch.manual_seed(1)
    envs = CleanRLVectorEnv(vector(16, simulacrum.load_package("toywalk")))
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
    steps, gamma = 32, 0.95
    logged: list[float] = []
    observation, _ = envs.reset(seed=1)
    now, done = torch.Tensor(observation), torch.zeros(16)
    for _ in range(40):
        kept: dict[str, list[Any]] = {key: [] for key in ("obs", "act", "reward", "done", "value")}
        for _ in range(steps):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=agent.actor(now)).sample()
                value = agent.critic(now).flatten()
            observation, reward, terminations, truncations, infos = envs.step(action.cpu().numpy())
            for key, one in zip(kept, (now, action, torch.tensor(reward).view(-1), done, value), strict=True):
                kept[key].append(one)
            now, done = torch.Tensor(observation), torch.Tensor(np.logical_or(terminations, truncations))
            if "final_info" in infos:
                episodes = [info["episode"] for info in infos["final_info"] if info and "episode" in info]
                logged.extend(float(episode["r"][0]) for episode in episodes)
        batch = {key: torch.stack(value) for key, value in kept.items()}
        with torch.no_grad():
            following, left, returns = agent.critic(now).flatten(), 1.0 - done, torch.zeros(steps, 16)
            for step in reversed(range(steps)):
                following = returns[step] = batch["reward"][step] + gamma * following * left
                left = 1.0 - batch["done"][step]
        gained = returns - batch["value"]
        gained = (gained - gained.mean()) / (gained.std() + 1e-8)
        logits = torch.distributions.Categorical(logits=agent.actor(batch["obs"]))
        policy = -(logits.log_prob(batch["act"]) * gained).mean() - 0.01 * logits.entropy().mean()
        error = (agent.critic(batch["obs"]).squeeze(-1) - returns).square().mean()
        optimizer.zero_grad()
        (policy + 0.5 * error).backward()
        optimizer.step()
    assert np.mean(logged[-100:]) > np.mean(logged[:100]) + 5


def test_a_dqn_loop_of_this_shape_stores_true_transitions(vector: Vector) -> None:
    """One environment, a replay buffer, and the last observation put in by hand where the episode was cut off."""
    envs = CleanRLVectorEnv(vector(1))
    spaces = (envs.single_observation_space, envs.single_action_space)
    buffer = ReplayBuffer(100, *spaces, handle_timeout_termination=False)
    observation, _ = envs.reset(seed=1)
    ends = 0
    for _ in range(3 * LIMIT):
        actions = np.array([envs.single_action_space.sample() for _ in range(envs.num_envs)])
        following, rewards, terminations, truncations, infos = envs.step(actions)
        real = following.copy()
        for row, truncated in enumerate(truncations):
            if truncated:
                real[row] = infos["final_observation"][row]
                ends += 1
        buffer.add(observation, real, actions, rewards, terminations, infos)
        observation = following
    size = buffer.size()
    assert (size, ends) == (3 * LIMIT, 3)
    np.testing.assert_array_equal(buffer.next_observations[:size, 0, 0], buffer.observations[:size, 0, 0] + 1)
    np.testing.assert_array_equal(buffer.next_observations[:size, 0, 1], buffer.observations[:size, 0, 1])
    assert buffer.next_observations[:size, 0, 0].max() == LIMIT
    assert buffer.dones[:size].sum() == 0
