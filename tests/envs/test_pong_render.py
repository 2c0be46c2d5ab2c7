"""pong's drawings: text to the letter, images by what must differ between two states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulacrum.contract.package import load_package
from simulacrum.twin.state import load_state

PACKAGE = load_package("pong")
RENDER = PACKAGE.module("render")


def game(**changes: int) -> Any:
    values = {"left_y": 120, "right_y": 400, "ball_x": 308, "ball_y": 380, "ball_vx": 10, "ball_vy": 7}
    values = {**values, "left_score": 3, "right_score": 17, **changes}
    return load_state(PACKAGE.schema, {**values, "shown": list(values.values())})


def test_text() -> None:
    lines = RENDER.text(game()).split("\n")
    assert lines[0] == lines[17] == "+" + "-" * 50 + "+"
    assert lines[7] == " " * 26 + ":" + " " * 6 + "O" + " " * 18
    assert [row for row, line in enumerate(lines[1:17]) if line.endswith("|")] == [4, 5]
    assert [row for row, line in enumerate(lines[1:17]) if line.startswith("|")] == [11, 12]
    assert lines[18] == "3 : 17, ball +10 across, +7 up"


@pytest.mark.parametrize("y", [-13, 0, 608, 621])
@pytest.mark.parametrize("x", [-2, 468])
def test_text_at_the_edges(x: int, y: int) -> None:
    lines = RENDER.text(game(ball_x=x, ball_y=y, left_y=-35, right_y=605)).split("\n")
    assert {len(line) for line in lines[:18]} == {52}
    assert sum(line.count("O") for line in lines) == 1


def test_images_show_every_field() -> None:
    start = RENDER.rgb(game())
    assert (start.shape, start.dtype) == ((394, 318, 3), np.uint8)
    changes: list[dict[str, int]] = [
        {"left_y": 121}, {"right_y": 401}, {"ball_x": 318}, {"ball_y": 381}, {"ball_vx": -10}, {"ball_vy": 6},
        {"left_score": 4}, {"right_score": 16},
    ]  # fmt: skip
    images = {RENDER.rgb(game(**each)).tobytes() for each in changes}
    assert len(images | {start.tobytes()}) == 9
    assert np.array_equal(start, RENDER.rgb(game()))


def test_upside_down_the_field_is_its_mirror_image() -> None:
    up = RENDER.rgb(game())[54:374].astype(int)
    down = RENDER.rgb(game(left_y=570 - 120, right_y=570 - 400, ball_y=608 - 380, ball_vy=-7))[54:374].astype(int)
    # But for the light on the ball and the ends of the dashes in the middle.
    differ = np.abs(up - down[::-1]).max(axis=2) > 1
    assert differ[:, :157].sum() + differ[:, 162:].sum() < 60
    assert (np.abs(up - down).max(axis=2) > 1).sum() > 1000
