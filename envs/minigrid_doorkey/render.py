"""Drawings of one minigrid_doorkey state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._minigrid import tiles

from . import DOOR, EMPTY, GOAL, KEY, WALL

DOORS = ("open", "closed", "locked")


def text(state: Any) -> str:
    """The rooms: `#` wall, `_` `d` `D` the door open, closed, locked, `k` key, `G` goal, an arrow for the agent."""
    key = "in the hand" if state.key_x < 0 else "on the floor"
    return f"{tiles.text(_cells(state), _agent(state))}\ndoor {DOORS[state.door]}, key {key}"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[32 * size, 32 * size, 3]`, what the agent sees lit up."""
    return tiles.rgb(_cells(state), _agent(state))


def _agent(state: Any) -> tuple[int, int, int]:
    return state.x, state.y, state.direction


def _cells(state: Any) -> list[list[tuple[int, int, int]]]:
    last = state.size - 1
    cells = [
        [WALL if x in (0, state.split, last) or y in (0, last) else EMPTY for x in range(state.size)]
        for y in range(state.size)
    ]
    cells[last - 1][last - 1] = GOAL
    cells[state.door_y][state.split] = (DOOR[0], DOOR[1], state.door)
    if state.key_x >= 0:
        cells[state.key_y][state.key_x] = KEY
    return cells
