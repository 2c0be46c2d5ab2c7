"""Drawings of one forager state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import BERRIES, SIZE

CELL = 36  # pixels along one cell
MARGIN = 16
GRID_TOP = 64  # the energy bar and the berry count stand above the grid
WIDTH = 2 * MARGIN + SIZE * CELL
HEIGHT = GRID_TOP + SIZE * CELL + MARGIN
FULL_BAR = 1.5  # energy at which the bar is full; more does not show

PAPER, MEADOW, MEADOW_DARK = (247, 244, 235), (190, 214, 160), (179, 205, 148)
TROUGH, ENERGY, EMPTY = (222, 216, 202), (240, 176, 66), (206, 70, 62)
KINDS = ("s", "m", "L")
BERRY = ((226, 84, 108), (150, 70, 168), (54, 82, 172))  # by kind
BERRY_RADIUS = (5.0, 7.0, 9.5)  # by kind
# Where things that share a cell stand: rows and columns of pixels from its middle.
SPOTS = ((0, 0), (-9, -9), (9, 9), (-9, 9), (9, -9), (0, -9), (0, 9))
SHINE = (255, 255, 255)
FUR, FUR_DARK, SNOUT, EYE = (184, 116, 66), (140, 84, 48), (240, 214, 180), (44, 36, 34)

Canvas = NDArray[np.float32]


def text(state: Any) -> str:
    """The grid, north up: `F` the forager, `s` `m` `L` the largest living berry of a cell; and a caption."""
    lines = [" ".join(_mark(state, x, y) for x in range(SIZE)) for y in reversed(range(SIZE))]
    lines.append(f"energy {float(state.energy):.2f}, berries left {sum(state.alive)}")
    return "\n".join(lines)


def _mark(state: Any, x: int, y: int) -> str:
    if (state.x, state.y) == (x, y):
        return "F"
    kinds = [state.berry_kind[k] for k in _living(state) if (state.berry_x[k], state.berry_y[k]) == (x, y)]
    return KINDS[max(kinds)] if kinds else "."


def _living(state: Any) -> list[int]:
    return [k for k in range(BERRIES) if state.alive[k]]


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[368, 320, 3]`, north up."""
    canvas = np.empty((HEIGHT, WIDTH, 3), np.float32)
    canvas[:] = PAPER
    _meadow(canvas)
    _meters(canvas, state)
    seated = {(state.x, state.y): 1}  # places taken in each cell; the forager stands in the middle of its own
    for k in _living(state):
        cell = (state.berry_x[k], state.berry_y[k])
        place = seated.get(cell, 0)
        seated[cell] = place + 1
        _berry(canvas, cell, SPOTS[place], state.berry_kind[k])
    _forager(canvas, (state.x, state.y))
    return np.round(canvas).astype(np.uint8)


def _meadow(canvas: Canvas) -> None:
    for y in range(SIZE):
        for x in range(SIZE):
            top, left = GRID_TOP + (SIZE - 1 - y) * CELL, MARGIN + x * CELL
            canvas[top : top + CELL, left : left + CELL] = MEADOW if (x + y) % 2 else MEADOW_DARK


def _meters(canvas: Canvas, state: Any) -> None:
    """The energy bar, red when little is left, and below it a dot for each berry, pale once it is eaten."""
    full = WIDTH - 2 * MARGIN
    share = min(max(float(state.energy) / FULL_BAR, 0.0), 1.0)
    _bar(canvas, 23, MARGIN, MARGIN + full, 7, TROUGH)
    if share > 0.0:
        _bar(canvas, 23, MARGIN, MARGIN + max(share * full, 14.0), 7, ENERGY if share > 0.2 else EMPTY)
    for k in range(BERRIES):
        kind = state.berry_kind[k]
        _disc(canvas, 46, MARGIN + 10 + 24 * k, BERRY_RADIUS[kind], BERRY[kind] if state.alive[k] else TROUGH)


def _berry(canvas: Canvas, cell: tuple[int, int], spot: tuple[int, int], kind: int) -> None:
    row, column = _middle(cell)
    row, column, radius = row + spot[0], column + spot[1], BERRY_RADIUS[kind]
    _disc(canvas, row, column, radius, BERRY[kind])
    _disc(canvas, row - radius * 0.35, column - radius * 0.35, radius * 0.28, SHINE)


def _forager(canvas: Canvas, cell: tuple[int, int]) -> None:
    """A round animal's face; a berry that lies on its cell peeps out at a corner."""
    row, column = _middle(cell)
    for side in (-8, 8):
        _disc(canvas, row - 9, column + side, 5, FUR_DARK)
    _disc(canvas, row, column, 12.5, FUR)
    _disc(canvas, row + 5, column, 5.5, SNOUT)
    _disc(canvas, row + 3, column, 2, EYE)
    for side in (-5, 5):
        _disc(canvas, row - 3, column + side, 1.8, EYE)


def _middle(cell: tuple[int, int]) -> tuple[float, float]:
    """Row and column of pixels at the middle of a cell."""
    return GRID_TOP + (SIZE - 0.5 - cell[1]) * CELL, MARGIN + (cell[0] + 0.5) * CELL


def _disc(canvas: Canvas, row: float, column: float, radius: float, colour: tuple[int, int, int]) -> None:
    _bar(canvas, row, column - radius, column + radius, radius, colour)


def _bar(
    canvas: Canvas, row: float, left: float, right: float, radius: float, colour: tuple[int, int, int]
) -> None:
    """Paint a level bar with round ends (a disc when it is as long as it is high), smooth at its edge."""
    top, bottom = max(int(row - radius) - 1, 0), int(row + radius) + 2
    first, last = max(int(left) - 1, 0), int(right) + 2
    window = canvas[top:bottom, first:last]
    down = np.arange(top, top + window.shape[0])[:, None] + 0.5 - row
    columns = np.arange(first, first + window.shape[1])[None, :] + 0.5
    along = columns - np.clip(columns, left + radius, right - radius)
    cover = np.clip(radius + 0.5 - np.sqrt(down * down + along * along), 0, 1)[:, :, None]
    window += (cover * (np.array(colour) - window)).astype(np.float32)
