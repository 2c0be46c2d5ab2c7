"""Drawings of one walker beside the cliff, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import COLUMNS, ROWS

CELL = 44  # pixels along one cell
MARGIN = 18
SKY, GRASS, GRASS_DARK, BLADE = (236, 242, 238), (158, 196, 118), (146, 186, 106), (118, 160, 84)
ROCK, ROCK_DARK, ABYSS, ABYSS_DEEP = (142, 126, 112), (112, 98, 88), (66, 60, 72), (40, 37, 50)
PATH, POLE, FLAG = (226, 206, 160), (96, 82, 70), (222, 74, 66)
COAT, SKIN, HAT, EYE = (58, 104, 178), (244, 208, 172), (166, 106, 56), (42, 36, 36)

Canvas = NDArray[np.float32]


def text(state: Any) -> str:
    """The cells: `o` the walker, `x` the cliff, `S` the start, `G` the goal, `.` the rest."""
    return "\n".join(" ".join(_mark(state, row, column) for column in range(COLUMNS)) for row in range(ROWS))


def _mark(state: Any, row: int, column: int) -> str:
    if (state.row, state.column) == (row, column):
        return "o"
    if row < ROWS - 1:
        return "."
    return "S" if column == 0 else "G" if column == COLUMNS - 1 else "x"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[212, 564, 3]`."""
    canvas = np.empty((2 * MARGIN + ROWS * CELL, 2 * MARGIN + COLUMNS * CELL, 3), np.float32)
    canvas[:] = SKY
    for row in range(ROWS):
        for column in range(COLUMNS):
            if row == ROWS - 1 and 0 < column < COLUMNS - 1:
                _abyss(canvas, row, column)
            else:
                _meadow(canvas, row, column)
    y, x = _middle(ROWS - 1, 0)
    _disc(canvas, y, x, 15, PATH)
    _flag(canvas, ROWS - 1, COLUMNS - 1)
    _walker(canvas, state.row, state.column)
    return np.round(canvas).astype(np.uint8)


def _meadow(canvas: Canvas, row: int, column: int) -> None:
    top, left = MARGIN + row * CELL, MARGIN + column * CELL
    canvas[top : top + CELL, left : left + CELL] = GRASS if (row + column) % 2 else GRASS_DARK
    for k in range(3):  # tufts, whose places follow from the cell
        spot = (row * 31 + column * 17 + k * 13) % 97
        _disc(canvas, top + 6 + spot % 33, left + 6 + spot * 5 % 33, 1.3, BLADE)


def _abyss(canvas: Canvas, row: int, column: int) -> None:
    """Rock that falls away into the dark."""
    top, left = MARGIN + row * CELL, MARGIN + column * CELL
    depth = np.linspace(0, 1, CELL)[:, None, None]
    canvas[top : top + CELL, left : left + CELL] = np.array(ABYSS) * (1 - depth) + np.array(ABYSS_DEEP) * depth
    for k in range(4):
        height = 7 + (column * 7 + k * 5) % 6
        canvas[top : top + height, left + 11 * k : left + 11 * k + 11] = ROCK if k % 2 else ROCK_DARK


def _flag(canvas: Canvas, row: int, column: int) -> None:
    y, x = _middle(row, column)
    top, left = round(y), round(x)
    canvas[top - 16 : top + 16, left - 9 : left - 6] = POLE
    for k in range(15):
        half = 7 - k * 7 // 15
        canvas[top - 9 - half : top - 8 + half, left - 6 + k] = FLAG
    _disc(canvas, y + 15, x - 7.5, 4, POLE)


def _walker(canvas: Canvas, row: int, column: int) -> None:
    y, x = _middle(row, column)
    for side in (-4, 4):
        _disc(canvas, y + 16, x + side, 3, EYE)
    _disc(canvas, y + 8, x, 8.5, COAT)
    _disc(canvas, y - 4, x, 8, SKIN)
    for side in (-2.8, 2.8):
        _disc(canvas, y - 4, x + side, 1.2, EYE)
    top, left = round(y), round(x)
    canvas[top - 11 : top - 8, left - 11 : left + 11] = HAT
    canvas[top - 16 : top - 10, left - 6 : left + 6] = HAT


def _middle(row: int, column: int) -> tuple[float, float]:
    """Row and column of pixels at the middle of a cell."""
    return MARGIN + (row + 0.5) * CELL, MARGIN + (column + 0.5) * CELL


def _disc(canvas: Canvas, row: float, column: float, radius: float, colour: tuple[int, int, int]) -> None:
    """Paint a disc, smooth at its edge."""
    top, first = max(int(row - radius) - 1, 0), max(int(column - radius) - 1, 0)
    window = canvas[top : int(row + radius) + 2, first : int(column + radius) + 2]
    down = np.arange(top, top + window.shape[0])[:, None] + 0.5 - row
    along = np.arange(first, first + window.shape[1])[None, :] + 0.5 - column
    cover = np.clip(radius + 0.5 - np.sqrt(down * down + along * along), 0, 1)[:, :, None]
    window += (cover * (np.array(colour) - window)).astype(np.float32)
