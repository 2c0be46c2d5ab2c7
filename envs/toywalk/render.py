"""Drawings of one toywalk state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import GOAL, LEFT_END

CELL = 32  # pixels along one cell
WIDTH = CELL * (GOAL - LEFT_END + 1)
HEIGHT = 160
GROUND = 112  # first row of pixels below the walker's feet

SKY_TOP, SKY_LOW = (226, 238, 247), (250, 247, 238)
GRASS, SOIL, TICK = (122, 168, 104), (176, 148, 116), (139, 112, 84)
WALKER, SHADE, EYE = (222, 110, 75), (96, 134, 82), (52, 44, 48)
POLE, FLAG = (96, 84, 80), (64, 118, 178)

Canvas = NDArray[np.float32]
Colour = tuple[int, int, int]


def text(state: Any) -> str:
    """The walk, `o` for the walker and `G` for the goal (`X` for the walker on it), and a caption below."""
    marks = ["."] * (GOAL - LEFT_END) + ["G"]
    marks[state.position - LEFT_END] = "X" if state.position == GOAL else "o"
    return f"|{' '.join(marks)}|\nposition {state.position:+d}, {GOAL - state.position} to the goal"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[160, 352, 3]`."""
    canvas = _land()
    _goal(canvas)
    _walker(canvas, _middle(state.position))
    return np.round(canvas).astype(np.uint8)


def _middle(position: int) -> int:
    return (position - LEFT_END) * CELL + CELL // 2


def _land() -> Canvas:
    """Sky, grass, soil, and a tick below the middle of each cell (a longer one below position 0)."""
    share = np.clip((np.arange(HEIGHT) + 0.5) / GROUND, 0.0, 1.0)[:, None, None]
    sky = (1.0 - share) * np.array(SKY_TOP) + share * np.array(SKY_LOW)  # [H, 1, 3]
    canvas = np.repeat(sky, WIDTH, axis=1).astype(np.float32)  # [H, W, 3]
    canvas[GROUND:] = SOIL
    canvas[GROUND : GROUND + 8] = GRASS
    for position in range(LEFT_END, GOAL + 1):
        middle, length = _middle(position), 22 if position == 0 else 12
        canvas[GROUND + 14 : GROUND + 14 + length, middle - 1 : middle + 1] = TICK
    return canvas


def _goal(canvas: Canvas) -> None:
    """A flag at the right edge of the last cell, its pennant a triangle that points left."""
    pole = _middle(GOAL) + 8
    canvas[28:GROUND, pole : pole + 3] = POLE
    for row in range(30, 54):
        width = 24 - 2 * abs(row - 42)
        canvas[row, pole - max(width, 1) : pole] = FLAG


def _walker(canvas: Canvas, middle: int) -> None:
    _disc(canvas, GROUND + 3, middle, 11, SHADE, flat=3.0)
    _disc(canvas, GROUND - 12, middle, 12, WALKER)
    for side in (-1, 5):
        _disc(canvas, GROUND - 15, middle + side, 2, EYE)


def _disc(
    canvas: Canvas, row: float, column: float, radius: float, colour: Colour, *, flat: float = 1.0
) -> None:
    """Paint a disc, smooth at its edge; `flat` presses it, to a third of its height for 3."""
    first = max(int(column - radius) - 1, 0)
    window = canvas[int(row - radius) - 1 : int(row + radius) + 2, first : int(column + radius) + 2]
    down = (np.arange(window.shape[0]) + int(row - radius) - 0.5 - row)[:, None] * flat
    right = (np.arange(window.shape[1]) + first + 0.5 - column)[None, :]
    cover = np.clip(radius + 0.5 - np.sqrt(down * down + right * right), 0, 1)[:, :, None]
    window += (cover * (np.array(colour) - window)).astype(np.float32)
