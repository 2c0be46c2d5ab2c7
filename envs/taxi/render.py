"""Drawings of one taxi in its town, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import ABOARD, OPEN_EAST, SIZE

CELL = 64  # pixels along one cell
MARGIN = 24
NAMES = "RGYB"
PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))
PADS = ((232, 116, 108), (124, 190, 120), (244, 214, 110), (116, 160, 226))
PAVEMENT, ROAD, LINE = (214, 210, 202), (126, 128, 134), (164, 166, 170)
HEDGE, HEDGE_LIGHT = (62, 110, 70), (92, 142, 92)
CAB, CAB_DARK, GLASS, TYRE, LAMP = (250, 200, 48), (216, 160, 24), (176, 216, 232), (44, 44, 50), (255, 250, 220)
SKIN, COAT, HAIR = (244, 208, 172), (140, 86, 160), (92, 62, 44)
WALLS, ROOF, DOOR = (246, 238, 224), (176, 74, 62), (110, 78, 56)

Canvas = NDArray[np.float32]


def text(state: Any) -> str:
    """The town: `T` the taxi (`t` without passenger), `R` `G` `Y` `B` the places, `|` walls; and a caption."""
    lines = ["+---------+"]
    for row in range(SIZE):
        line = "|"
        for column in range(SIZE):
            line += _mark(state, row, column) + (":" if _open(row, column) else "|")
        lines.append(line)
    where = "in the taxi" if state.passenger == ABOARD else f"at {NAMES[state.passenger]}"
    return "\n".join([*lines, "+---------+", f"passenger {where}, to {NAMES[state.destination]}"])


def _mark(state: Any, row: int, column: int) -> str:
    if (state.row, state.column) == (row, column):
        return "T" if state.passenger == ABOARD else "t"
    return NAMES[PLACES.index((row, column))] if (row, column) in PLACES else " "


def _open(row: int, column: int) -> bool:
    """Whether the way to the east is open."""
    return bool(OPEN_EAST >> (row * SIZE + column) & 1)


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[368, 368, 3]`, north up."""
    canvas = np.empty((2 * MARGIN + SIZE * CELL, 2 * MARGIN + SIZE * CELL, 3), np.float32)
    canvas[:] = PAVEMENT
    canvas[MARGIN:-MARGIN, MARGIN:-MARGIN] = ROAD
    _markings(canvas)
    for place, colour in zip(PLACES, PADS, strict=True):
        top, left = MARGIN + place[0] * CELL, MARGIN + place[1] * CELL
        canvas[top + 4 : top + CELL - 4, left + 4 : left + CELL - 4] = colour
    _house(canvas, PLACES[state.destination])
    if state.passenger < ABOARD:
        y, x = _middle(PLACES[state.passenger])
        _person(canvas, y + 16, x + 17)
    _cab(canvas, (state.row, state.column), full=state.passenger == ABOARD)
    for row in range(SIZE):
        for column in range(SIZE - 1):
            if not _open(row, column):
                _hedge(canvas, row, column)
    return np.round(canvas).astype(np.uint8)


def _markings(canvas: Canvas) -> None:
    """Dashes between the cells."""
    for k in range(1, SIZE):
        for dash in range(MARGIN + 6, MARGIN + SIZE * CELL - 8, 16):
            line = MARGIN + k * CELL
            canvas[line - 1 : line + 1, dash : dash + 8] = LINE
            canvas[dash : dash + 8, line - 1 : line + 1] = LINE


def _hedge(canvas: Canvas, row: int, column: int) -> None:
    """A wall on the east of a cell."""
    top, line = MARGIN + row * CELL, MARGIN + (column + 1) * CELL
    for k in range(8):
        _disc(canvas, top + 4 + 8 * k, line, 6.5, HEDGE)
        _disc(canvas, top + 2 + 8 * k, line - 1.5, 3, HEDGE_LIGHT)


def _house(canvas: Canvas, place: tuple[int, int]) -> None:
    """The destination, at the back of its place."""
    y, x = (round(number) for number in _middle(place))
    for k in range(14):
        canvas[y - 27 + k, x - 2 - k * 4 // 3 : x + 2 + k * 4 // 3] = ROOF
    canvas[y - 13 : y + 5, x - 14 : x + 14] = WALLS
    canvas[y - 5 : y + 5, x - 4 : x + 4] = DOOR
    canvas[y - 9 : y - 4, x - 11 : x - 6] = GLASS
    canvas[y - 9 : y - 4, x + 6 : x + 11] = GLASS


def _cab(canvas: Canvas, cell: tuple[int, int], *, full: bool) -> None:
    """A taxi from the side; its lamp is lit while it is free, and a passenger looks out."""
    y, x = (round(number) for number in _middle(cell))
    y += 8
    canvas[y - 2 : y + 9, x - 24 : x + 24] = CAB
    canvas[y - 13 : y - 2, x - 14 : x + 13] = CAB
    canvas[y - 11 : y - 2, x - 12 : x - 1] = GLASS
    canvas[y - 11 : y - 2, x + 1 : x + 11] = GLASS
    canvas[y + 4 : y + 9, x - 24 : x + 24] = CAB_DARK
    for k in range(-22, 22, 6):
        canvas[y + 1 : y + 4, x + k : x + k + 3] = TYRE
    canvas[y - 18 : y - 13, x - 5 : x + 5] = TYRE if full else LAMP
    for side in (-13, 13):
        _disc(canvas, y + 9, x + side, 6, TYRE)
        _disc(canvas, y + 9, x + side, 2.5, LINE)
    if full:
        _disc(canvas, y - 6, x - 6, 4.2, SKIN)
        _disc(canvas, y - 9.5, x - 6, 2.6, HAIR)


def _person(canvas: Canvas, y: float, x: float) -> None:
    _disc(canvas, y + 5, x, 7, COAT)
    _disc(canvas, y - 5, x, 6, SKIN)
    _disc(canvas, y - 9, x, 4.5, HAIR)


def _middle(cell: tuple[int, int]) -> tuple[float, float]:
    """Row and column of pixels at the middle of a cell."""
    return MARGIN + (cell[0] + 0.5) * CELL, MARGIN + (cell[1] + 0.5) * CELL


def _disc(canvas: Canvas, row: float, column: float, radius: float, colour: tuple[int, int, int]) -> None:
    """Paint a disc, smooth at its edge."""
    top, first = max(int(row - radius) - 1, 0), max(int(column - radius) - 1, 0)
    window = canvas[top : int(row + radius) + 2, first : int(column + radius) + 2]
    down = np.arange(top, top + window.shape[0])[:, None] + 0.5 - row
    along = np.arange(first, first + window.shape[1])[None, :] + 0.5 - column
    cover = np.clip(radius + 0.5 - np.sqrt(down * down + along * along), 0, 1)[:, :, None]
    window += (cover * (np.array(colour) - window)).astype(np.float32)
