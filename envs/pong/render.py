"""Drawings of one pong state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._drawing.shapes import Canvas, Colour, bar

from . import BALL, HALF_BALL, HEIGHT, PADDLE_HEIGHT, WIDTH

COLUMNS, ROWS = 50, 16  # of the text
SCALE, RIM, EDGE, BANNER = 2, 34, 20, 54  # pixels of the field in one of the image; margins of the image
PADDLE, PIP = 9, 7
IMAGE = (HEIGHT // SCALE + BANNER + EDGE, WIDTH // SCALE + 2 * RIM, 3)
MOST_PIPS = 21

NIGHT, TABLE, LINE = (14, 20, 30), (22, 33, 47), (52, 70, 90)
LEFT, RIGHT, PALE, BODY, SHINE = (236, 110, 90), (84, 204, 196), (40, 52, 68), (246, 240, 222), (255, 255, 255)


def text(state: Any) -> str:
    """The field from above, `|` for paddles, `O` for the ball, `:` for the middle; and a caption below."""
    rows = [[" "] * COLUMNS for _ in range(ROWS)]
    for row in range(0, ROWS, 2):
        rows[row][COLUMNS // 2] = ":"
    column = min(max((state.ball_x + HALF_BALL) * COLUMNS // WIDTH, 0), COLUMNS - 1)
    rows[_row(state.ball_y + HALF_BALL)][column] = "O"
    lines: list[str] = []
    for row, cells in enumerate(rows):
        ends = ["|" if _covers(paddle, row) else " " for paddle in (state.left_y, state.right_y)]
        lines.append(ends[0] + "".join(cells) + ends[1])
    rule = "+" + "-" * COLUMNS + "+"
    speed = f"ball {state.ball_vx:+d} across, {state.ball_vy:+d} up"
    return "\n".join([rule, *lines, rule, f"{state.left_score} : {state.right_score}, {speed}"])


def _row(y: int) -> int:
    return min(max(ROWS - 1 - y * ROWS // HEIGHT, 0), ROWS - 1)


def _covers(paddle: int, row: int) -> bool:
    """Whether the paddle reaches over the middle of a row."""
    middle = (ROWS - row) * HEIGHT // ROWS - HEIGHT // ROWS // 2
    return paddle <= middle < paddle + PADDLE_HEIGHT


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[394, 318, 3]`."""
    canvas = np.empty(IMAGE, np.float32)
    canvas[:] = NIGHT
    bottom, right = BANNER + HEIGHT // SCALE, RIM + WIDTH // SCALE
    canvas[BANNER:bottom, RIM:right] = TABLE
    canvas[BANNER - 2 : BANNER, RIM:right] = canvas[bottom : bottom + 2, RIM:right] = LINE
    middle = RIM + WIDTH // SCALE // 2
    for row in range(BANNER + 5, bottom - 5, 20):
        canvas[row : row + 10, middle - 1 : middle + 1] = LINE
    _pips(canvas, state.left_score, RIM, LEFT)
    _pips(canvas, state.right_score, middle + 7, RIGHT)
    half = PADDLE_HEIGHT / SCALE / 2
    for y, x, colour in ((state.left_y, RIM - PADDLE / 2, LEFT), (state.right_y, right + PADDLE / 2, RIGHT)):
        centre = _height(y) - half
        bar(canvas, (centre - half + 4, x), (centre + half - 4, x), 4.0, colour)
    x, y = RIM + (state.ball_x + HALF_BALL) / SCALE, _height(state.ball_y + HALF_BALL)
    for step in range(4, 0, -1):  # where it comes from
        trail = (y + 6.0 * step * state.ball_vy / SCALE / 3, x - 6.0 * step * state.ball_vx / SCALE / 3)
        bar(canvas, trail, trail, BALL / SCALE / 2 - 1.2 * step, BODY, 0.10)
    bar(canvas, (y, x), (y, x), BALL / SCALE / 2, BODY)
    bar(canvas, (y - 2.5, x - 2.5), (y - 2.5, x - 2.5), 2.0, SHINE, 0.7)
    return np.round(canvas).astype(np.uint8)


def _height(y: float) -> float:
    return BANNER + (HEIGHT - y) / SCALE


def _pips(canvas: Canvas, score: int, column: int, colour: Colour) -> None:
    """A score as small squares, filled ones for points, in three rows."""
    for k in range(MOST_PIPS):
        top, left = 12 + k // PIP * 12, column + k % PIP * 16
        canvas[top : top + 8, left : left + 12] = colour if k < score else PALE
