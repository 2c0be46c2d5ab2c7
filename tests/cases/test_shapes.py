"""Batch axes, dtypes and devices of every leaf, at every kind of step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from kit import NAMES
from kit.tools import MODES, Actor, advance, leaves, vector

from simulacrum.errors import ActionError, DeviceError

DTYPES = {
    torch.float32: np.float32,
    torch.int64: np.int64,
    torch.uint8: np.uint8,
    torch.int8: np.int8,
    torch.int32: np.int32,
}


def everything(name: str, num_envs: int, mode: str) -> list[tuple[Any, ...]]:
    """(observation, reward, terminated, truncated, info) of a reset, steps, ends, resets and a partial reset."""
    env = vector(name, num_envs, autoreset_mode=mode, max_episode_steps=2)
    mask = {"reset_mask": [True, *[False] * (num_envs - 1)]}

    def blank() -> tuple[Any, ...]:
        return torch.zeros(num_envs), *torch.zeros(2, num_envs, dtype=torch.bool)

    observation, info = env.reset(seed=0)
    outs, actor = [(observation, *blank(), info)], Actor(env)
    outs += [advance(env, actor()) for _ in range(7)]
    observation, info = env.reset(options=mask)
    outs.append((observation, *blank(), info))
    return outs


@pytest.mark.parametrize("num_envs", [1, 2, 3])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_b34_b35_every_leaf_has_its_axis_and_dtype_always(name: str, mode: str, num_envs: int) -> None:
    env = vector(name, num_envs)
    space, kinds = env.single_observation_space, {}
    spaces = dict(space.spaces) if hasattr(space, "spaces") else {"": space}
    for observation, reward, terminated, truncated, info in everything(name, num_envs, mode):
        for path, leaf in leaves(observation):
            of = spaces[path.lstrip(".")]
            assert tuple(leaf.shape) == (num_envs, *of.shape)
            assert DTYPES[leaf.dtype] == of.dtype
        assert (reward.dtype, tuple(reward.shape)) == (torch.float32, (num_envs,))
        for flag in (terminated, truncated):
            assert (flag.dtype, tuple(flag.shape)) == (torch.bool, (num_envs,))
        for path, leaf in leaves(info):
            assert leaf.shape[0] == num_envs, path
            assert kinds.setdefault(path, leaf.dtype) == leaf.dtype
            if path.split(".")[-1].startswith("_"):
                assert leaf.dtype == torch.bool


def test_b34_adapters_keep_the_axis_for_one_row() -> None:
    sb3 = pytest.importorskip("simulacrum.adapters.sb3")
    for name, action in (("counter", [0]), ("dials", [[0, 0]])):
        env = sb3.SB3VecEnv(vector(name, 1, autoreset_mode="same_step"))
        assert env.reset().shape == (1, 2)
        observation, reward, done, infos = env.step(np.array(action))
        assert (observation.shape, reward.shape, done.shape, len(infos)) == ((1, 2), (1,), (1,), 1)


def test_b35_whole_rewards_are_floats() -> None:
    env = vector("dials", 2)
    env.reset(seed=0)
    reward = env.step([[0, 0], [1, 2]])[1]
    assert reward.dtype == torch.float32
    assert reward.tolist() == [float(int(value)) for value in reward]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def test_b37_every_leaf_is_on_the_asked_device(device: str, mode: str) -> None:
    for name in ("forager", "counter", "glider"):
        env = vector(name, 3, autoreset_mode=mode, device=device, max_episode_steps=2)
        trees: list[Any] = [env.reset(seed=0)]
        trees += [advance(env, Actor(env)()) for _ in range(4)]
        trees.append(env.reset(options={"reset_mask": [True, False, False]}))
        for path, leaf in leaves(trees):
            assert leaf.device.type == device, path


def test_b37_actions_from_elsewhere_and_devices_that_are_not_there() -> None:
    env = vector("counter", 2)
    env.reset(seed=0)
    before = env.state
    with pytest.raises(ActionError, match="another device"):
        env.step(torch.zeros(2, dtype=torch.int64, device="meta"))
    assert env.state is before
    if not torch.cuda.is_available():
        with pytest.raises(DeviceError, match="cuda"):
            vector("counter", 2, device="cuda")
