"""Drawings of one minatar_breakout state, as text and as an image in MinAtar's colours. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import PADDLE_ROW, SIZE, TOP_BRICKS

CELL = 32  # pixels along one cell
GAP = 1  # dark pixels around a cell's colour
EMPTY = (0, 0, 0)
# seaborn's palette "cubehelix" with a colour for each channel, as MinAtar shows them.
PADDLE, BALL, TRAIL, BRICK = (22, 61, 78), (84, 121, 47), (208, 126, 147), (193, 202, 243)
MARKS = {EMPTY: ".", PADDLE: "=", BALL: "o", TRAIL: "'", BRICK: "#"}
GOING = ("up and left", "up and right", "down and right", "down and left")


def text(state: Any) -> str:
    """The screen: `#` bricks, `o` the ball, `'` where it was, `=` the paddle; and a caption."""
    lines = [" ".join(MARKS[colour] for colour in row) for row in _cells(state)]
    left = sum(row.bit_count() for row in state.bricks)
    return "\n".join([*lines, f"{left} bricks, the ball goes {GOING[state.ball_dir]}"])


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
    cells[PADDLE_ROW][state.pos] = PADDLE
    cells[state.ball_y][state.ball_x] = BALL
    cells[state.last_y][state.last_x] = TRAIL
    for k, row in enumerate(state.bricks):
        for x in range(SIZE):
            if row >> x & 1:
                cells[TOP_BRICKS + k][x] = BRICK
    return cells
