"""Drawings of one minigrid_dynamicobstacles state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._minigrid import tiles

from . import BALL, EMPTY, GOAL, WALL


def text(state: Any) -> str:
    """The room: `#` a wall, `o` a ball, `G` the goal, an arrow for the agent; and a caption."""
    steps = 2 * (state.size - 2) - state.x - state.y
    return f"{tiles.text(_cells(state), _agent(state))}\n{steps} cells to the goal"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[32 * size, 32 * size, 3]`, what the agent sees lit up."""
    return tiles.rgb(_cells(state), _agent(state), see_through_walls=True)


def _agent(state: Any) -> tuple[int, int, int]:
    return state.x, state.y, state.direction


def _cells(state: Any) -> list[list[tuple[int, int, int]]]:
    last = state.size - 1
    cells = [
        [WALL if x in (0, last) or y in (0, last) else EMPTY for x in range(state.size)] for y in range(state.size)
    ]
    cells[last - 1][last - 1] = GOAL
    for x, y in zip(state.ball_x, state.ball_y, strict=True):
        if x >= 0:
            cells[y][x] = BALL
    return cells
