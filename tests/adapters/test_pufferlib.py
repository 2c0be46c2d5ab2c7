"""The adapter against what PufferLib expects of a native environment, in its vectorizations and under its trainer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import simulacrum
from simulacrum.errors import ActionError, ClosedError, GateError, UsageError

# Not importorskip: importing the library without the adapter leaves a link in the working directory.
if importlib.util.find_spec("pufferlib") is None:
    pytest.skip("could not import 'pufferlib'", allow_module_level=True)

from simulacrum.adapters.pufferlib import PufferVectorEnv, make_pufferlib

import pufferlib  # isort: skip
import pufferlib.vector  # isort: skip

LIMIT = 7  # counter's time limit
Vector = Callable[..., Any]


def zeros(env: Any) -> np.ndarray:
    return np.zeros(env.num_agents, dtype=np.int32)


# --- the door -------------------------------------------------------------------------------------------------------


def test_importing_leaves_no_link_behind() -> None:
    assert not Path("resources").exists()


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        PufferVectorEnv(vector(autoreset_mode=mode))
    assert "same_step" in str(caught.value)


def test_other_envs_and_other_outputs_are_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="output='numpy'"):
        PufferVectorEnv(vector(output="numpy"))
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        PufferVectorEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="make_pufferlib decides autoreset_mode itself"):
        make_pufferlib("simulacrum/forager-v0", 2, autoreset_mode="same_step")


def test_make_pufferlib_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            make_pufferlib("simulacrum/counter-v0", 2)
    finally:
        del gym.registry["simulacrum/counter-v0"]


# --- the buffers ----------------------------------------------------------------------------------------------------


def test_results_are_the_buffers_themselves(vector: Vector) -> None:
    env = PufferVectorEnv(vector(3))
    assert isinstance(env, pufferlib.PufferEnv)
    assert (env.num_agents, env.single_observation_space.shape, env.single_action_space.n) == (3, (2,), 2)
    observation, infos = env.reset(seed=1)
    assert observation is env.observations
    assert infos == []
    results = env.step(zeros(env))
    for mine, buffer in zip(results, (env.observations, env.rewards, env.terminals, env.truncations), strict=False):
        assert mine is buffer
    assert results[0][:, 0].tolist() == [1, 1, 1]
    assert results[1].tolist() == [1, 1, 1]


def test_buffers_that_were_handed_are_written_to(vector: Vector) -> None:
    """Half of a larger array, as workers that share memory have it."""
    whole = {
        "observations": np.zeros((6, 2), dtype=np.float32),
        "rewards": np.zeros(6, dtype=np.float32),
        "terminals": np.zeros(6, dtype=bool),
        "truncations": np.zeros(6, dtype=bool),
        "masks": np.ones(6, dtype=bool),
        "actions": np.zeros(6, dtype=np.int32),
    }
    env = PufferVectorEnv(vector(3), buf={name: array[3:] for name, array in whole.items()})
    env.reset(seed=1)
    env.step(np.array([0, 1, 0]))
    assert whole["observations"][:, 0].tolist() == [0, 0, 0, 1, 1, 1]
    assert whole["actions"].tolist() == [0, 0, 0, 0, 1, 0]
    assert whole["rewards"].tolist() == [0, 0, 0, 1, 1, 1]


def test_the_boundary_shows_the_new_first_observation_and_the_old_last_counter(vector: Vector) -> None:
    env = PufferVectorEnv(vector(3, params={"goal": [2, 3, 1000]}))
    first = env.reset(seed=1)[0].copy()
    env.step(zeros(env))
    observation, _, terminals, truncations, infos = env.step(zeros(env))
    assert terminals.tolist() == [True, False, False]
    assert truncations.tolist() == [False] * 3
    assert observation[:, 0].tolist() == [0, 2, 2]
    assert observation[0][1] != first[0][1]
    assert infos == [{"count": 2, "success": True, "episode_return": 2.0, "episode_length": 2}]
    *_, infos = env.step(zeros(env))
    assert [info["count"] for info in infos] == [3]
    for _ in range(3):
        env.step(zeros(env))
    _, _, terminals, truncations, infos = env.step(zeros(env))
    assert (terminals.tolist(), truncations.tolist()) == ([False] * 3, [False, False, True])
    assert [info["count"] for info in infos] == [LIMIT]


def test_an_episode_that_was_cut_off_is_terminal_where_asked_for(vector: Vector) -> None:
    env = PufferVectorEnv(vector(2), truncated_is_terminal=True)
    env.reset(seed=1)
    for _ in range(LIMIT):
        _, _, terminals, truncations, _ = env.step(zeros(env))
    assert terminals.tolist() == truncations.tolist() == [True, True]


def test_seeds(vector: Vector) -> None:
    env = PufferVectorEnv(vector(3), seed=5)
    first = env.reset()[0].copy()
    assert env.env.np_random_seed == (15, 16, 17)
    second = env.reset()[0].copy()
    assert env.reset(seed=5)[0].tolist() == first.tolist()
    assert second.tolist() != first.tolist()


def test_bad_actions_and_closed_envs_raise(vector: Vector) -> None:
    env = PufferVectorEnv(vector(2))
    env.reset(seed=1)
    with pytest.raises(ActionError, match="row 1"):
        env.step(np.array([0, 2]))
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.step(zeros(env))


# --- the library ----------------------------------------------------------------------------------------------------


def test_environments_side_by_side_share_no_seed(vector: Vector) -> None:
    """PufferLib seeds them one apart."""
    made: list[PufferVectorEnv] = []

    def build(**kwargs: Any) -> PufferVectorEnv:
        made.append(PufferVectorEnv(vector(3), **kwargs))
        return made[-1]

    both = pufferlib.vector.make(build, backend=pufferlib.vector.Serial, num_envs=2)
    observation, _ = both.reset(seed=11)
    assert observation.shape == (6, 2)
    seeds = [seed for env in made[-2:] for seed in env.env.np_random_seed]
    assert seeds == [33, 34, 35, 36, 37, 38]
    marks = observation[:, 1].copy()
    for step in range(1, LIMIT):
        observation, rewards, terminals, truncations, _ = both.step(np.zeros(6, dtype=np.int32))
        assert observation[:, 0].tolist() == [step] * 6
        assert observation[:, 1].tolist() == marks.tolist()
        assert rewards.tolist() == [1] * 6
        assert not terminals.any()
        assert not truncations.any()
    observation, _, terminals, truncations, _ = both.step(np.zeros(6, dtype=np.int32))
    assert observation[:, 0].tolist() == [0] * 6
    assert truncations.tolist() == [True] * 6
    both.close()


def test_workers_write_into_shared_memory(vector: Vector) -> None:
    many = pufferlib.vector.make(
        lambda **kwargs: PufferVectorEnv(vector(2), **kwargs),
        backend=pufferlib.vector.Multiprocessing,
        num_envs=2,
        num_workers=2,
        batch_size=2,
        overwork=True,
    )
    observation, _ = many.reset(seed=3)
    assert observation[:, 0].tolist() == [0] * 4
    assert len(set(observation[:, 1])) == 4
    for _ in range(LIMIT - 1):
        observation, *_ = many.step(np.zeros(4, dtype=np.int32))
    assert observation[:, 0].tolist() == [LIMIT - 1] * 4
    observation, _, _, truncations, _ = many.step(np.zeros(4, dtype=np.int32))
    assert observation[:, 0].tolist() == [0] * 4
    assert truncations.tolist() == [True] * 4
    many.close()
