"""Parameters drawn for each episode: which, from when on, and that nothing else moves."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from gymnasium.vector import AutoresetMode
from kit import package
from kit.tools import assert_same, clone, timeless, vector

from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import StateError, UsageError
from simulacrum.wrappers import (
    Choice,
    ClipReward,
    DomainRandomization,
    NormalizeObservation,
    RecordEpisodeStatistics,
    Uniform,
)

MODES = ("next_step", "same_step", "disabled")
RANGES = {"goal": Uniform(4, 7), "spread": Choice(0, 1)}  # how long an episode is, and where it begins


def wrapped(num_envs: int = 5, mode: str = "next_step", ranges: Any = RANGES, **kwargs: Any) -> DomainRandomization:
    env = vector("counter", num_envs, autoreset_mode=mode, max_episode_steps=None, **kwargs)
    return DomainRandomization(env, ranges)


def one_step(env: Any) -> tuple[Any, ...]:
    if env.mode == AutoresetMode.DISABLED and env.ended is not None and bool(env.ended.any()):
        env.reset(options={"reset_mask": env.ended.clone()})
    return clone(env.step(torch.zeros(env.num_envs, dtype=torch.int64)))


Episode = tuple[tuple[Any, ...], list[tuple[Any, ...]]]  # parameters, and what each step showed


def episodes(env: Any, steps: int, seed: Any = 3) -> list[list[Episode]]:
    """The finished episodes of each row: its parameters as info tells them, its start, its rewards, its end."""
    observation, info = env.reset(seed=seed)
    found: list[list[Episode]] = [[] for _ in range(env.num_envs)]
    open_ones: list[list[Any]] = [[observation[row].tolist()] for row in range(env.num_envs)]
    for _ in range(steps):
        if env.mode == AutoresetMode.DISABLED and bool(env.ended.any()):
            begun = env.ended.clone()
            observation, info = env.reset(options={"reset_mask": begun})
            for row in begun.nonzero().flatten().tolist():
                open_ones[row] = [observation[row].tolist()]
        observation, reward, terminated, truncated, info = env.step(torch.zeros(env.num_envs, dtype=torch.int64))
        same_step = env.mode == AutoresetMode.SAME_STEP
        params = (info["final_info"] if same_step else info)["params"]
        last = info.get("final_obs", observation)
        for row in range(env.num_envs):
            if env.mode == AutoresetMode.NEXT_STEP and bool(info["autoreset"][row]):
                open_ones[row] = [observation[row].tolist()]
                continue
            over = bool(terminated[row] | truncated[row])
            open_ones[row].append((reward[row].item(), (last if over else observation)[row].tolist()))
            if over:
                found[row].append((tuple(params[name][row].item() for name in params), open_ones[row]))
                open_ones[row] = [observation[row].tolist()]  # where the mode is SAME_STEP
    return found


@pytest.mark.parametrize("mode", MODES)
def test_each_episode_is_the_one_that_the_reference_plays_under_its_parameters(mode: str) -> None:
    counter = package("counter")
    for row, played in enumerate(episodes(wrapped(mode=mode), 60)):
        assert len(played) >= 6
        assert len({params for params, _ in played}) > 2
        for number, (params, shown) in enumerate(played):
            given = dict(zip(("goal", "cut", "spread"), params, strict=True))
            runner = ReferenceRunner(counter, params=given)
            runner.reset(3 + row, number)
            expected: list[Any] = [[float(x) for x in runner.observe()]]
            while not runner.ended:
                out = runner.step(0)
                expected.append((float(out.reward), [float(x) for x in runner.observe()]))
            assert shown == expected
            assert given["cut"] == 1000


def test_draws_depend_on_seed_and_episode_alone() -> None:
    whole = {mode: episodes(wrapped(mode=mode), 80) for mode in MODES}
    for played in zip(*whole.values(), strict=True):
        fewest = min(map(len, played))
        assert fewest >= 7
        assert played[0][:fewest] == played[1][:fewest] == played[2][:fewest]
    alone = episodes(wrapped(1), 80, seed=5)[0]
    assert alone == whole["next_step"][2]
    other = episodes(wrapped(ranges={"spread": Choice(0, 1)}, params={"goal": 6}), 80)
    for row, played in enumerate(other):  # a parameter less moves no other draw
        both = zip(played, whole["next_step"][row], strict=False)
        assert all(one[0][2] == two[0][2] for one, two in both)
        assert {one[0][0] for one in played} == {6}


def test_the_environments_own_draws_stay() -> None:
    plain = vector("counter", 5, max_episode_steps=None, params={"spread": 1, "goal": 5})
    fixed = wrapped(ranges={"goal": 5, "spread": 1})
    assert_same(fixed.reset(seed=3)[0], plain.reset(seed=3)[0])
    for _ in range(40):
        ours, theirs = one_step(fixed), clone(plain.step(torch.zeros(5, dtype=torch.int64)))
        assert_same(ours[:4], theirs[:4])
        assert {key: timeless(ours[4])[key] for key in theirs[4]}.keys() == theirs[4].keys()


def test_values_are_spread_over_the_whole_range() -> None:
    env = wrapped(4000, ranges={"goal": Uniform(3, 6), "cut": Choice(10, 20, 20, 30)})
    _, info = env.reset(seed=1)
    goal, cut = info["params"]["goal"], info["params"]["cut"]
    assert goal.dtype == torch.int32
    for value in range(3, 7):
        assert abs((goal == value).double().mean() - 0.25) < 0.034  # five standard deviations
    for value, share in ((10, 0.25), (20, 0.5), (30, 0.25)):
        assert abs((cut == value).double().mean() - share) < 0.04
    together = torch.corrcoef(torch.stack([goal.double(), cut.double()]))[0, 1]
    assert abs(together) < 0.08
    slips = DomainRandomization(vector("toywalk", 4000), {"slip": Uniform(0.1, 0.5)}).reset(seed=1)[1]["params"]["slip"]
    assert slips.dtype == torch.float32
    assert 0.1 <= slips.min() < 0.101
    assert 0.499 < slips.max() <= 0.5
    assert abs(slips.mean() - 0.3) < 0.0092


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_the_native_form_has_the_bits_of_the_eager_one(mode: str) -> None:
    one, other = (
        DomainRandomization(vector("toywalk", 6, autoreset_mode=mode, compile=form), {"slip": Uniform(0.0, 0.6)})
        for form in (False, "native")
    )
    assert_same(one.reset(seed=2), other.reset(seed=2))
    for step in range(90):
        action = torch.full((6,), int(step % 3 > 0))
        ours, theirs = one.step(action), other.step(action)
        assert_same((*ours[:4], timeless(ours[4])), (*theirs[:4], timeless(theirs[4])))


def test_a_partial_reset_draws_for_its_rows_alone() -> None:
    env = wrapped(4, ranges={"goal": Uniform(4, 900)})
    before = env.reset(seed=9)[1]["params"]["goal"]
    one_step(env)
    observation, info = env.reset(options={"reset_mask": [False, True, False, True]})
    after = info["params"]["goal"]
    assert (after == before).tolist() == [True, False, True, False]
    assert observation[:, 0].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert info["_count"].tolist() == [False, True, False, True]
    assert env.base.state.episode.tolist() == [0, 1, 0, 1]
    again = env.reset(seed=9)[1]["params"]["goal"]
    assert_same(again, before)


@pytest.mark.parametrize("mode", MODES)
def test_a_saved_state_goes_on_to_the_bit(mode: str) -> None:
    one, other = wrapped(mode=mode), wrapped(mode=mode)
    one.reset(seed=1)
    for _ in range(11):
        one_step(one)
    saved = one.state_dict()
    expected = [one_step(one) for _ in range(25)]
    other.reset(seed=77)
    other.load_state_dict(saved)
    for step in expected:
        ours = one_step(other)
        assert_same((*ours[:4], timeless(ours[4])), (*step[:4], timeless(step[4])))
    with pytest.raises(StateError, match="another wrapper"):
        ClipReward(vector("counter", 5), 0.0).load_state_dict(saved)


def test_other_wrappers_go_around_it() -> None:
    env = RecordEpisodeStatistics(NormalizeObservation(wrapped(mode="same_step")))
    observation, info = env.reset(seed=0)
    assert set(info["params"]) == {"goal", "cut", "spread"}
    for _ in range(30):
        observation, *_, info = one_step(env)
    assert observation.isfinite().all()
    assert len(env.length_queue) > 10
    assert set(info["final_info"]) == {"count", "success", "params"}
    assert info["_final_info"].dtype == torch.bool


def test_ranges_may_change_and_hold_from_the_next_episode_on() -> None:
    env = wrapped(3, ranges={"goal": 4})
    env.reset(seed=0)
    env.randomize({"goal": 6})
    lengths = []
    for _ in range(20):
        *_, info = one_step(env)
        lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths == [4] * 3 + [6] * 6


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ({"goal": Uniform(0, 5)}, "goal"),
        ({"goal": Uniform(1, 1001)}, "1001"),
        ({"goal": Uniform(7, 4)}, "range of 'goal' is empty"),
        ({"goal": Choice()}, "nothing to choose from"),
        ({"goal": Choice(3, 5000)}, "5000"),
        ({"goal": 2.5}, "goal"),
        ({"gaol": Uniform(1, 2)}, "unknown parameter 'gaol'"),
    ],
)
def test_what_cannot_be_drawn(ranges: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        wrapped(ranges=ranges)


def test_its_place_is_next_to_the_environment() -> None:
    with pytest.raises(UsageError, match="without a wrapper"):
        DomainRandomization(ClipReward(vector("counter", 5), 0.0), RANGES)
    with pytest.raises(UsageError, match="output='torch'"):
        wrapped(output="numpy")
    with pytest.raises(UsageError, match="rollout"):
        wrapped().rollout(torch.zeros(3, 5, dtype=torch.int64))
