"""A film file has a frame for each moment, and each frame is the state drawn."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace import frames, images
from simulacrum.twin.state import load_state
from simulacrum.view.video import write_video


@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_each_moment_is_a_frame(sound, frames_of, tmp_path, suffix):
    package, reference, _ = sound

    def load(state):
        return load_state(package.schema, state)

    path = write_video(package.render(), reference, tmp_path / f"walk{suffix}", load=load, fps=5)
    filmed, rate = frames_of(path)
    drawn = [image for _, image in images(package.render(), reference, load=load)]
    assert len(filmed) == len(drawn) == len(list(frames(reference)))
    assert rate == 5
    for one, two in zip(filmed, drawn, strict=True):
        away = [np.abs(one.astype(int) - other.astype(int)).mean() for other in drawn]
        assert away[[np.array_equal(two, other) for other in drawn].index(True)] == min(away) < 4
    assert list(tmp_path.iterdir()) == [path]


def test_odd_sizes_become_even(sound, frames_of, tmp_path):
    odd = SimpleNamespace(rgb=lambda state: np.full((33, 41, 3), 90, np.uint8))
    filmed, _ = frames_of(write_video(odd, sound[1], tmp_path / "odd.mp4"))
    assert filmed.shape[1:] == (34, 42, 3)
    assert np.abs(filmed.astype(int) - 90).max() <= 3


def test_what_cannot_be_filmed_is_said(sound, tmp_path, monkeypatch):
    package, reference, _ = sound
    with pytest.raises(UsageError, match="not the name of a film"):
        write_video(package.render(), reference, tmp_path / "walk.avi3")
    with pytest.raises(UsageError, match="frame rate"):
        write_video(package.render(), reference, tmp_path / "walk.mp4", fps=0)
    with pytest.raises(UsageError, match="cannot draw its states as rgb"):
        write_video(SimpleNamespace(), reference, tmp_path / "walk.mp4")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TraceError, match="cannot"):
        write_video(package.render(), reference, tmp_path / "file" / "walk.mp4")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(UsageError, match="imageio-ffmpeg") as told:
        write_video(package.render(), reference, tmp_path / "walk.mp4")
    assert "simulacrum[video]" in str(told.value.next_step)
