"""Drawings of one minatar_spaceinvaders state, as text and as an image in MinAtar's colours. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import LAST_ROW, SIZE

CELL = 32  # pixels along one cell
GAP = 1  # dark pixels around a cell's colour
EMPTY = (0, 0, 0)
# seaborn's palette "cubehelix" with a colour for each channel, as MinAtar shows them: that of the plain aliens never
# shows, since each of them is in the channel of its direction as well.
CANNON, TO_LEFT, TO_RIGHT = (26, 36, 65), (105, 123, 48), (200, 123, 124)
SHOT, BOMB = (205, 162, 224), (198, 225, 241)
MARKS = {EMPTY: ".", CANNON: "A", TO_LEFT: "<", TO_RIGHT: ">", SHOT: "|", BOMB: "*"}


def text(state: Any) -> str:
    """The screen: `A` the cannon, `<` `>` aliens, `|` the cannon's bullets, `*` the aliens'; and a caption."""
    lines = [" ".join(MARKS[colour] for colour in row) for row in _cells(state)]
    aliens = sum(row.bit_count() for row in state.aliens)
    return "\n".join(
        [*lines, f"{aliens} aliens, they move in {state.move_timer} steps and shoot in {state.shot_timer}"]
    )


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[320, 320, 3]`."""
    canvas = np.zeros((SIZE * CELL, SIZE * CELL, 3), np.uint8)
    for y, row in enumerate(_cells(state)):
        for x, colour in enumerate(row):
            top, left = y * CELL + GAP, x * CELL + GAP
            canvas[top : top + CELL - 2 * GAP, left : left + CELL - 2 * GAP] = colour
    return canvas


def _cells(state: Any) -> list[list[tuple[int, int, int]]]:
    """The colour of each cell: of channels that share one, the last shows, as in MinAtar."""
    cells = [[EMPTY] * SIZE for _ in range(SIZE)]
    cells[LAST_ROW][state.pos] = CANNON
    marching = TO_RIGHT if state.to_right else TO_LEFT
    for rows, colour in ((state.aliens, marching), (state.shots, SHOT), (state.bombs, BOMB)):
        for y, row in enumerate(rows):
            for x in range(SIZE):
                if row >> x & 1:
                    cells[y][x] = colour
    return cells
