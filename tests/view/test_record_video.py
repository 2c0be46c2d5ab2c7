"""Gymnasium's own recorders on both faces of an environment: real files, whose frames are the states drawn."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers import vector as vector_wrappers
from kit import package

from simulacrum.engine.vector import SimulacrumVectorEnv

STEPS = 15  # 16 frames with the reset: of some numbers (13, 15) moviepy drops the last, by a rounded product


def same_picture(filmed: np.ndarray, drawn: np.ndarray, others: list[np.ndarray]) -> None:
    """A film loses colours a little: its frame is nearer to the picture drawn than to any that looks otherwise."""
    assert filmed.shape == drawn.shape

    def away(picture: np.ndarray) -> float:
        return float(np.abs(filmed.astype(np.int32) - picture.astype(np.int32)).mean())

    assert away(drawn) < 6.0
    assert all(away(drawn) < away(other) for other in others if not np.array_equal(other, drawn))


def test_the_reference_is_filmed(tmp_path, frames_of):
    env = gym.make("simulacrum/toywalk-v0", render_mode="rgb_array")
    recorder = RecordVideo(
        env, str(tmp_path / "films"), episode_trigger=lambda episode: episode == 0, disable_logger=True
    )
    recorder.reset(seed=4)
    drawn = [env.render()]
    for t in range(STEPS):
        recorder.step(t % 2)
        drawn.append(env.render())
    recorder.close()
    (path,) = tmp_path.glob("films/*.mp4")
    filmed, rate = frames_of(path)
    assert len(filmed) == len(drawn)
    assert rate == env.metadata["render_fps"]
    for one, two in zip(filmed, drawn, strict=True):
        same_picture(one, two, drawn)


@pytest.mark.parametrize(
    ("output", "form"), [("torch", False), ("numpy", False), pytest.param("torch", "native", marks=pytest.mark.slow)]
)
def test_the_batch_is_filmed_side_by_side(tmp_path, frames_of, output, form):
    env = SimulacrumVectorEnv(package("toywalk"), 3, output=output, compile=form, render_mode="rgb_array")
    recorder = vector_wrappers.RecordVideo(
        env,
        str(tmp_path / "films"),
        episode_trigger=lambda episode: episode == 0,
        video_aspect_ratio=(3, 1),
        disable_logger=True,
    )
    recorder.reset(seed=[4, 5, 6])
    drawn = [env.render()]
    for t in range(STEPS):
        recorder.step(np.full(3, t % 2, dtype=np.int64))
        drawn.append(env.render())
    recorder.close()
    (path,) = tmp_path.glob("films/*.mp4")
    filmed, rate = frames_of(path)
    assert len(filmed) == len(drawn)
    assert rate == env.metadata["render_fps"]
    height, width, _ = drawn[0][0].shape
    for frame, pictures in zip(filmed, drawn, strict=True):
        rows, columns = frame.shape[0] // height, frame.shape[1] // width
        assert rows * columns >= 3
        for number, picture in enumerate(pictures):
            top, left = height * (number // columns), width * (number % columns)
            same_picture(frame[top : top + height, left : left + width], picture, [p for one in drawn for p in one])
