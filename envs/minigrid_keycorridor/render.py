"""Drawings of one minigrid_keycorridor state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._minigrid import tiles

from . import BALL, DOOR, EMPTY, KEY, LEFT_DOOR, LENGTH, RIGHT_DOOR, WALL

DOORS = ("open", "closed", "locked")


def text(state: Any) -> str:
    """The row: `#` wall, `_` `d` `D` a door open, closed, locked, `k` key, `o` ball, an arrow for the agent."""
    held = "key" if state.key_x < 0 else "ball" if state.ball_x < 0 else "nothing"
    return f"{tiles.text(_cells(state), _agent(state))}\nright door {DOORS[state.right_door]}, in the hand: {held}"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[96, 224, 3]`, what the agent sees lit up."""
    return tiles.rgb(_cells(state), _agent(state))


def _agent(state: Any) -> tuple[int, int, int]:
    return state.x, 1, state.direction


def _cells(state: Any) -> list[list[tuple[int, int, int]]]:
    row = [WALL, *[EMPTY] * LENGTH, WALL]
    row[LEFT_DOOR] = (DOOR, state.left_colour, state.left_door)
    row[RIGHT_DOOR] = (DOOR, state.right_colour, state.right_door)
    if state.key_x >= 0:
        row[state.key_x] = (KEY, state.right_colour, 0)
    if state.ball_x >= 0:
        row[state.ball_x] = (BALL, state.ball_colour, 0)
    return [[WALL] * (LENGTH + 2), row, [WALL] * (LENGTH + 2)]
