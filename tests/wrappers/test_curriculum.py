"""Stages of parameters: when the next one comes, for which episodes, and what is saved."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from gymnasium.vector import AutoresetMode
from kit.tools import assert_same, clone, timeless, vector

from simulacrum.errors import UsageError
from simulacrum.wrappers import Choice, Curriculum, Uniform

MODES = ("next_step", "same_step", "disabled")
STAGES = [{"goal": 3}, {"goal": Uniform(5, 6)}, {"goal": Choice(8, 9)}]


def wrapped(mode: str = "next_step", target: Any = (3.0, 5.0), window: int = 6, **kwargs: Any) -> Curriculum:
    env = vector("counter", 4, autoreset_mode=mode, max_episode_steps=None)
    return Curriculum(env, kwargs.pop("stages", STAGES), target=target, window=window, **kwargs)


def one_step(env: Any) -> tuple[Any, ...]:
    if env.mode == AutoresetMode.DISABLED and env.ended is not None and bool(env.ended.any()):
        env.reset(options={"reset_mask": env.ended.clone()})
    return clone(env.step(torch.zeros(env.num_envs, dtype=torch.int64)))


def lengths_by_stage(env: Curriculum, steps: int) -> list[tuple[int, float]]:
    """(stage in which it began, return) of each finished episode."""
    env.reset(seed=0)
    found: list[tuple[int, float]] = []
    for _ in range(steps):
        *_, info = one_step(env)
        stage = (info["final_info"] if env.mode == AutoresetMode.SAME_STEP else info)["stage"]
        rows = info["_episode"].nonzero().flatten().tolist()
        found += [(int(stage[row]), float(info["episode"]["r"][row])) for row in rows]
    return found


@pytest.mark.parametrize("mode", MODES)
def test_stages_follow_each_other_and_the_last_one_stays(mode: str) -> None:
    env = wrapped(mode)
    played = lengths_by_stage(env, 90)
    # Four rows end together: after 8 episodes the last 6 are good enough, and the episodes after those are harder.
    assert played[:8] == [(0, 3.0)] * 8
    assert played[8][0] == 1
    assert all(low <= length <= high for stage, length in played for low, high in [[(3, 3), (5, 6), (8, 9)][stage]])
    stages = [stage for stage, _ in played]
    assert stages == sorted(stages)
    assert stages.count(2) > 8
    assert env.stage == 2


def test_a_stage_that_goes_badly_stays() -> None:
    env = wrapped(target=[3.5, 1.0])
    assert {stage for stage, _ in lengths_by_stage(env, 60)} == {0}
    assert len(env.recent) == 6


def test_episodes_of_the_stage_before_do_not_count() -> None:
    stages = [{"goal": Choice(2, 90)}, {"goal": 40}]
    env = wrapped(stages=stages, target=2.0, window=4)
    env.reset(seed=0)
    while env.stage == 0:
        one_step(env)
    late = [int(row) for row in (env.began == 0).nonzero().flatten()]
    assert late  # still playing their 90 steps
    assert env.recent == ()
    for _ in range(30):
        one_step(env)
    assert env.recent == ()  # nothing of stage 1 has ended yet, and it is the last


def test_any_measure_will_do() -> None:
    env = wrapped(target=1.0, window=3, measure=lambda info: info["success"], stages=STAGES[:2])
    lengths_by_stage(env, 12)
    assert env.stage == 1
    never = wrapped(target=1.0, window=3, measure=lambda info: ~info["success"], stages=STAGES[:2])
    lengths_by_stage(never, 12)
    assert never.stage == 0
    assert set(never.recent) == {0.0}


@pytest.mark.parametrize("mode", MODES)
def test_a_saved_state_goes_on_to_the_bit(mode: str) -> None:
    one, other = wrapped(mode), wrapped(mode)
    one.reset(seed=1)
    for _ in range(12):
        one_step(one)
    saved = one.state_dict()
    assert one.stage == 1
    expected = [one_step(one) for _ in range(40)]
    assert one.stage == 2
    other.reset(seed=5)
    other.load_state_dict(saved)
    for step in expected:
        ours = one_step(other)
        assert_same((*ours[:4], timeless(ours[4])), (*step[:4], timeless(step[4])))
    assert (other.stage, other.recent) == (one.stage, one.recent)


def test_a_reset_keeps_the_stage() -> None:
    env = wrapped(target=3.0)
    lengths_by_stage(env, 9)
    assert env.stage == 1
    _, info = env.reset(seed=3)
    assert info["stage"].tolist() == [1] * 4
    assert all(5 <= goal <= 6 for goal in info["params"]["goal"].tolist())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stages": []}, "without stages"),
        ({"target": [1.0]}, "wrong number of targets"),
        ({"window": 0}, "window"),
        ({"stages": [{"goal": 3}, {"goal": 5000}], "target": 1.0}, "5000"),
    ],
)
def test_what_is_no_curriculum(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        wrapped(**given)
