"""Seeds, randomness, and that nothing of an episode survives into the next."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from kit import package
from kit.tools import MODES, Actor, advance, assert_same, play, rows, vector

from simulacrum.engine.single import SimulacrumEnv

NAMES = ("counter", "forager", "glider", "rivals")


def test_b14_unseeded_rows_and_envs_differ() -> None:
    env, other = vector("forager", 16), vector("forager", 16)
    a, b = env.reset()[0], other.reset()[0]
    assert len({row.numpy().tobytes() for row in torch.cat([a, b])}) == 32
    assert len({*env.np_random_seed, *other.np_random_seed}) == 32
    copied = copy.deepcopy(vector("forager", 16))
    assert len({row.numpy().tobytes() for row in torch.cat([copied.reset()[0], a])}) == 32
    actor = Actor(env, row_ids=[0] * 16)
    play(env, 3, actor)
    assert len({row.numpy().tobytes() for row in env.core.observe(env.state, env.params)[0]}) == 16


@pytest.mark.parametrize("mode", MODES)
def test_b16_every_autoreset_starts_somewhere_new(mode: str) -> None:
    env = vector("forager", 3, autoreset_mode=mode, max_episode_steps=2)
    firsts: list[list[bytes]] = [[] for _ in range(3)]
    observation, _ = env.reset(seed=4)
    begun = torch.ones(3, dtype=torch.bool)
    for _ in range(200):
        for row in begun.nonzero().flatten().tolist():
            firsts[row].append(observation[row].numpy().tobytes())
        if mode == "disabled" and env.state.ended.any():
            begun = env.state.ended.clone()
            observation, _ = env.reset(options={"reset_mask": begun})
            continue
        observation, _, terminated, truncated, info = env.step([0] * 3)
        begun = info["autoreset"] if mode == "next_step" else terminated | truncated
        begun = torch.zeros(3, dtype=torch.bool) if mode == "disabled" else begun
    for row, starts in enumerate(firsts):
        assert len(starts) > 50
        assert len(set(starts)) == len(starts)
        single = SimulacrumEnv(package("forager"))
        wanted = [single.reset(seed=4 + row)[0].tobytes()]
        wanted += [single.reset()[0].tobytes() for _ in range(49)]
        assert starts[:50] == wanted


@pytest.mark.parametrize("name", NAMES)
def test_b17_row_0_is_the_same_in_any_batch(name: str) -> None:
    outs = []
    for num_envs in (1, 4, 64):
        env = vector(name, num_envs, max_episode_steps=4)
        env.reset(seed=9)
        outs.append([tuple(rows(part, slice(0, 1)) for part in out) for out in play(env, 14)])
    assert_same(outs[1], outs[0])
    assert_same(outs[2], outs[0])


@pytest.mark.parametrize("name", NAMES)
def test_b17_permuted_and_split_batches_are_permuted_and_split(name: str) -> None:
    env = vector(name, 6, max_episode_steps=4)
    env.reset(seed=9)
    whole = play(env, 12)
    for index in ([5, 3, 1, 0, 2, 4], [0, 1, 2], [3, 4, 5]):
        part = vector(name, len(index), max_episode_steps=4)
        part.reset(seed=[9 + row for row in index])
        for out, wanted in zip(play(part, 12, Actor(part, row_ids=index)), whole, strict=False):
            assert_same(out, tuple(rows(each, index) for each in wanted))


@pytest.mark.parametrize("mode", MODES)
def test_b19_episode_k_does_not_depend_on_earlier_lengths(mode: str) -> None:
    starts = []
    for limit in (2, 5, 7):
        env, single = (
            vector("forager", 2, autoreset_mode=mode, max_episode_steps=limit),
            SimulacrumEnv(package("forager")),
        )
        first, _ = env.reset(seed=1)
        single.reset(seed=1)
        found = [first]
        while len(found) < 5:
            if mode == "disabled" and env.state.ended.any():
                found.append(env.reset(options={"reset_mask": env.state.ended})[0])
                continue
            out = env.step([0, 0])
            if out[4].get("autoreset", out[3])[0] and mode != "disabled":
                found.append(out[0])
        for observation in found[1:]:
            single.step(1)
            assert single.reset()[0].tobytes() == observation[0].numpy().tobytes()
        starts.append(torch.stack(found))
    assert_same(starts[1], starts[0])
    assert_same(starts[2], starts[0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_b20_nothing_survives_a_reset(name: str, mode: str) -> None:
    kinds: dict[str, Any] = {"autoreset_mode": mode, "max_episode_steps": 7}
    fresh, used = vector(name, 3, **kinds), vector(name, 3, **kinds)
    used.reset(seed=77)
    play(used, 30, Actor(used, 8))
    assert_same(used.reset(seed=5), fresh.reset(seed=5))
    assert_same(tuple(used.state), tuple(fresh.state))
    assert_same(play(used, 20), play(fresh, 20))
    # After autoresets and after a partial reset, the same again: put one row where a new env's row is.
    used.reset(seed=[0, 5, 0], options={"reset_mask": [False, True, False]})
    alone = vector(name, 1, **kinds)
    alone.reset(seed=5)
    for out, wanted in zip(play(used, 12, Actor(used, 3)), play(alone, 12, Actor(alone, 3, row_ids=[1])), strict=False):
        assert_same(tuple(rows(part, slice(1, 2)) for part in out), wanted)


@pytest.mark.parametrize("num_envs", [1, 2, 5])
def test_b46_the_seeds_stay_n_in_any_sequence(num_envs: int) -> None:
    env = vector("forager", num_envs)
    mask = np.zeros(num_envs, dtype=bool)
    mask[-1] = True
    sequence: list[tuple[dict[str, Any], list[int], list[int]]] = []
    base, lone = list(range(3, 3 + num_envs)), list(range(40, 40 + num_envs))
    once, mixed = [*base[:-1], 900 + num_envs - 1], [*lone[:-1], 900 + num_envs - 1]
    sequence += [({"seed": 3}, base, [0] * num_envs), ({}, base, [1] * num_envs)]
    sequence += [({"options": {"reset_mask": mask}}, base, [1] * (num_envs - 1) + [2])]
    sequence += [({"seed": 900, "options": {"reset_mask": mask}}, once, [1] * (num_envs - 1) + [0])]
    sequence += [({"seed": lone}, lone, [0] * num_envs), ({}, lone, [1] * num_envs)]
    sequence += [({"seed": [None] * (num_envs - 1) + [mixed[-1]]}, mixed, [2] * (num_envs - 1) + [0])]
    for arguments, seeds, numbers in sequence:
        observation, _ = env.reset(**arguments)
        assert observation.shape[0] == num_envs
        assert list(env.np_random_seed) == seeds
        assert env.state.episode.tolist() == numbers
        for row, (seed, episode) in enumerate(zip(seeds, numbers, strict=False)):
            single = SimulacrumEnv(package("forager"))
            assert single.runner.reset(seed, episode) == tuple(observation[row].tolist())


def test_b47_building_and_wrapping_reset_nothing_and_each_reset_counts_once() -> None:
    env = vector("counter", 3, output="numpy")
    with pytest.raises(gym.error.ResetNeeded):
        env.state  # noqa: B018  # looking is what raises
    wrapped = gym.wrappers.vector.TransformReward(
        gym.wrappers.vector.RecordEpisodeStatistics(env), lambda reward: reward
    )
    assert (env.np_random_seed, env.get_attr("goal")) == (env.np_random_seed, (1000,) * 3)
    assert repr(env)
    with pytest.raises(gym.error.ResetNeeded):
        env.state  # noqa: B018  # looking is what raises
    for episode in range(4):
        wrapped.reset(seed=5 if episode == 0 else None)
        assert env.state.episode.tolist() == [episode] * 3
    env.reset(options={"reset_mask": [True, False, False]})
    assert env.state.episode.tolist() == [4, 3, 3]
    for _ in range(9):
        env.step([0, 0, 0])
    assert env.state.episode.tolist() == [5, 4, 4]


def test_b47_a_reset_of_a_row_waiting_for_its_autoreset_counts_once() -> None:
    env = vector("counter", 2, max_episode_steps=1)
    env.reset(seed=0)
    env.step([0, 0])
    env.reset(options={"reset_mask": [True, False]})
    assert env.state.episode.tolist() == [1, 0]
    out = advance(env, [0, 0])
    assert out[4]["autoreset"].tolist() == [False, True]
    assert env.state.episode.tolist() == [1, 1]


def test_b47_adapters_reset_when_told_to() -> None:
    sb3 = pytest.importorskip("simulacrum.adapters.sb3")
    inner = vector("counter", 2, autoreset_mode="same_step")
    adapter = sb3.SB3VecEnv(inner)
    with pytest.raises(gym.error.ResetNeeded):
        inner.state  # noqa: B018  # looking is what raises
    adapter.seed(3)
    adapter.reset()
    assert inner.state.episode.tolist() == [0, 0]
    adapter.reset()
    assert inner.state.episode.tolist() == [1, 1]
