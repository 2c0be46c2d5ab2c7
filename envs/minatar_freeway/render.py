"""Drawings of one minatar_freeway state, as text and as an image in MinAtar's colours. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import CARS, COLUMN, SIZE

CELL = 32  # pixels along one cell
GAP = 1  # dark pixels around a cell's colour
EMPTY = (0, 0, 0)
# seaborn's palette "cubehelix" with a colour for each channel, as MinAtar shows them.
CHICKEN, CAR = (27, 30, 59), (22, 83, 76)
TRAILS = ((68, 119, 49), (161, 121, 74), (212, 132, 169), (198, 180, 238), (203, 232, 240))  # by speed
MARKS = {EMPTY: ".", CHICKEN: "C", CAR: "#"} | {colour: str(speed + 1) for speed, colour in enumerate(TRAILS)}


def text(state: Any) -> str:
    """The screen: `C` the chicken, `#` cars, behind each a digit that says how slow it is; and a caption."""
    lines = [" ".join(MARKS[colour] for colour in row) for row in _cells(state)]
    wait = f"may move in {state.move_timer} steps" if state.move_timer else "may move"
    return "\n".join([*lines, f"chicken on row {state.pos}, {wait}"])


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
    cells[state.pos][COLUMN] = CHICKEN
    for k in range(CARS):
        x, speed = state.car_x[k], state.car_speed[k]
        cells[k + 1][x] = CAR
        cells[k + 1][(x - (1 if speed > 0 else -1)) % SIZE] = TRAILS[abs(speed) - 1]
    return cells
