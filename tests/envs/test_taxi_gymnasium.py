"""taxi's batched twin beside Gymnasium's Taxi as `gymnasium.make` gives it: no number may differ.

Every state, every action and every outcome, with draws inside each outcome's interval and at its very ends.
"""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest
from kit.toytext import Fed, Rows

LAST = 1.0 - 2.0**-53  # the largest number that a uniform draw gives
STATES = np.arange(500)
FIELDS = {
    "row": STATES // 100, "column": STATES // 20 % 5, "passenger": STATES // 4 % 5, "destination": STATES % 4,
}  # fmt: skip


class Willing(Fed):
    """As `Fed`, and it picks the option of the rank that it was given."""

    def __init__(self, numbers: list[float], rank: int = 0) -> None:
        super().__init__(numbers)
        self.rank, self.asked = rank, 0

    def choice(self, options: list[int]) -> int:
        self.asked += 1
        return options[self.rank]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows("taxi")


def draws_of(probabilities: list[float]) -> list[float]:
    """Numbers on both sides of each end of the intervals that `categorical_sample` compares with, and their middles."""
    ends = [0.0, *np.cumsum(probabilities).tolist()]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
    beside = [float(np.nextafter(end, to)) for end in ends for to in (-1.0, 2.0)]
    return sorted({u for u in [*ends, *middles, *beside, LAST] if 0.0 <= u <= LAST})


@pytest.mark.parametrize("given", [{}, *({"is_rainy": True, "rainy_probability": p} for p in (0.8, 0.3, 1.0))])
def test_every_state_action_and_outcome(rows: Rows, given: dict[str, Any]) -> None:
    env: Any = gymnasium.make("Taxi-v4", **given).unwrapped
    probability = given.get("rainy_probability", 0.8)
    draws = draws_of([probability, (1 - probability) / 2, (1 - probability) / 2])
    params = {"rainy": "is_rainy" in given, "rainy_probability": probability}
    seen, masks = 0, []
    for u, action in itertools.product(draws if params["rainy"] else (0.0, LAST), range(6)):
        theirs = []
        for s in STATES.tolist():
            env.s, env.np_random = s, Fed([u])
            theirs.append(env.step(action))
            seen += theirs[-1][0] != s
        made = rows.step({**FIELDS, "fickle": False}, np.full(500, action), params, slip=u)
        assert np.array_equal(made.observation, [step[0] for step in theirs])
        assert np.array_equal(made.reward, [step[1] for step in theirs])
        assert np.array_equal(made.terminated, [step[2] for step in theirs])
        masks.append(np.array_equal(rows.mask(made.state, 500), [step[4]["action_mask"] == 1 for step in theirs]))
    assert all(masks)
    assert seen > 300


@pytest.mark.parametrize("rank", range(3))
@pytest.mark.parametrize("mood", [False, True])
def test_every_change_of_mind(rows: Rows, rank: int, mood: bool) -> None:
    env: Any = gymnasium.make("Taxi-v4", fickle_passenger=True, is_rainy=True).unwrapped
    changed = 0
    for u, action in itertools.product((0.5, 0.85, 0.95), range(6)):
        theirs, moods = [], []
        for s in STATES.tolist():
            env.s, env.fickle_step, env.np_random = s, mood, Willing([u], rank)
            theirs.append(env.step(action)[:3])
            moods.append(env.fickle_step)
            changed += env.np_random.asked
        params = {"rainy": True, "fickle_passenger": True}
        made = rows.step({**FIELDS, "fickle": mood}, np.full(500, action), params, slip=u, whim=rank)
        assert np.array_equal(made.observation, [step[0] for step in theirs])
        assert np.array_equal(made.reward, [step[1] for step in theirs])
        assert np.array_equal(made.terminated, [step[2] for step in theirs])
        assert np.array_equal(made.state["fickle"], moods)
    assert (changed > 0) is mood


def test_every_start(rows: Rows) -> None:
    """The middle of each of the 300 shares of [0, 1) is a start of its own, in the order of R2."""
    env: Any = gymnasium.make("Taxi-v4", fickle_passenger=True).unwrapped
    made = rows.reset(300, {"fickle_passenger": True}, start=np.arange(300), fickle=[0.1, 0.5] * 150)
    for k in range(300):
        env.np_random = Fed([(k + 0.5) / 300, (0.1, 0.5)[k % 2]])
        assert env.reset()[0] == made.observation[k]
        assert env.fickle_step == made.state["fickle"][k]


def test_whole_episodes_from_gymnasiums_own_generator(rows: Rows) -> None:
    """Gymnasium plays seeded episodes in rain with its time limit; the twin is handed the numbers that it drew."""
    deliver = next(p.act for p in rows.package.module("probes").PROBES if p.name == "deliver")
    make = rows.package.reference().State
    ends = []
    for seed, guided in ((0, True), (1, True), (2, True), (3, False)):
        env: Any = gymnasium.make("Taxi-v4", is_rainy=True)
        same = np.random.Generator(type(env.unwrapped.np_random.bit_generator)(np.random.SeedSequence(seed)))
        seen, _ = env.reset(seed=seed)
        same.random()  # of the start
        row, column, passenger, destination = env.unwrapped.decode(seen)
        start = 12 * (5 * row + column) + 3 * passenger + destination - (destination > passenger)
        now = rows.reset(1, start=start)
        for t in range(200):
            state = make(**{name: value[0].item() for name, value in now.state.items()})
            action = deliver(seen, state, t) if guided else 0
            seen, reward, terminated, truncated, _ = env.step(action)
            now = rows.step(now.state, [action], {"rainy": True}, t=t, slip=same.random())
            assert now.reward is not None
            assert now.terminated is not None
            assert (now.observation[0], now.reward[0], now.terminated[0]) == (seen, reward, terminated)
            if terminated or truncated:
                ends.append(terminated)
                break
    assert ends == [True, True, True, False]


def slips(step: Any) -> set[tuple[int, ...]]:
    """How far ahead, to the left and to the right a taxi in the open goes, for each of three draws; a set of headings.

    The set has one element exactly where all four headings slip alike.
    """
    ahead = {0: (1, 0), 1: (-1, 0), 2: (0, 1), 3: (0, -1)}
    found = set()
    for action, (down, right) in ahead.items():
        told: list[int] = []
        for u in (0.4, 0.85, 0.95):
            row, column = step(action, u)
            moved = (row - 2, column - 2)
            told += [moved[0] * down + moved[1] * right, moved[1] * down - moved[0] * right]
        found.add(tuple(told))
    return found


def test_rain_slips_alike_in_all_four_directions(rows: Rows) -> None:
    """A fault that Gymnasium once had: north and south slipped otherwise than east and west."""

    def ours(action: int, u: float) -> tuple[int, int]:
        state = {"row": 2, "column": 2, "passenger": 0, "destination": 1, "fickle": False}
        made = rows.step(state, [action], {"rainy": True}, slip=u)
        return int(made.state["row"][0]), int(made.state["column"][0])

    def faulty(action: int, u: float) -> tuple[int, int]:
        return ours(action, 0.4 if action < 2 else u)  # as if north and south did not slip

    assert slips(ours) == {(1, 0, 0, 1, 0, -1)}
    assert len(slips(faulty)) == 2


def test_dropping_off_at_a_wrong_place_is_no_illegal_action() -> None:
    """A difference to the documentation: only away from the four places is it illegal."""
    env: Any = gymnasium.make("Taxi-v4").unwrapped
    env.reset(seed=0)
    env.s = env.encode(0, 0, 4, 3)
    observation, reward, terminated, _, _ = env.step(5)
    assert (observation, reward, terminated) == (env.encode(0, 0, 0, 3), -1, False)
