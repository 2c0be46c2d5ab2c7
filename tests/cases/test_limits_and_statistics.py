"""Time limits with one owner, and episode statistics that count right."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from kit import package
from kit.tools import advance, vector
from packaging.version import Version

from simulacrum.engine.single import SimulacrumEnv


def test_b10_the_limit_has_one_owner(counter_id: str) -> None:
    single = gym.make(counter_id, max_episode_steps=9)
    assert single.spec is not None
    assert single.spec.max_episode_steps == 9
    batch: Any = gym.make_vec(counter_id, num_envs=2, max_episode_steps=9, autoreset_mode="disabled")
    assert batch.spec.max_episode_steps == 9
    assert batch.max_episode_steps == 9
    for _ in range(3):
        single.reset(seed=0)
        batch.reset(seed=0)
        for step in range(1, 10):
            assert single.step(0)[3] is (step == 9)
            assert batch.step([0, 0])[3].tolist() == [step == 9] * 2
    plain: Any = gym.make_vec(counter_id, num_envs=1)
    assert (plain.max_episode_steps, plain.spec.max_episode_steps) == (7, 7)


def test_b10_a_longer_limit_outside_changes_nothing(counter_id: str) -> None:
    inner = gym.make(counter_id, max_episode_steps=5)
    wrapped = gym.wrappers.TimeLimit(inner, max_episode_steps=9)
    wrapped.reset(seed=0)
    flags = [wrapped.step(0)[3] for _ in range(5)]
    assert flags == [False] * 4 + [True]


CASES = [("next_step", 3), ("next_step", 1), ("same_step", 3), ("same_step", 1), ("disabled", 3), ("disabled", 1)]


def episodes(env: Any, limit: int, rows: int) -> list[list[tuple[float, int]]]:
    """(return, length) of ten episodes a row, from `info["episode"]`."""
    found: list[list[tuple[float, int]]] = [[] for _ in range(rows)]
    for _ in range(10 * (limit + 1)):
        info = env(np.zeros(rows, dtype=np.int64))[4]
        for row in np.flatnonzero(np.asarray(info.get("_episode", np.zeros(rows, dtype=bool)))):
            found[row].append((float(info["episode"]["r"][row]), int(info["episode"]["l"][row])))
    return found


@pytest.mark.parametrize(("mode", "limit"), CASES)
def test_b11_b13_native_statistics_count_every_episode_right(mode: str, limit: int) -> None:
    for rows in (1, 4):
        env = vector("counter", rows, autoreset_mode=mode, max_episode_steps=limit)
        env.reset(seed=0)
        for counted in episodes(lambda action, env=env: advance(env, action), limit, rows):
            assert len(counted) >= 10
            assert set(counted) == {(float(limit), limit)}


@pytest.mark.parametrize(("mode", "limit"), [case for case in CASES if case[0] != "disabled"])
def test_b11_b13_gymnasiums_statistics_count_the_same(mode: str, limit: int) -> None:
    if mode == "same_step" and Version(gym.__version__) < Version("1.4"):
        pytest.skip("older releases of Gymnasium count all episodes but the first short in this mode")
    env = gym.wrappers.vector.RecordEpisodeStatistics(
        vector("counter", 4, autoreset_mode=mode, max_episode_steps=limit, output="numpy")
    )
    env.reset(seed=0)
    for counted in episodes(env.step, limit, 4):
        assert len(counted) >= 10
        assert set(counted) == {(float(limit), limit)}


def test_b11_rows_that_end_apart_are_counted_apart() -> None:
    env = vector("counter", 3, params={"goal": [2, 3, 5], "spread": 0})
    env.reset(seed=0)
    for row, counted in enumerate(episodes(env.step, 7, 3)):
        assert set(counted) == {((2.0, 2), (3.0, 3), (5.0, 5))[row]}


def test_b11_the_single_env_in_gymnasiums_sync_agrees() -> None:
    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(SimulacrumEnv(package("counter")), 3))

    env = SyncVectorEnv([make, make])
    env.reset(seed=0)
    for counted in episodes(env.step, 3, 2):
        assert set(counted) == {(3.0, 3)}


def test_b13_a_partial_reset_leaves_other_rows_counting() -> None:
    env = vector("counter", 2, max_episode_steps=4)
    env.reset(seed=0)
    env.step([0, 0])
    env.step([0, 0])
    env.reset(options={"reset_mask": [True, False]})
    lengths = [env.step([0, 0])[4]["episode"]["l"].tolist() for _ in range(4)]
    assert lengths == [[0, 0], [0, 4], [0, 0], [4, 0]]
