"""Drawings of one game_2048 state, as text and as an image in the colours of the game. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL, GAP = 72, 8  # pixels along one cell, and between two
FRAME, AROUND = (186, 172, 160), (250, 248, 238)
EMPTY = (204, 193, 178)
COLOURS = [
    EMPTY, (238, 228, 218), (237, 224, 200), (242, 177, 121), (245, 149, 99), (246, 124, 95), (246, 94, 59),
    (237, 207, 114), (237, 204, 97), (237, 200, 80), (237, 197, 63), (237, 194, 46),
]  # fmt: skip
HIGHEST = (60, 58, 50)  # of all tiles above 2048
DARK, LIGHT = (119, 110, 101), (249, 246, 242)
DIGITS = {  # three columns of five rows, a row to a number of three bits
    "0": (7, 5, 5, 5, 7), "1": (2, 6, 2, 2, 7), "2": (7, 1, 7, 4, 7), "3": (7, 1, 7, 1, 7), "4": (5, 5, 7, 1, 1),
    "5": (7, 4, 7, 1, 7), "6": (7, 4, 7, 5, 7), "7": (7, 1, 1, 1, 1), "8": (7, 5, 7, 5, 7), "9": (7, 5, 7, 1, 7),
}  # fmt: skip


def text(state: Any) -> str:
    """The board, a number for each tile; and a caption."""
    shown = [[str(2**cell) if cell else "." for cell in row if cell >= 0] for row in state.board]
    width = max(4, *(len(cell) for row in shown for cell in row))
    lines = [" ".join(cell.rjust(width) for cell in row) for row in shown if row]
    return "\n".join([*lines, f"score {state.score:,}"])


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[328, 328, 3]`."""
    pitch = CELL + GAP
    canvas = np.full((len(state.board) * pitch + GAP, len(state.board) * pitch + GAP, 3), AROUND, np.uint8)
    side = sum(cell >= 0 for cell in state.board[0]) * pitch + GAP
    canvas[:side, :side] = FRAME
    for y, row in enumerate(state.board):
        for x, cell in enumerate(row):
            if cell >= 0:
                top, left = GAP + y * pitch, GAP + x * pitch
                _draw(canvas[top : top + CELL, left : left + CELL], cell)
    return canvas


def _draw(tile: NDArray[np.uint8], cell: int) -> None:
    """A cell of the board, with its number in the middle."""
    tile[:] = COLOURS[cell] if cell < len(COLOURS) else HIGHEST
    if cell == 0:
        return
    number = str(2**cell)
    bits = np.zeros((5, 4 * len(number) - 1), bool)
    for place, digit in enumerate(number):
        for row, columns in enumerate(DIGITS[digit]):
            bits[row, 4 * place : 4 * place + 3] = [columns >> shift & 1 for shift in (2, 1, 0)]
    dot = min(6, (CELL - 8) // bits.shape[1])
    large = bits.repeat(dot, axis=0).repeat(dot, axis=1)
    top, left = ((CELL - side) // 2 for side in large.shape)
    tile[top : top + large.shape[0], left : left + large.shape[1]][large] = DARK if cell < 3 else LIGHT
