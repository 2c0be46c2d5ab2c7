"""frozenlake's batched twin beside Gymnasium's FrozenLake as `gymnasium.make` gives it: no number may differ.

Every cell, every action and every outcome, with draws inside each outcome's interval and at its very ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import MAPS, generate_random_map
from kit.toytext import Fed, Rows

LAST = 1.0 - 2.0**-53  # the largest number that a uniform draw gives


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows("frozenlake")


def maps() -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Maps with arguments of `gymnasium.make`."""
    for desc in MAPS.values():
        yield desc, {}
        yield desc, {"is_slippery": False}
        yield desc, {"success_rate": 0.8, "reward_schedule": (2.5, -1.0, -0.25)}
    generator = np.random.default_rng(7)
    for seed in range(16):
        desc = generate_random_map(size=2 + seed % 7, p=0.75, seed=seed)
        yield desc, {"success_rate": float(generator.random()), "reward_schedule": (10, -10, -1)}
    for shape in ((1, 5), (3, 7), (8, 2), (7, 8)):
        letters = generator.choice(list("FFFHG"), shape)
        letters[shape[0] // 2, shape[1] // 2] = "S"
        yield ["".join(line) for line in letters], {"success_rate": float(generator.random())}
    yield MAPS["4x4"], {"success_rate": 0.0}
    yield MAPS["4x4"], {"success_rate": 1.0}


def params_of(rows: Rows, desc: list[str], given: dict[str, Any]) -> dict[str, Any]:
    goal, hole, frozen = given.get("reward_schedule", (1, 0, 0))
    return {
        **rows.package.module("maps").params_of(desc),
        "slippery": given.get("is_slippery", True), "success_rate": given.get("success_rate", 1.0 / 3.0),
        "goal_reward": goal, "hole_reward": hole, "frozen_reward": frozen,
    }  # fmt: skip


def draws_of(probabilities: list[float]) -> list[float]:
    """Numbers on both sides of each end of the intervals that `categorical_sample` compares with, and their middles."""
    ends = [0.0, *np.cumsum(probabilities).tolist()]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
    beside = [float(np.nextafter(end, to)) for end in ends for to in (-1.0, 2.0)]
    return sorted({u for u in [*ends, *middles, *beside, LAST] if 0.0 <= u <= LAST})


def cases(env: Any) -> list[tuple[int, int, float]]:
    return [
        (s, a, u) for s, actions in env.P.items() for a, outcomes in actions.items()
        for u in draws_of([outcome[0] for outcome in outcomes])
    ]  # fmt: skip


@pytest.mark.parametrize(("desc", "given"), list(maps()))
def test_every_cell_action_and_outcome(rows: Rows, desc: list[str], given: dict[str, Any]) -> None:
    env: Any = gymnasium.make("FrozenLake-v1", desc=desc, **given).unwrapped
    tried = cases(env)
    env.np_random = Fed([u for _, _, u in tried])
    theirs = []
    for s, a, _ in tried:
        env.s = s
        theirs.append(env.step(a)[:3])
    params = params_of(rows, desc, given)
    cells, actions, u = (np.array(column) for column in zip(*tried, strict=True))
    lake = {name: params[name] for name in ("rows", "columns", "holes", "goals")}
    state = {"row": cells // params["columns"], "column": cells % params["columns"], **lake}
    made = rows.step(state, actions, params, slip=u)
    observation, reward, terminated = (np.array(column) for column in zip(*theirs, strict=True))
    assert np.array_equal(made.observation, observation)
    assert np.array_equal(made.reward, reward.astype(np.float32))
    assert np.array_equal(made.terminated, terminated)
    if given.get("is_slippery", True) and 0.0 < params["success_rate"] < 1.0:
        ties = set(np.cumsum([(1 - params["success_rate"]) / 2, params["success_rate"]]).tolist())
        assert ties <= set(u.tolist())  # the comparison was tried on equal numbers


def test_a_threshold_that_counts_its_own_number_is_seen(rows: Rows) -> None:
    """Of the draws that the comparison uses, some are ties, so that <= for < would be found."""
    env: Any = gymnasium.make("FrozenLake-v1").unwrapped
    tried = cases(env)
    side = (1.0 - 1.0 / 3.0) / 2.0
    assert sum(u == side for _, _, u in tried) >= 11 * 4


@pytest.mark.parametrize("name", list(MAPS))
def test_whole_episodes_from_gymnasiums_own_generator(rows: Rows, name: str) -> None:
    """Gymnasium plays seeded episodes with its time limit; the twin is handed the numbers that it drew."""
    env_id = {"4x4": "FrozenLake-v1", "8x8": "FrozenLake8x8-v1"}[name]
    params = params_of(rows, MAPS[name], {})
    limit = {"4x4": 100, "8x8": 200}[name]
    choose = np.random.default_rng(3)
    ends = {"terminated": 0, "truncated": 0}
    for seed in range(5):
        env: Any = gymnasium.make(env_id)
        same = np.random.Generator(type(env.unwrapped.np_random.bit_generator)(np.random.SeedSequence(seed)))
        seen, _ = env.reset(seed=seed)
        same.random()  # of the start
        now = rows.reset(1, params)
        assert now.observation[0] == seen
        for t in range(limit):
            action = 0 if seed == 3 else int(choose.integers(4))
            seen, reward, terminated, truncated, _ = env.step(action)
            now = rows.step(now.state, [action], params, t=t, slip=same.random())
            assert now.reward is not None
            assert now.terminated is not None
            assert (now.observation[0], now.reward[0], now.terminated[0]) == (seen, reward, terminated)
            if terminated or truncated:
                ends["terminated" if terminated else "truncated"] += 1
                assert truncated == (t + 1 == limit)
                break
    assert sum(ends.values()) == 5
    assert ends["terminated"] > 0


def test_one_start_whatever_is_drawn() -> None:
    env: Any = gymnasium.make("FrozenLake-v1").unwrapped
    for number in (0.0, 0.5, LAST):
        env.np_random = Fed([number])
        assert env.reset()[0] == 0


def test_strings_of_one_letter_are_no_map_to_gymnasium() -> None:
    """A difference: `params_of` takes a map of one column as strings, Gymnasium only as letters."""
    with pytest.raises(ValueError, match="unpack"):
        gymnasium.make("FrozenLake-v1", desc=["S", "F", "G"])
    assert gymnasium.make("FrozenLake-v1", desc=[["S"], ["F"], ["G"]]).unwrapped.desc.shape == (3, 1)


def test_info_has_prob_and_not_p() -> None:
    """A difference between Gymnasium and its documentation, which names the key `p`."""
    env = gymnasium.make("FrozenLake-v1")
    _, info = env.reset(seed=0)
    assert list(info) == ["prob"]
    assert list(env.step(0)[4]) == ["prob"]
