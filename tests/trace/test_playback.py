"""Playback draws the recorded states, in order, as text and as images."""

from __future__ import annotations

import builtins
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace import frames, images, play, write_gif, write_png


def text(state):
    return f"[energy {state.energy:.1f}] {state.berry_x[0]}"


def rgb(state):
    return np.full((4, 6, 3), 20 * state.berry_x[0], np.uint8)


RENDER = SimpleNamespace(text=text, rgb=rgb)


def test_frames_are_starts_and_steps_in_order(trajectory):
    shown = list(frames(trajectory))
    assert [(frame.episode, frame.t) for frame in shown] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    assert [frame.total for frame in shown] == [0.0, 1.5, 2.0, 1.5, 0.0, 1.5, 2.0]
    assert shown[0].caption == "episode 0  t 0  return 0"
    assert shown[3].caption == "episode 0  t 3  action 2  reward -0.5  return 1.5  terminated"


def test_a_log_gets_one_drawing_after_the_other(trajectory):
    out = io.StringIO()
    pauses = []
    assert play(RENDER, trajectory, console=Console(file=out, width=40), sleep=pauses.append) == 7
    assert out.getvalue().count("[energy") == 7
    assert out.getvalue().index("t 1") < out.getvalue().index("[energy 0.1] 1") < out.getvalue().index("t 2")
    assert "\x1b" not in out.getvalue()
    assert pauses == []


def test_a_terminal_gets_them_at_the_rate_asked_for(trajectory):
    out = io.StringIO()
    pauses = []
    console = Console(file=out, width=40, force_terminal=True)
    assert play(RENDER, trajectory, console=console, fps=4, sleep=pauses.append) == 7
    assert pauses == [0.25] * 7
    assert "\x1b" in out.getvalue()
    with pytest.raises(UsageError, match="frame rate"):
        play(RENDER, trajectory, console=console, fps=0)


def test_load_makes_the_states(trajectory):
    out = io.StringIO()
    play(
        SimpleNamespace(text=lambda state: f"big {state}"),
        trajectory,
        load=lambda s: s["big"],
        console=Console(file=out),
    )
    assert f"big {2**62 + 3}" in out.getvalue()


@pytest.mark.parametrize("render", [None, SimpleNamespace(), SimpleNamespace(text=3)])
def test_a_package_that_cannot_draw(render, trajectory, tmp_path):
    with pytest.raises(UsageError, match="cannot draw its states as text"):
        play(render, trajectory)
    with pytest.raises(UsageError, match="cannot draw its states as rgb"):
        write_gif(render, trajectory, tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "draw",
    [
        lambda state: np.zeros((4, 6, 3)),
        lambda state: np.zeros((4, 6), np.uint8),
        lambda state: np.zeros((4, 6 + state.berry_x[0], 3), np.uint8),
    ],
)
def test_images_must_be_images_of_one_size(draw, trajectory):
    with pytest.raises(TraceError, match="not the next image"):
        list(images(SimpleNamespace(rgb=draw), trajectory))


def test_png_and_gif_hold_the_frames(trajectory, tmp_path):
    from PIL import Image

    paths = write_png(RENDER, trajectory, tmp_path / "png")
    assert [path.name for path in paths[:2]] == ["00000.png", "00001.png"]
    with Image.open(paths[2]) as image:
        assert np.array_equal(np.asarray(image), np.full((4, 6, 3), 40, np.uint8))
    path = write_gif(RENDER, trajectory, tmp_path / "a.gif", fps=10)
    with Image.open(path) as image:
        assert image.n_frames >= 4
        assert image.info["duration"] == 100
    with pytest.raises(UsageError, match="no frames"):
        write_gif(RENDER, replace(trajectory, starts=(), steps=()), tmp_path / "b.gif")
    with pytest.raises(TraceError, match="cannot be written"):
        write_gif(RENDER, trajectory, path / "below.gif")


def test_without_pillow_the_extra_is_named(trajectory, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "PIL":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for write, name in ((write_gif, "a.gif"), (write_png, "png")):
        with pytest.raises(UsageError, match=r"simulacrum\[video\]"):
            write(RENDER, trajectory, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
