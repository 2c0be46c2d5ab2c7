"""Drawings of the mountain car, as text and as an image, for both of its packages, whose flags differ in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._drawing.shapes import Canvas, bar

MIN_POSITION, MAX_POSITION = -1.2, 0.6  # the walls
METRE = 300  # pixels
WIDTH, HEIGHT = 540, 380
GROUND = 20  # pixels under the lowest point of the track
COLUMNS, ROWS = 55, 10  # cells of the drawing in text
CAR_HALF, WHEEL_HALF = 15, 10  # pixels from the middle of the car

SKY, HILL, GRASS, ROCK = (236, 243, 248), (188, 172, 142), (126, 158, 96), (150, 132, 104)
CAR, WINDOW, WHEEL, POLE, FLAG = (196, 74, 62), (222, 234, 240), (44, 48, 56), (70, 74, 82), (238, 178, 44)


def text(state: Any, goal: float) -> str:
    """The track, `P` for the flag, `o` for the car on it; and a caption below."""
    cells = [[" "] * COLUMNS for _ in range(ROWS)]
    for column in range(COLUMNS):
        cells[_row(_place(column))][column] = "."
    flag = _cell(goal)
    cells[_row(goal) - 1][flag] = "P"
    cells[_row(state.position)][_cell(state.position)] = "o"
    picture = "\n".join("".join(row).rstrip() for row in cells)
    return f"{picture}\nposition {state.position:+.3f}, velocity {state.velocity:+.4f}"


def rgb(state: Any, goal: float) -> NDArray[np.uint8]:
    """An image uint8 `[380, 540, 3]`."""
    canvas = np.empty((HEIGHT, WIDTH, 3), np.float32)
    canvas[:] = SKY
    surface = np.array([_line(MIN_POSITION + (column + 0.5) / METRE) for column in range(WIDTH)])
    depth = np.arange(HEIGHT)[:, None] + 0.5 - surface[None, :]  # pixels below the surface
    for colour, from_there in ((GRASS, 0.0), (HILL, 7.0), (ROCK, 60.0)):
        cover = np.clip(depth - from_there + 0.5, 0.0, 1.0)[:, :, None]
        canvas += (cover * (np.array(colour) - canvas)).astype(np.float32)
    row, column = _line(goal), _column(goal)
    bar(canvas, (row, column), (row - 44, column), 1.5, POLE)
    for high in range(12):
        far = column + 22 - 4 * abs(high - 5.5)
        bar(canvas, (row - 44 + high, column), (row - 44 + high, far), 0.6, FLAG)
    _car(canvas, state.position)
    return np.round(canvas).astype(np.uint8)


def _car(canvas: Canvas, position: float) -> None:
    """Body, window and two wheels, turned as the track is."""
    angle = math.atan(0.45 * 3.0 * math.cos(3.0 * position))
    along, up = (-math.sin(angle), math.cos(angle)), (-math.cos(angle), -math.sin(angle))  # rows, columns
    row, column = _line(position), _column(position)

    def at(ahead: float, above: float) -> tuple[float, float]:
        return row + ahead * along[0] + above * up[0], column + ahead * along[1] + above * up[1]

    bar(canvas, at(-CAR_HALF, 11), at(CAR_HALF, 11), 6, CAR)
    bar(canvas, at(-7, 19), at(5, 19), 6, CAR)
    bar(canvas, at(-5, 19), at(4, 19), 3, WINDOW)
    for side in (-WHEEL_HALF, WHEEL_HALF):
        bar(canvas, at(side, 5), at(side, 5), 5, WHEEL)


def _height(position: float) -> float:
    return 0.45 * math.sin(3.0 * position) + 0.55


def _line(position: float) -> float:
    """The row of pixels of the track's surface."""
    return HEIGHT - GROUND - _height(position) * METRE


def _column(position: float) -> float:
    return (position - MIN_POSITION) * METRE


def _place(cell: int) -> float:
    return MIN_POSITION + (MAX_POSITION - MIN_POSITION) * cell / (COLUMNS - 1)


def _cell(position: float) -> int:
    return round((position - MIN_POSITION) / (MAX_POSITION - MIN_POSITION) * (COLUMNS - 1))


def _row(position: float) -> int:
    """The row of text of the track's surface; the top row is kept free for the flag."""
    return ROWS - 1 - round((_height(position) - 0.1) / 0.9 * (ROWS - 2))
