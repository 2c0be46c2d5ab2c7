"""Aliasing, edits in place, and independence of envs in one process."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from kit.tools import MODES, Actor, advance, assert_same, clone, leaves, play, vector

from simulacrum.errors import ActionError

NAMES = ("counter", "glider", "dials", "canvas", "forager")
OUTPUTS = ("torch", "numpy")


def pointers(tree: Any) -> set[int]:
    return {
        leaf.data_ptr() if isinstance(leaf, torch.Tensor) else leaf.__array_interface__["data"][0]
        for _, leaf in leaves(tree)
        if isinstance(leaf, (torch.Tensor, np.ndarray)) and leaf.dtype != object
    }


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_b22_what_was_kept_stays_as_it_was(name: str, mode: str, output: str) -> None:
    env = vector(name, 3, autoreset_mode=mode, output=output, max_episode_steps=4)
    kept: list[Any] = [env.reset(seed=0)]
    copies, actor = clone(kept), Actor(env)
    for _ in range(20):
        out = advance(env, actor())
        assert not pointers(out) & pointers(kept[-1])
        kept.append(out)
        copies.append(clone(out))
    assert_same(kept, copies)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", MODES)
def test_b23_rewards_and_infos_may_be_edited(mode: str, output: str) -> None:
    for name in ("glider", "counter"):
        env, twin = (vector(name, 3, autoreset_mode=mode, output=output, max_episode_steps=3) for _ in range(2))
        env.reset(seed=0)
        twin.reset(seed=0)
        kept, copies, actor, other = [], [], Actor(env), Actor(twin)
        for _ in range(10):
            out = advance(env, actor())
            assert_same(out, clone(advance(twin, other())))
            out[1][:] += 100  # as a trainer adds bootstrap values
            for _, leaf in leaves(out[4]):
                if leaf.dtype != object:
                    leaf[...] = 0
            kept.append(out)
            copies.append(clone(out))
        assert_same(kept, copies)


def test_b25_the_callers_actions_stay_as_they_were() -> None:
    good = torch.tensor([[0.5, -0.5], [1.0, -1.0]])
    locked = good.numpy().copy()
    locked.flags.writeable = False
    for action in (good, good.numpy().copy(), locked, good.double(), good.tolist()):
        env = vector("glider", 2)
        env.reset(seed=0)
        kept = clone(action)
        env.step(action)
        env.step(action)
        assert_same(action, kept)
    bad = torch.tensor([[0.5, 3.0], [float("nan"), -1.0]])
    locked = bad.numpy().copy()
    locked.flags.writeable = False
    for action in (bad, locked):
        env = vector("glider", 2)
        env.reset(seed=0)
        kept = clone(action)
        with pytest.raises(ActionError):
            env.step(action)
        assert_same(action, kept)


def test_b26_a_second_env_of_another_size_changes_nothing() -> None:
    def alone(num_envs: int, seed: int) -> list[Any]:
        env = vector("forager", num_envs, max_episode_steps=6)
        env.reset(seed=seed)
        return play(env, 15)

    wanted = alone(4, 0), alone(2, 50)
    train, evaluate = (vector("forager", num_envs, max_episode_steps=6) for num_envs in (4, 2))
    train.reset(seed=0)
    evaluate.reset(seed=50)
    first, second = Actor(train), Actor(evaluate)
    found: tuple[list[Any], list[Any]] = ([], [])
    for step in range(15):
        found[0].append(clone(advance(train, first())))
        found[1].append(clone(advance(evaluate, second())))
        if step == 7:
            vector("forager", 9).reset()
    assert_same(found, wanted)


@pytest.mark.parametrize("output", OUTPUTS)
def test_b26_no_global_generator_is_touched(output: str) -> None:
    def generators() -> tuple[Any, ...]:
        name, keys, position, *_ = np.random.get_state()
        return torch.get_rng_state().tolist(), name, keys.tolist(), position, random.getstate()

    before = generators()
    env = vector("glider", 3, output=output, max_episode_steps=3)
    env.reset()
    for _ in range(8):
        env.step([[0.5, 0.5]] * 3)
    env.reset(options={"reset_mask": [True, False, False]})
    assert generators() == before
    found: list[Any] = []
    for reseed in (0, 1):  # and none is read
        torch.manual_seed(reseed)
        np.random.seed(reseed)
        random.seed(reseed)
        env.reset(seed=3)
        found.append(env.step([[0.25, 0.5]] * 3)[:4])
    assert_same(found[0], found[1])
