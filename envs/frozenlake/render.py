"""Drawings of one lake with its player, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL = 48  # pixels along one cell
MARGIN = 20
SNOW, SHORE = (238, 243, 247), (205, 218, 229)
ICE, ICE_LIGHT, CRACK = (190, 222, 238), (214, 236, 247), (160, 200, 222)
WATER, DEEP, RIM = (44, 92, 138), (24, 58, 98), (232, 244, 250)
CHEST, CHEST_DARK, RIBBON = (226, 74, 74), (178, 44, 54), (250, 214, 92)
COAT, HOOD, FACE, EYE = (58, 128, 92), (38, 92, 66), (246, 214, 182), (40, 34, 34)

Canvas = NDArray[np.float32]


def text(state: Any) -> str:
    """The lake: `.` ice, `O` a hole, `G` a goal, the player's cell in brackets; and a caption."""
    lines = []
    for row in range(state.rows):
        cells = [
            (_mark(state, row, column), (row, column) == (state.row, state.column)) for column in range(state.columns)
        ]
        lines.append("".join(f"[{mark}]" if here else f" {mark} " for mark, here in cells).rstrip())
    return "\n".join([*lines, f"cell {state.row * state.columns + state.column}"])


def _mark(state: Any, row: int, column: int) -> str:
    if _bit(state.goals, state, row, column):
        return "G"
    return "O" if _bit(state.holes, state, row, column) else "."


def _bit(mask: int, state: Any, row: int, column: int) -> bool:
    return bool(mask >> (row * state.columns + column) & 1)


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[40 + 48 * rows, 40 + 48 * columns, 3]`."""
    canvas = np.empty((2 * MARGIN + state.rows * CELL, 2 * MARGIN + state.columns * CELL, 3), np.float32)
    canvas[:] = SNOW
    canvas[MARGIN - 4 : 4 - MARGIN, MARGIN - 4 : 4 - MARGIN] = SHORE
    for row in range(state.rows):
        for column in range(state.columns):
            _ice(canvas, row, column)
            if _bit(state.goals, state, row, column):
                _present(canvas, row, column)
            elif _bit(state.holes, state, row, column):
                _hole(canvas, row, column)
    swims = not _bit(state.goals, state, state.row, state.column) and _bit(state.holes, state, state.row, state.column)
    _player(canvas, state.row, state.column, swims=swims)
    return np.round(canvas).astype(np.uint8)


def _ice(canvas: Canvas, row: int, column: int) -> None:
    """A pane of ice with a gloss; its scratches follow from its place."""
    top, left = MARGIN + row * CELL, MARGIN + column * CELL
    pane = canvas[top + 1 : top + CELL - 1, left + 1 : left + CELL - 1]
    slope = np.add.outer(np.arange(CELL - 2), np.arange(CELL - 2)) / (2 * CELL - 6)
    pane[:] = np.array(ICE_LIGHT) * (1 - slope[:, :, None]) + np.array(ICE) * slope[:, :, None]
    middle, side = _middle(row, column)
    turn = (row * 7 + column * 5) % 11 - 5
    for k in range(5):
        _disc(canvas, middle - 9 + 3 * k, side + turn + 2.2 * k, 0.9, CRACK)


def _hole(canvas: Canvas, row: int, column: int) -> None:
    y, x = _middle(row, column)
    _disc(canvas, y, x, 18.5, RIM)
    _disc(canvas, y + 0.5, x, 16.5, WATER)
    _disc(canvas, y + 3, x + 1, 12, DEEP)
    _disc(canvas, y - 7, x - 6, 2.2, RIM)


def _present(canvas: Canvas, row: int, column: int) -> None:
    y, x = _middle(row, column)
    top, left = round(y), round(x)
    canvas[top - 8 : top + 15, left - 15 : left + 15] = CHEST
    canvas[top - 12 : top - 5, left - 17 : left + 17] = CHEST_DARK
    canvas[top - 12 : top + 15, left - 3 : left + 3] = RIBBON
    for turn in (-6, 6):
        _disc(canvas, y - 15, x + turn, 4.5, RIBBON)
        _disc(canvas, y - 15, x + turn, 1.8, CHEST_DARK)


def _player(canvas: Canvas, row: int, column: int, *, swims: bool) -> None:
    """An elf; in a hole only its head is above the water."""
    y, x = _middle(row, column)
    y += 5 if swims else -2
    if not swims:
        _disc(canvas, y + 11, x, 9.5, COAT)
        for side in (-6, 6):
            _disc(canvas, y + 19, x + side, 3.2, EYE)
    _disc(canvas, y - 3, x, 9.5, HOOD)
    _disc(canvas, y - 1, x, 7, FACE)
    for side in (-2.8, 2.8):
        _disc(canvas, y - 1.5, x + side, 1.2, EYE)
    _disc(canvas, y - 13, x + 4, 2.6, RIBBON)


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
