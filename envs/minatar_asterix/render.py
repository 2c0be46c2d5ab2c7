"""Drawings of one minatar_asterix state, as text and as an image in MinAtar's colours. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import ENEMY, SIZE, SLOTS

CELL = 32  # pixels along one cell
GAP = 1  # dark pixels around a cell's colour
EMPTY = (0, 0, 0)
# seaborn's palette "cubehelix" with a colour for each channel, as MinAtar shows them.
PLAYER, FOE, TRAIL, TREASURE = (22, 61, 78), (84, 121, 47), (208, 126, 147), (193, 202, 243)
RANK = {EMPTY: 0, PLAYER: 1, FOE: 2, TRAIL: 3, TREASURE: 4}
MARKS = {EMPTY: ".", PLAYER: "P", FOE: "x", TRAIL: "'", TREASURE: "$"}


def text(state: Any) -> str:
    """The screen: `P` the player, `x` enemies, `$` gold, `'` where they come from; and a caption."""
    lines = [" ".join(MARKS[colour] for colour in row) for row in _cells(state)]
    return "\n".join([*lines, f"moves in {state.move_timer} steps, something new in {state.spawn_timer}"])


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
    cells[state.player_y][state.player_x] = PLAYER
    for k in range(SLOTS):
        if state.kind[k]:
            behind = state.x[k] - (1 if state.to_right[k] else -1)
            places = [(state.x[k], FOE if state.kind[k] == ENEMY else TREASURE), (behind, TRAIL)]
            for x, colour in places:
                if 0 <= x < SIZE and RANK[colour] > RANK[cells[k + 1][x]]:
                    cells[k + 1][x] = colour
    return cells
