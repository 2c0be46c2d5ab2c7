"""Drawings of one minigrid_lavagap state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._minigrid import tiles

from . import EMPTY, GOAL, LAVA, WALL


def text(state: Any) -> str:
    """The room: `#` a wall, `~` lava, `G` the goal, an arrow for the agent; and a caption."""
    return f"{tiles.text(_cells(state), _agent(state))}\ngap in column {state.gap_x}, row {state.gap_y}"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[32 * size, 32 * size, 3]`, what the agent sees lit up."""
    return tiles.rgb(_cells(state), _agent(state))


def _agent(state: Any) -> tuple[int, int, int]:
    return state.x, state.y, state.direction


def _cells(state: Any) -> list[list[tuple[int, int, int]]]:
    last = state.size - 1
    cells = [
        [WALL if x in (0, last) or y in (0, last) else EMPTY for x in range(state.size)] for y in range(state.size)
    ]
    cells[last - 1][last - 1] = GOAL
    for y in range(1, last):
        if y != state.gap_y:
            cells[y][state.gap_x] = LAVA
    return cells
