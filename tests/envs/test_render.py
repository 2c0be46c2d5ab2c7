"""The drawings: text to the letter, images by what must differ between two states."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from simulacrum.contract.package import load_package
from simulacrum.twin.state import load_state

START = {
    "x": 2,
    "y": 3,
    "energy": 0.75,
    "berry_x": [2, 5, 5, 0, 7, 7],
    "berry_y": [3, 6, 6, 0, 7, 0],
    "berry_kind": [2, 0, 1, 2, 1, 0],
    "alive": [True] * 6,
}


def drawing(name: str) -> ModuleType:
    return load_package(name).module("render")


def walk(position: int) -> Any:
    return load_state(load_package("toywalk").schema, {"position": position})


def forage(**changes: Any) -> Any:
    return load_state(load_package("forager").schema, START | changes)


@pytest.mark.parametrize(
    ("position", "lines"),
    [
        (-5, "|o . . . . . . . . . G|\nposition -5, 10 to the goal"),
        (0, "|. . . . . o . . . . G|\nposition +0, 5 to the goal"),
        (5, "|. . . . . . . . . . X|\nposition +5, 0 to the goal"),
    ],
)
def test_toywalk_text(position: int, lines: str) -> None:
    assert drawing("toywalk").text(walk(position)) == lines


def test_forager_text() -> None:
    assert drawing("forager").text(forage(alive=[True, True, True, True, True, False])) == (
        ". . . . . . . m\n"
        ". . . . . m . .\n"
        ". . . . . . . .\n"
        ". . . . . . . .\n"
        ". . F . . . . .\n"
        ". . . . . . . .\n"
        ". . . . . . . .\n"
        "L . . . . . . .\n"
        "energy 0.75, berries left 5"
    )


def test_toywalk_images() -> None:
    images = [drawing("toywalk").rgb(walk(position)) for position in range(-5, 6)]
    for image in images:
        assert (image.shape, image.dtype) == ((160, 352, 3), np.uint8)
    assert len({image.tobytes() for image in images}) == 11
    # The walker at the left end changes nothing in the right half, and the other way round.
    assert np.array_equal(images[0][:, 192:], images[1][:, 192:])
    assert np.array_equal(images[9][:, :160], images[10][:, :160])


def test_forager_images_show_every_field() -> None:
    rgb = drawing("forager").rgb
    start = rgb(forage())
    assert (start.shape, start.dtype) == ((368, 320, 3), np.uint8)
    assert np.array_equal(start, rgb(forage()))
    changed = [
        forage(x=3),
        forage(y=4),
        forage(energy=0.5),
        forage(berry_x=[2, 5, 5, 1, 7, 7]),
        forage(berry_y=[3, 6, 6, 1, 7, 0]),
        forage(berry_kind=[2, 0, 1, 1, 1, 0]),
        forage(alive=[False, True, True, True, True, True]),  # the one under the forager
    ]
    assert len({rgb(each).tobytes() for each in changed} | {start.tobytes()}) == 8


@pytest.mark.parametrize("energy", [0.0, 2.75])
@pytest.mark.parametrize("cell", [0, 7])
def test_forager_images_at_the_edges(energy: float, cell: int) -> None:
    everything_here = forage(x=cell, y=cell, energy=energy, berry_x=[cell] * 6, berry_y=[cell] * 6)
    image = drawing("forager").rgb(everything_here)
    assert image.shape == (368, 320, 3)
    frame = np.concatenate([part.reshape(-1, 3) for part in (image[-15:], image[:, :15], image[:, -15:])])
    assert (frame == frame[0]).all(), "something is drawn over the margin"


def cart(**changes: float) -> Any:
    values = {"x": 0.0, "x_dot": 0.0, "theta": 0.0, "theta_dot": 0.0} | changes
    return load_state(load_package("cartpole").schema, values)


def test_cartpole_text() -> None:
    text = drawing("cartpole").text
    lines = text(cart(x=2.4, x_dot=-0.5, theta=0.1)).split("\n")
    assert lines[0] == " " * 49 + "/"
    assert lines[1] == "[" + "-" * 48 + "#]"
    assert lines[2] == "cart +2.40 m, pole +5.7 degrees; -0.50 m/s, +0 degrees/s"
    assert text(cart(x=-2.45, theta=-0.3)).split("\n")[:2] == [" \\", "[#" + "-" * 48 + "]"]
    assert text(cart()).split("\n")[0] == " " * 25 + "|"


def test_cartpole_images() -> None:
    rgb = drawing("cartpole").rgb
    states = [cart(), cart(x=1.0), cart(theta=0.2), cart(x=-2.44, theta=-0.26), cart(x=2.44, theta=0.26)]
    images = [rgb(state) for state in states]
    for image in images:
        assert (image.shape, image.dtype) == ((220, 540, 3), np.uint8)
    assert len({image.tobytes() for image in images}) == 5
    # What leans to the left is the mirror of what leans to the right, but for where smooth edges are rounded.
    left, right = images[3].astype(int), images[4][:, ::-1].astype(int)
    assert np.abs(left - right).max() <= 1


def rod(theta: float = 0.0, theta_dot: float = 0.0) -> Any:
    return load_state(load_package("pendulum").schema, {"theta": theta, "theta_dot": theta_dot})


def test_pendulum_text() -> None:
    text = drawing("pendulum").text
    column = " " * 9
    up = [column + "o", *[column + "."] * 3, column + "+", "", "", "", "", "angle +0.0 degrees; +0 degrees/s"]
    assert text(rod()).split("\n") == up
    left = text(rod(theta=np.pi / 2, theta_dot=-1.0)).split("\n")  # a positive angle leans to the left
    assert left[4] == " o . . . +"
    assert left[-1] == "angle +90.0 degrees; -57 degrees/s"
    assert text(rod(theta=-np.pi / 2)).split("\n")[4] == column + "+ . . . o"
    assert text(rod(theta=2 * np.pi + 0.1)).split("\n")[-1] == "angle +5.7 degrees; +0 degrees/s"


def test_pendulum_images() -> None:
    rgb = drawing("pendulum").rgb
    images = [rgb(rod(theta=theta)) for theta in (0.0, 1.0, -1.0, 3.0)]
    for image in images:
        assert (image.shape, image.dtype) == ((260, 260, 3), np.uint8)
    assert len({image.tobytes() for image in images}) == 4
    left, right = images[1].astype(int), images[2][:, ::-1].astype(int)
    assert np.abs(left - right).max() <= 1
    assert (images[3][:110] == images[0][:110]).all(axis=2).mean() < 1.0, "the upright rod is drawn above its pivot"


@pytest.mark.parametrize("name", ["toywalk", "forager", "cartpole", "pendulum"])
def test_drawings_do_not_touch_the_state(name: str) -> None:
    states = {"toywalk": lambda: walk(1), "forager": forage, "cartpole": cart, "pendulum": rod}
    state = states[name]()
    before = repr(state)
    drawing(name).text(state)
    drawing(name).rgb(state)
    assert repr(state) == before
