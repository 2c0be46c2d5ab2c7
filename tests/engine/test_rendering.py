"""Frames: a tuple of N, drawn from the state alone."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from kit.tools import MODES, play, vector


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("name", ["counter", "toywalk", "forager"])
def test_images_are_a_tuple_of_arrays(name: str, num_envs: int) -> None:
    env = vector(name, num_envs, render_mode="rgb_array")
    with pytest.raises(gym.error.ResetNeeded):
        env.render()
    env.reset(seed=0)
    play(env, 3)
    frames = env.render()
    assert isinstance(frames, tuple)
    assert len(frames) == num_envs
    for frame in frames:
        assert isinstance(frame, np.ndarray)
        assert (frame.dtype, frame.ndim, frame.shape[2]) == (np.uint8, 3, 3)


def test_each_frame_is_of_its_row() -> None:
    env = vector("counter", 3, render_mode="rgb_array", params={"spread": 1})
    env.reset(seed=0)
    counts = env.dump_states()
    assert [int(frame[0, 0, 0]) for frame in env.render()] == [state["count"] for state in counts]
    env.render()[0][:] = 99
    assert env.dump_states() == counts


@pytest.mark.parametrize("mode", MODES)
def test_texts(mode: str) -> None:
    env = vector("counter", 2, render_mode="ansi", autoreset_mode=mode)
    env.reset(seed=0)
    play(env, 2)
    assert [text.split(",")[0] for text in env.render()] == ["count 2", "count 2"]
    assert env.call("render") == env.render()


def test_without_a_mode_there_is_nothing_to_see() -> None:
    env = vector("counter", 2)
    env.reset(seed=0)
    assert env.render() is None
