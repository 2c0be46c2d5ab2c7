"""Drawings of one acrobot state, as text and as an image. No rules in here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._drawing.shapes import Place, bar

from . import HEIGHT

SIZE = 300  # pixels, both ways
METRE = 66  # pixels
CELLS_A_METRE = 4  # rows of text; a cell is twice as high as wide

SKY, LINE, LINK, SEAM = (240, 244, 247), (206, 84, 70), (64, 150, 156), (40, 104, 112)
JOINT, TIP = (226, 190, 74), (44, 48, 56)


def joints(state: Any) -> tuple[Place, Place]:
    """The joint between the links and the free end: metres to the right of the fixed joint, and below it."""
    right, down = math.sin(state.theta1), math.cos(state.theta1)
    both = state.theta1 + state.theta2
    return (right, down), (right + math.sin(both), down + math.cos(both))


def text(state: Any) -> str:
    """The line to get above, the links from the fixed joint `+` to the end `o`, and a caption below."""
    half, wide = 2 * CELLS_A_METRE, 4 * CELLS_A_METRE
    cells = [[" "] * (2 * wide + 1) for _ in range(2 * half + 1)]
    cells[half - round(HEIGHT * CELLS_A_METRE)] = ["-"] * (2 * wide + 1)
    middle, end = joints(state)
    for start, stop in (((0.0, 0.0), middle), (middle, end)):
        for part in range(1, CELLS_A_METRE + 1):
            share = part / CELLS_A_METRE
            right, down = (a + (b - a) * share for a, b in zip(start, stop, strict=True))
            cells[half + round(down * CELLS_A_METRE)][wide + round(2 * right * CELLS_A_METRE)] = "."
    cells[half][wide] = "+"
    cells[half + round(end[1] * CELLS_A_METRE)][wide + round(2 * end[0] * CELLS_A_METRE)] = "o"
    picture = "\n".join("".join(row).rstrip() for row in cells)
    return f"{picture}\nend {-end[1]:+.2f} m high; {state.speed1:+.2f} and {state.speed2:+.2f} rad/s"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[300, 300, 3]`."""
    canvas = np.empty((SIZE, SIZE, 3), np.float32)
    canvas[:] = SKY
    row = round(_pixel((0.0, -HEIGHT))[0])
    for column in range(6, SIZE - 6, 12):
        canvas[row - 1 : row + 1, column : column + 7] = LINE
    fixed, (middle, end) = _pixel((0.0, 0.0)), (_pixel(place) for place in joints(state))
    for start, stop in ((fixed, middle), (middle, end)):
        bar(canvas, start, stop, 8, SEAM)
        bar(canvas, start, stop, 6, LINK)
    for place in (fixed, middle):
        bar(canvas, place, place, 6, JOINT)
    bar(canvas, end, end, 5, TIP)
    return np.round(canvas).astype(np.uint8)


def _pixel(place: Place) -> tuple[float, float]:
    """(row, column) of metres to the right and below."""
    return SIZE / 2 + place[1] * METRE, SIZE / 2 + place[0] * METRE
