"""The torch wrappers against Gymnasium's own: the same env with NumPy output, wrapped by Gymnasium, is the oracle.

Statistics are held to 1e-5, not to bits: Gymnasium keeps them in float32 (observations) or sums them pairwise with
NumPy, the torch ones are float64 sums by torch. Everything that is no statistic is held to bits.
"""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from simulacrum.engine.single import SimulacrumEnv
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import StateError, UsageError
from simulacrum.wrappers import (
    ClipReward,
    FrameStackObservation,
    NormalizeObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
    RunningMeanStd,
)

# 1.2's own statistics leave out the first step of an episode in SAME_STEP, and its reward normalisation counted resets.
current = pytest.mark.skipif(gym.__version__ < "1.4", reason="the oracle, Gymnasium's own wrapper, was mended in 1.4")

MODES = ("next_step", "same_step", "disabled")
N, STEPS, SEED = 5, 45, 11


def env(mode: str = "next_step", **kwargs: Any) -> SimulacrumVectorEnv:
    return SimulacrumVectorEnv("toywalk", N, autoreset_mode=mode, max_episode_steps=7, **kwargs)


def actions() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randint(0, 2, (N,), generator=generator) for _ in range(STEPS)]


def drive(vector: Any, mode: str) -> list[tuple[Any, ...]]:
    """Every step's five values; in DISABLED mode ended rows are reset by mask before the next step."""
    shown = [vector.reset(seed=SEED)]
    for action in actions():
        step = vector.step(action)
        shown.append(copy.deepcopy(step))  # Gymnasium's statistics hand out a mask that a later reset edits
        if mode == "disabled":
            ended = np.asarray(step[2]) | np.asarray(step[3])
            if ended.any():
                vector.reset(options={"reset_mask": ended})
    return shown


@current
@pytest.mark.parametrize("mode", ["next_step", "same_step"])  # in DISABLED, Gymnasium's clears all rows: see below
def test_reward_normalisation_is_gymnasiums(mode: str) -> None:
    ours = drive(NormalizeReward(env(mode)), mode)
    theirs = drive(gym.wrappers.vector.NormalizeReward(env(mode, output="numpy")), mode)
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        assert a[1].dtype == torch.float32
        np.testing.assert_allclose(a[1].numpy(), b[1], rtol=1e-5)


def test_partial_resets_clear_only_their_rows() -> None:
    wrapped = NormalizeReward(env("disabled"))
    wrapped.reset(seed=SEED)
    wrapped.step(torch.zeros(N, dtype=torch.int64))
    before = wrapped.accumulated_reward.clone()
    mask = torch.tensor([True, False, True, False, False])
    wrapped.reset(options={"reset_mask": mask})
    assert torch.equal(wrapped.accumulated_reward, torch.where(mask, torch.zeros_like(before), before))
    assert bool((before != 0).all())


def test_observation_normalisation_is_gymnasiums() -> None:
    ours = drive(NormalizeObservation(env()), "next_step")
    theirs = drive(gym.wrappers.vector.NormalizeObservation(env(output="numpy")), "next_step")
    for a, b in zip(ours, theirs, strict=True):
        assert a[0].dtype == torch.float32
        np.testing.assert_allclose(a[0].numpy(), b[0], rtol=2e-4, atol=2e-5)


def test_final_observations_are_normalised_by_the_same_statistics() -> None:
    wrapped = NormalizeObservation(env("same_step"))
    plain = env("same_step")
    wrapped.reset(seed=SEED), plain.reset(seed=SEED)
    for action in actions()[:12]:
        shown, raw = wrapped.step(action), plain.step(action)
        expected = (raw[4]["final_obs"].double() - wrapped.obs_rms.mean) / torch.sqrt(wrapped.obs_rms.var + 1e-8)
        assert torch.equal(shown[4]["final_obs"], expected.float())


@current
@pytest.mark.parametrize("mode", MODES)
def test_episode_statistics_are_gymnasiums(mode: str) -> None:
    ours = RecordEpisodeStatistics(env(mode))
    theirs = gym.wrappers.vector.RecordEpisodeStatistics(env(mode, output="numpy"))
    ended = 0
    for a, b in zip(drive(ours, mode)[1:], drive(theirs, mode)[1:], strict=True):
        done = np.asarray(a[4]["_episode"])
        assert np.array_equal(done, b[4].get("_episode", np.zeros(N, dtype=bool)))
        ended += int(done.sum())
        if done.any():
            assert np.array_equal(a[4]["episode"]["r"].numpy(), b[4]["episode"]["r"])
            assert np.array_equal(a[4]["episode"]["l"].numpy(), b[4]["episode"]["l"])
    assert ended >= 3 * N
    assert list(ours.return_queue) == list(theirs.return_queue)
    assert list(ours.length_queue) == list(theirs.length_queue)
    assert ours.episode_count == theirs.episode_count


@pytest.mark.parametrize("mode", MODES)
def test_native_statistics_are_the_wrappers(mode: str) -> None:
    """Fault B11 and B13: the reset step counted, or the first step of an episode left out."""
    wrapped, native = RecordEpisodeStatistics(env(mode), stats_key="seen"), env(mode)
    for a, b in zip(drive(wrapped, mode)[1:], drive(native, mode)[1:], strict=True):
        assert torch.equal(a[4]["seen"]["r"], b[4]["episode"]["r"])
        assert torch.equal(a[4]["seen"]["l"], b[4]["episode"]["l"])


def test_statistics_count_rewards_as_they_are_here() -> None:
    wrapped = RecordEpisodeStatistics(ClipReward(env("same_step"), -0.5, 0.5))
    for step in drive(wrapped, "same_step")[1:]:
        assert bool((step[4]["episode"]["r"].abs() <= 3.5).all())


@pytest.mark.parametrize("mode", MODES)
def test_clipped_rewards_are_gymnasiums(mode: str) -> None:
    ours = drive(ClipReward(env(mode), -0.25, 2.0), mode)
    theirs = drive(gym.wrappers.vector.ClipReward(env(mode, output="numpy"), -0.25, 2.0), mode)
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        assert np.array_equal(a[1].numpy(), b[1])


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_stacked_frames_are_those_of_single_envs(mode: str) -> None:
    def single() -> gym.Env[Any, Any]:
        limited = gym.wrappers.TimeLimit(SimulacrumEnv("toywalk"), 7)
        return gym.wrappers.FrameStackObservation(limited, 3)

    ours = FrameStackObservation(env(mode), 3)
    theirs = SyncVectorEnv([single] * N, autoreset_mode=AutoresetMode[mode.upper()])
    assert ours.observation_space == theirs.observation_space
    for a, b in zip(drive(ours, mode), drive(theirs, mode), strict=True):
        assert np.array_equal(a[0].numpy(), b[0])
        for row in np.flatnonzero(b[-1].get("_final_obs", np.zeros(N, dtype=bool))):
            assert np.array_equal(a[-1]["final_obs"][row].numpy(), b[-1]["final_obs"][row])


def test_returned_stacks_are_fresh() -> None:
    wrapped, twin = FrameStackObservation(env(), 3), FrameStackObservation(env(), 3)
    wrapped.reset(seed=SEED)[0].fill_(9), twin.reset(seed=SEED)
    for action in actions()[:10]:
        shown = wrapped.step(action)[0]
        assert torch.equal(shown, twin.step(action)[0])
        shown.fill_(9)


@pytest.mark.parametrize(
    "wrap",
    [
        NormalizeObservation,
        NormalizeReward,
        RecordEpisodeStatistics,
        lambda e: FrameStackObservation(e, 4),
        lambda e: ClipReward(e, -1.0, 1.0),
    ],
)
def test_saved_state_goes_on_exactly(wrap: Any) -> None:
    one, two = wrap(env("same_step")), wrap(env("same_step"))
    one.reset(seed=SEED), two.reset(seed=SEED + 100)
    for action in actions()[:9]:
        one.step(action)
    two.load_state_dict(one.state_dict())
    for action in actions()[9:30]:
        a, b = one.step(action), two.step(action)
        assert all(torch.equal(x, y) for x, y in zip(a[:4], b[:4], strict=True))


def test_saved_state_of_another_wrapper_is_refused() -> None:
    one, two = NormalizeReward(env()), ClipReward(env(), -1.0, 1.0)
    one.reset(seed=0), two.reset(seed=0)
    with pytest.raises(StateError, match="another wrapper"):
        two.load_state_dict(one.state_dict())


def test_running_statistics_of_all_batches_are_those_of_one() -> None:
    data = torch.randn(40, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    rms = RunningMeanStd((3,), torch.device("cpu"), epsilon=1e-12)
    for part in data.split(8):
        rms.update(part, torch.ones(len(part), dtype=torch.bool))
    rms.update(torch.full((4, 3), 1e6, dtype=torch.float64), torch.zeros(4, dtype=torch.bool))
    torch.testing.assert_close(rms.mean, data.mean(0))
    torch.testing.assert_close(rms.var, data.var(0, correction=0))


def test_attributes_of_the_env_are_reachable_through_wrappers() -> None:
    wrapped = ClipReward(NormalizeReward(env()), -1.0, 1.0)
    assert wrapped.device == torch.device("cpu")
    assert wrapped.autoreset_mode == AutoresetMode.NEXT_STEP
    assert wrapped.call("slip") == wrapped.get_attr("slip")
    with pytest.raises(AttributeError):
        _ = wrapped.nothing_of_that_name


def test_numpy_output_is_sent_to_gymnasiums_own() -> None:
    with pytest.raises(UsageError, match=r"gymnasium\.wrappers\.vector\.NormalizeReward"):
        NormalizeReward(env(output="numpy"))


@pytest.mark.parametrize(
    ("wrap", "words"),
    [
        (lambda: NormalizeReward(env(), gamma=1.5), "gamma"),
        (lambda: NormalizeReward(env(), epsilon=0.0), "epsilon"),
        (lambda: NormalizeObservation(env(), epsilon=-1.0), "epsilon"),
        (lambda: ClipReward(env()), "nothing to clip"),
        (lambda: ClipReward(env(), 2.0, 1.0), "crossed"),
        (lambda: FrameStackObservation(env(), 0), "stack_size"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(wrap: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        wrap()
