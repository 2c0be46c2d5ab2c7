"""Drawings of one pendulum state, as text and as an image. No rules in here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._drawing.shapes import bar

from . import PI, TURN

SIZE = 260  # pixels, both ways
REACH = 100  # pixels of the rod
ROWS, COLUMNS = 9, 19  # cells of the drawing in text

SKY, RING, ROD, TIP, PIVOT = (240, 244, 247), (214, 222, 228), (204, 92, 84), (150, 52, 48), (44, 48, 56)


def text(state: Any) -> str:
    """The rod from its pivot `+`, `o` at its end, and a caption below. As in Gymnasium, angles grow to the left."""
    cells = [[" "] * COLUMNS for _ in range(ROWS)]
    middle, reach = (ROWS // 2, COLUMNS // 2), ROWS // 2
    for part in range(1, reach + 1):
        row, column = _cell(state.theta, part, middle)
        cells[row][column] = "o" if part == reach else "."
    cells[middle[0]][middle[1]] = "+"
    picture = "\n".join("".join(row).rstrip() for row in cells)
    degrees = math.degrees((state.theta + PI) % TURN - PI)
    return f"{picture}\nangle {degrees:+.1f} degrees; {math.degrees(state.theta_dot):+.0f} degrees/s"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[260, 260, 3]`."""
    canvas = np.empty((SIZE, SIZE, 3), np.float32)
    canvas[:] = SKY
    middle = SIZE / 2
    bar(canvas, (middle, middle), (middle, middle), REACH + 14, RING)
    bar(canvas, (middle, middle), (middle, middle), REACH + 11, SKY)
    end = (middle - REACH * math.cos(state.theta), middle - REACH * math.sin(state.theta))
    bar(canvas, (middle, middle), end, 9, ROD)
    bar(canvas, end, end, 6, TIP)
    bar(canvas, (middle, middle), (middle, middle), 4, PIVOT)
    return np.round(canvas).astype(np.uint8)


def _cell(theta: float, part: int, middle: tuple[int, int]) -> tuple[int, int]:
    """The row and column of one part of the rod; a cell is twice as high as wide."""
    return middle[0] - round(part * math.cos(theta)), middle[1] - round(2 * part * math.sin(theta))
