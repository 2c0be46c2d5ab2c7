"""Auto-reset timing, final observations and infos, junk transitions, truncation; each test with its case's number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from kit import package
from kit.tools import MODES, advance, assert_same, clone, poison, vector

from simulacrum.engine.runner import ReferenceRunner

STAGGERED = {"goal": [1, 2, 3, 5]}
NUMBERS = (1, 4)


def first_marks(seed: int, episodes: int) -> list[float]:
    """The marks that tell the episodes of a row apart, from the reference."""
    runner = ReferenceRunner(package("counter"))
    return [float(runner.reset(seed, episode)[1]) for episode in range(episodes)]


@pytest.mark.parametrize("num_envs", NUMBERS)
@pytest.mark.parametrize("action", [0, 1])
def test_b01_next_step_shows_the_last_counter(num_envs: int, action: int) -> None:
    env = vector("counter", num_envs, max_episode_steps=3)
    env.reset(seed=0)
    seen = [env.step([action] * num_envs)[:4] for _ in range(9)]
    for row in range(num_envs):
        counters = [out[0][row, 0].item() for out in seen]
        assert counters == [1, 2, 3, 0, 1, 2, 3, 0, 1]
        assert [out[1][row].item() for out in seen] == [1, 1, 1, 0, 1, 1, 1, 0, 1]
        assert [out[3][row].item() for out in seen] == [False, False, True, False] * 2 + [False]
        assert not any(out[2][row] for out in seen)
        marks = first_marks(row, 3)
        assert [out[0][row, 1].item() for out in seen] == [marks[0]] * 3 + [marks[1]] * 4 + [marks[2]] * 2


def test_b02_same_step_keeps_the_final_observation() -> None:
    same = vector("counter", 4, autoreset_mode="same_step", params=STAGGERED)
    following = vector("counter", 4, params=STAGGERED)
    same.reset(seed=0)
    following.reset(seed=0)
    finals: list[list[Any]] = [[], [], [], []]
    for _ in range(30):
        observation, reward, terminated, truncated, info = same.step([0] * 4)
        ended = terminated | truncated
        assert info["_final_obs"].tolist() == info["_final_info"].tolist() == ended.tolist()
        assert observation[ended, 0].tolist() == [0.0] * int(ended.sum())
        assert reward.tolist() == [1.0] * 4
        for row in ended.nonzero().flatten().tolist():
            assert info["final_obs"][row, 0] == info["final_info"]["count"][row] == STAGGERED["goal"][row]
            finals[row].append(info["final_obs"][row].tolist())
        quiet = ~ended
        assert (observation[quiet, 0] > 0).all()
    lasts: list[list[Any]] = [[], [], [], []]
    for _ in range(40):
        observation, _, terminated, truncated, _ = following.step([1] * 4)
        for row in (terminated | truncated).nonzero().flatten().tolist():
            lasts[row].append(observation[row].tolist())
    for ours, theirs in zip(finals, lasts, strict=False):
        assert len(ours) >= 6
        length = min(len(ours), len(theirs))
        assert ours[:length] == theirs[:length]


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("num_envs", NUMBERS)
def test_b04_final_observation_and_info_share_nothing(num_envs: int, output: str) -> None:
    for name in ("counter", "dials", "canvas", "glider"):
        env = vector(name, num_envs, autoreset_mode="same_step", output=output, max_episode_steps=2)
        twin = vector(name, num_envs, autoreset_mode="same_step", output=output, max_episode_steps=2)
        env.reset(seed=0)
        twin.reset(seed=0)
        action = [env.single_action_space.sample() for _ in range(num_envs)]
        batch = {k: np.stack([a[k] for a in action]) for k in action[0]} if name == "canvas" else np.stack(action)
        env.step(batch)
        twin.step(batch)
        out = env.step(batch)
        kept = clone(out)
        twin.step(batch)
        for _ in range(5):
            env.step(batch)
            twin.step(batch)
        assert_same(out, kept)
        poison(out[0])
        assert_same(out[4], kept[4])
        poison(out)
        assert_same(env.step(batch)[:4], twin.step(batch)[:4])


@pytest.mark.parametrize("num_envs", NUMBERS)
def test_b05_the_reset_rows_are_named_and_nothing_else_is_junk(num_envs: int) -> None:
    env = vector("counter", num_envs, params={"goal": [1, 2, 3, 5][:num_envs]})
    observation, _ = env.reset(seed=0)
    done = torch.zeros(num_envs, dtype=torch.bool)
    kept = junk = 0
    for _ in range(40):
        following, reward, terminated, truncated, info = env.step([0] * num_envs)
        assert info["autoreset"].tolist() == done.tolist()  # the mask and the rule "ended in the step before" agree
        apart = (following[:, 0] != observation[:, 0] + 1) | (following[:, 1] != observation[:, 1])
        assert apart.tolist() == done.tolist()
        assert reward[info["autoreset"]].tolist() == [0.0] * int(done.sum())
        kept += int((~info["autoreset"]).sum())
        junk += int(done.sum())
        observation, done = following, terminated | truncated
    assert junk > 5
    assert kept + junk == 40 * num_envs


def test_b05_the_other_modes_have_no_junk_at_all() -> None:
    for mode in ("same_step", "disabled"):
        env = vector("counter", 4, autoreset_mode=mode, params=STAGGERED)
        observation, _ = env.reset(seed=0)
        for _ in range(20):
            if mode == "disabled" and env.state.ended.any():
                observation, _ = env.reset(options={"reset_mask": env.state.ended})
            out = env.step([0] * 4)
            last = out[0]
            if mode == "same_step":
                last = torch.where(out[4]["_final_obs"][:, None], out[4]["final_obs"], last)
            assert torch.equal(last[:, 0], observation[:, 0] + 1)
            assert torch.equal(last[:, 1], observation[:, 1])
            assert "autoreset" not in out[4]
            observation = out[0]


@pytest.mark.parametrize("mode", MODES)
def test_b07_an_end_on_the_limit_is_both(mode: str) -> None:
    env = vector("counter", 4, autoreset_mode=mode, max_episode_steps=3, params={"goal": [3, 1000, 3, 2]})
    runners = [
        ReferenceRunner(package("counter"), params={"goal": goal}, max_episode_steps=3) for goal in (3, 1000, 3, 2)
    ]
    env.reset(seed=0)
    for row, runner in enumerate(runners):
        runner.reset(row)
    for step in range(3):
        _, _, terminated, truncated, _ = advance(env, [0] * 4)
        live = [row for row in range(4) if row != 3 or step < 2]
        for row in live:
            out = runners[row].step(0)
            assert (terminated[row].item(), truncated[row].item()) == (out.terminated, out.truncated)
    assert terminated.tolist()[:3] == [True, False, True]
    assert truncated.tolist()[:3] == [True, True, True]
    time_outs = truncated & ~terminated  # what rsl_rl calls time_outs and Stable-Baselines3 TimeLimit.truncated
    assert time_outs.tolist()[:3] == [False, True, False]


def test_b07_stable_baselines3_reads_a_time_out_only_there() -> None:
    sb3 = pytest.importorskip("simulacrum.adapters.sb3")
    env = sb3.SB3VecEnv(
        vector("counter", 2, autoreset_mode="same_step", max_episode_steps=3, params={"goal": [3, 1000]})
    )
    env.seed(0)
    env.reset()
    for _ in range(2):
        env.step(np.zeros(2, dtype=np.int64))
    infos = env.step(np.zeros(2, dtype=np.int64))[3]
    assert [info["TimeLimit.truncated"] for info in infos] == [False, True]
    assert [info["terminal_observation"][0] for info in infos] == [3.0, 3.0]


@pytest.mark.parametrize("num_envs", NUMBERS)
@pytest.mark.parametrize("mode", MODES)
def test_b08_a_time_out_is_truncated_and_not_terminated(mode: str, num_envs: int) -> None:
    env = vector("counter", num_envs, autoreset_mode=mode, max_episode_steps=4)
    env.reset(seed=0)
    for step in range(1, 5):
        _, _, terminated, truncated, _ = env.step([0] * num_envs)
        assert terminated.tolist() == [False] * num_envs
        assert truncated.tolist() == [step == 4] * num_envs


def test_b08_rules_may_truncate_before_the_limit() -> None:
    env = vector("counter", 3, params={"cut": [2, 1000, 3], "goal": [1000, 1000, 3]}, max_episode_steps=5)
    env.reset(seed=0)
    flags = [env.step([0] * 3)[2:4] for _ in range(3)]
    assert flags[1][1].tolist() == [True, False, False]
    assert flags[2][1].tolist() == [False, False, True]
    assert flags[2][0].tolist() == [False, False, True]


def test_b43_the_last_info_of_an_episode_is_kept() -> None:
    same = vector("counter", 3, autoreset_mode="same_step", params={"goal": [2, 3, 1000]})
    same.reset(seed=0)
    same.step([0] * 3)
    info = same.step([0] * 3)[4]
    assert info["_final_info"].tolist() == [True, False, False]
    assert info["final_info"]["success"][0].item() is True
    assert info["final_info"]["count"][0].item() == 2
    assert info["success"].tolist() == [False, False, False]
    assert info["count"].tolist() == [0, 2, 2]

    following = vector("counter", 3, params={"goal": [2, 3, 1000]})
    following.reset(seed=0)
    infos = [following.step([0] * 3)[4] for _ in range(3)]
    assert [info["success"][0].item() for info in infos] == [False, True, False]
    assert [info["count"][0].item() for info in infos] == [1, 2, 0]
    assert not any(key.startswith("final") for info in infos for key in info)

    disabled = vector("counter", 3, autoreset_mode="disabled", params={"goal": [2, 3, 1000]})
    disabled.reset(seed=0)
    infos = [disabled.step([0] * 3)[4] for _ in range(2)]
    assert infos[1]["success"].tolist() == [True, False, False]
    _, info = disabled.reset(options={"reset_mask": [True, False, False]})
    assert info["success"].tolist() == [False, False, False]
    assert info["_success"].tolist() == [True, False, False]
    assert infos[1]["success"].tolist() == [True, False, False]


def test_b43_in_numpy_output_masks_say_who_ended() -> None:
    env = vector("counter", 3, autoreset_mode="same_step", output="numpy", params={"goal": [2, 3, 1000]})
    env.reset(seed=0)
    assert "final_info" not in env.step([0] * 3)[4]
    info = env.step([0] * 3)[4]
    assert info["final_info"]["success"].tolist() == [True, False, False]
    assert info["final_info"]["_success"].tolist() == info["_final_info"].tolist() == [True, False, False]
    assert info["success"].tolist() == [False, False, False]
