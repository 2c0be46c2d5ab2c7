"""cliffwalking's batched twin beside Gymnasium's CliffWalking as `gymnasium.make` gives it: no number may differ.

Every cell, every action and every outcome, with draws inside each outcome's interval and at its very ends.
"""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest
from kit.toytext import Fed, Rows

LAST = 1.0 - 2.0**-53  # the largest number that a uniform draw gives
IDS = {"CliffWalking-v1": False, "CliffWalkingSlippery-v1": True}


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows("cliffwalking")


def draws_of(probabilities: list[float]) -> list[float]:
    """Numbers on both sides of each end of the intervals that `categorical_sample` compares with, and their middles."""
    ends = [0.0, *np.cumsum(probabilities).tolist()]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
    beside = [float(np.nextafter(end, to)) for end in ends for to in (-1.0, 2.0)]
    return sorted({u for u in [*ends, *middles, *beside, LAST] if 0.0 <= u <= LAST})


@pytest.mark.parametrize("env_id", list(IDS))
def test_every_cell_action_and_outcome(rows: Rows, env_id: str) -> None:
    env: Any = gymnasium.make(env_id).unwrapped
    tried = [
        (s, a, u) for s, actions in env.P.items() for a, outcomes in actions.items()
        for u in draws_of([outcome[0] for outcome in outcomes])
    ]  # fmt: skip
    env.np_random = Fed([u for _, _, u in tried])
    theirs = []
    for s, a, _ in tried:
        env.s = s
        theirs.append(env.step(a)[:3])
    cells, actions, u = (np.array(column) for column in zip(*tried, strict=True))
    state = {"row": cells // 12, "column": cells % 12}
    made = rows.step(state, actions, {"slippery": IDS[env_id]}, slip=u)
    observation, reward, terminated = (np.array(column) for column in zip(*theirs, strict=True))
    assert len(tried) == 48 * 4 * (12 if IDS[env_id] else 4)
    assert np.array_equal(made.observation, observation)
    assert np.array_equal(made.reward, reward)
    assert np.array_equal(made.terminated, terminated)


@pytest.mark.parametrize("env_id", list(IDS))
def test_whole_episodes_from_gymnasiums_own_generator(rows: Rows, env_id: str) -> None:
    """Gymnasium plays seeded walks; the twin is handed the numbers that it drew."""
    choose, ended = np.random.default_rng(3), 0
    for seed in range(4):
        env: Any = gymnasium.make(env_id)
        same = np.random.Generator(type(env.unwrapped.np_random.bit_generator)(np.random.SeedSequence(seed)))
        seen, _ = env.reset(seed=seed)
        same.random()  # of the start
        now = rows.reset(1)
        for t in range(60):
            homing = seed % 2 == 0  # every second walk keeps to the top and comes down at the end
            wanted = 2 if int(now.state["column"][0]) == 11 else 0 if int(now.state["row"][0]) > 0 else 1
            action = wanted if homing else int(choose.integers(4))
            seen, reward, terminated, truncated, _ = env.step(action)
            now = rows.step(now.state, [action], {"slippery": IDS[env_id]}, t=t, slip=same.random())
            assert now.reward is not None
            assert now.terminated is not None
            assert (now.observation[0], now.reward[0], now.terminated[0]) == (seen, reward, terminated)
            assert not truncated
            if terminated:
                ended += 1
                break
    assert ended >= 2 - IDS[env_id]


def test_all_48_cells_are_in_the_space_though_the_documentation_counts_37() -> None:
    env: Any = gymnasium.make("CliffWalking-v1").unwrapped
    assert env.observation_space.n == 48
    env.reset(seed=0)
    env.s = 35
    assert env.step(2)[0] == 47  # the goal is observed, in the step that ends the episode


def test_the_slippery_walk_has_probabilities_though_the_documentation_says_always_1() -> None:
    env: Any = gymnasium.make("CliffWalkingSlippery-v1")
    env.reset(seed=0)
    assert env.step(0)[4] == {"prob": 1 / 3}


def test_gymnasium_has_no_time_limit() -> None:
    """A difference that the spec states: 200 steps here unless told otherwise."""
    assert gymnasium.spec("CliffWalking-v1").max_episode_steps is None
