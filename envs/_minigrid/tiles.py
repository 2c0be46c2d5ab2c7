"""Rooms drawn as MiniGrid draws them: grey walls, a red triangle for the agent, what it sees lit up. No rules in here.

A cell is three numbers, as in MiniGrid's observations: object, colour, state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cell = tuple[int, int, int]
Cells = Sequence[Sequence[Cell]]  # cells[y][x]
Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]

EMPTY, WALL, DOOR, KEY, BALL, GOAL, LAVA = 1, 2, 4, 5, 6, 8, 9
OPEN, CLOSED, LOCKED = 0, 1, 2
COLOURS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (112, 39, 195), (255, 255, 0), (100, 100, 100))
TILE, FINE = 32, 3  # pixels along a tile, and points along a pixel
LINE, BLACK, MOLTEN = (100, 100, 100), (0, 0, 0), (255, 128, 0)
AGENT = (255, 0, 0)
LETTERS = {EMPTY: ".", WALL: "#", KEY: "k", BALL: "o", GOAL: "G", LAVA: "~"}
DOORS = "_dD"  # open, closed, locked
ARROWS = ">v<^"
VIEW = 7

_down, _across = ((np.mgrid[: TILE * FINE, : TILE * FINE]) + 0.5) / (TILE * FINE)


def text(cells: Cells, agent: tuple[int, int, int]) -> str:
    """A letter a cell, the agent (x, y, direction) as an arrow."""
    rows = [[DOORS[cell[2]] if cell[0] == DOOR else LETTERS[cell[0]] for cell in row] for row in cells]
    rows[agent[1]][agent[0]] = ARROWS[agent[2]]
    return "\n".join(" ".join(row) for row in rows)


def rgb(cells: Cells, agent: tuple[int, int, int], *, see_through_walls: bool = False) -> Image:
    """An image uint8 `[32 * rows, 32 * columns, 3]`."""
    lit = seen(cells, agent, see_through_walls=see_through_walls)
    rows = [
        np.concatenate(
            [_tile(cell, agent[2] if (x, y) == agent[:2] else None, (x, y) in lit) for x, cell in enumerate(row)],
            axis=1,
        )
        for y, row in enumerate(cells)
    ]
    return np.concatenate(rows, axis=0)


def seen(cells: Cells, agent: tuple[int, int, int], *, see_through_walls: bool = False) -> set[tuple[int, int]]:
    """The places (x, y) that the agent sees, on the cells or off them: sight spreads from it, away and to the sides."""
    x, y, direction = agent
    ahead = ((1, 0), (0, 1), (-1, 0), (0, -1))[direction]

    def place(side: int, far: int) -> tuple[int, int]:
        return x + ahead[0] * far - ahead[1] * side, y + ahead[1] * far + ahead[0] * side

    half = VIEW // 2
    if see_through_walls:
        return {place(side, far) for side in range(-half, half + 1) for far in range(VIEW)}
    lit = {(0, 0)}
    for far in range(VIEW):
        for way in (1, -1):
            for side in range(-half * way, half * way, way):
                column, row = place(side, far)
                inside = 0 <= row < len(cells) and 0 <= column < len(cells[0])
                if (side, far) in lit and inside and _clear(cells[row][column]):
                    lit |= {(side + way, far), (side + way, far + 1), (side, far + 1)}
    return {place(side, far) for side, far in lit if far < VIEW}


def _clear(cell: Cell) -> bool:
    return cell[0] != WALL and (cell[0] != DOOR or cell[2] == OPEN)


@lru_cache(maxsize=1000)
def _tile(cell: Cell, direction: int | None, lit: bool) -> Image:
    canvas = np.zeros((TILE * FINE, TILE * FINE, 3), np.uint8)
    canvas[_box(0, 0.031, 0, 1) | _box(0, 1, 0, 0.031)] = LINE
    if cell[0] in _OBJECTS:
        _OBJECTS[cell[0]](canvas, np.array(COLOURS[cell[1]]), cell[2])
    if direction is not None:
        canvas[np.rot90(_triangle(), -direction)] = AGENT
    if lit:
        canvas = (canvas + 0.30 * (255 - canvas)).astype(np.uint8)
    return canvas.reshape(TILE, FINE, TILE, FINE, 3).mean(axis=3).mean(axis=1).astype(np.uint8)


def _box(left: float, right: float, top: float, bottom: float) -> Mask:
    return (_across >= left) & (_across <= right) & (_down >= top) & (_down <= bottom)


def _disc(x: float, y: float, radius: float) -> Mask:
    return (_across - x) ** 2 + (_down - y) ** 2 <= radius**2


def _triangle() -> Mask:
    """The agent that looks to the right."""
    slope = 0.31 / 0.75  # of its sides
    reach = slope * (0.87 - _across)
    return (_across >= 0.12) & (_down > 0.50 - reach) & (_down < 0.50 + reach)


def _wall_or_goal(canvas: Image, colour: Any, state: int) -> None:
    canvas[:] = colour


def _lava(canvas: Image, colour: Any, state: int) -> None:
    canvas[:] = MOLTEN
    for wave in range(3):
        low, high = 0.3 + 0.2 * wave, 0.4 + 0.2 * wave
        for x, start, end in ((0.1, low, high), (0.3, high, low), (0.5, low, high), (0.7, high, low)):
            canvas[_stroke(x, start, x + 0.2, end, 0.03)] = BLACK


def _stroke(x0: float, y0: float, x1: float, y1: float, radius: float) -> Mask:
    right, down = x1 - x0, y1 - y0
    along = np.clip(((_across - x0) * right + (_down - y0) * down) / (right**2 + down**2), 0, 1)
    return (_across - x0 - along * right) ** 2 + (_down - y0 - along * down) ** 2 <= radius**2


def _door(canvas: Image, colour: Any, state: int) -> None:
    if state == OPEN:
        canvas[_box(0.88, 1, 0, 1)] = colour
        canvas[_box(0.92, 0.96, 0.04, 0.96)] = BLACK
        return
    canvas[:] = colour
    if state == LOCKED:
        canvas[_box(0.06, 0.94, 0.06, 0.94)] = 0.45 * colour
        canvas[_box(0.52, 0.75, 0.50, 0.56)] = colour
        return
    canvas[_box(0.04, 0.96, 0.04, 0.96)] = BLACK
    canvas[_box(0.08, 0.92, 0.08, 0.92)] = colour
    canvas[_box(0.12, 0.88, 0.12, 0.88)] = BLACK
    canvas[_disc(0.75, 0.50, 0.08)] = colour


def _key(canvas: Image, colour: Any, state: int) -> None:
    canvas[_box(0.50, 0.63, 0.31, 0.88)] = colour
    canvas[_box(0.38, 0.50, 0.59, 0.66) | _box(0.38, 0.50, 0.81, 0.88)] = colour
    canvas[_disc(0.56, 0.28, 0.190)] = colour
    canvas[_disc(0.56, 0.28, 0.064)] = BLACK


def _ball(canvas: Image, colour: Any, state: int) -> None:
    canvas[_disc(0.5, 0.5, 0.31)] = colour


_OBJECTS: dict[int, Callable[[Image, Any, int], None]] = {
    WALL: _wall_or_goal, GOAL: _wall_or_goal, LAVA: _lava, DOOR: _door, KEY: _key, BALL: _ball,
}  # fmt: skip
