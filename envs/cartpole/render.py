"""Drawings of one cartpole state, as text and as an image. No rules in here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._drawing.shapes import bar

from . import HALF_LENGTH, X_LIMIT

METRE = 100  # pixels
WIDTH, HEIGHT = 540, 220
GROUND = 170  # row of pixels of the track
CART_HALF, CART_HIGH = 27, 24
CELLS_A_METRE = 10

SKY, GRASS, RAIL, LIMIT = (240, 244, 247), (206, 219, 196), (120, 120, 126), (206, 84, 70)
CART, WHEEL, POLE, PIVOT = (58, 82, 112), (44, 48, 56), (204, 152, 92), (232, 226, 214)


def text(state: Any) -> str:
    """The track between its ends, `#` for the cart, above it which way the pole leans; and a caption below."""
    half = round(X_LIMIT * CELLS_A_METRE)
    place = min(max(round(state.x * CELLS_A_METRE), -half), half) + half
    degrees = math.degrees(state.theta)
    lean = "|" if abs(degrees) < 1.0 else "/" if degrees > 0.0 else "\\"
    track = "-" * place + "#" + "-" * (2 * half - place)
    speed = f"{state.x_dot:+.2f} m/s, {math.degrees(state.theta_dot):+.0f} degrees/s"
    return f"{' ' * (place + 1)}{lean}\n[{track}]\ncart {state.x:+.2f} m, pole {degrees:+.1f} degrees; {speed}"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[220, 540, 3]`."""
    canvas = np.empty((HEIGHT, WIDTH, 3), np.float32)
    canvas[:GROUND] = SKY
    canvas[GROUND:] = GRASS
    canvas[GROUND : GROUND + 3] = RAIL
    for end in (-X_LIMIT, X_LIMIT):
        column = round(_column(end))
        canvas[GROUND - 14 : GROUND + 10, column - 1 : column + 1] = LIMIT
    column, top = _column(state.x), GROUND - 6 - CART_HIGH
    bar(canvas, (top + 8, column - CART_HALF + 8), (top + 8, column + CART_HALF - 8), 8, CART)
    bar(canvas, (top + 15, column - CART_HALF + 8), (top + 15, column + CART_HALF - 8), 8, CART)
    for side in (-15, 15):
        bar(canvas, (GROUND - 6, column + side), (GROUND - 6, column + side), 6, WHEEL)
    length = 2 * HALF_LENGTH * METRE
    tip = (top + 4 - length * math.cos(state.theta), column + length * math.sin(state.theta))
    bar(canvas, (top + 4, column), tip, 4, POLE)
    bar(canvas, (top + 4, column), (top + 4, column), 2.5, PIVOT)
    return np.round(canvas).astype(np.uint8)


def _column(x: float) -> float:
    return WIDTH / 2 + x * METRE
