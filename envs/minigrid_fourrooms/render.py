"""Drawings of one minigrid_fourrooms state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._minigrid import tiles

from . import EMPTY, GOAL, SIZE, WALL

MIDDLE = SIZE // 2


def text(state: Any) -> str:
    """The rooms: `#` a wall, `G` the goal, an arrow for the agent; and a caption."""
    placed = f"agent at {state.x}, {state.y}, goal at {state.goal_x}, {state.goal_y}"
    return f"{tiles.text(_cells(state), _agent(state))}\n{placed}"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[32 * 19, 32 * 19, 3]`, what the agent sees lit up."""
    return tiles.rgb(_cells(state), _agent(state))


def _agent(state: Any) -> tuple[int, int, int]:
    return state.x, state.y, state.direction


def _cells(state: Any) -> list[list[tuple[int, int, int]]]:
    lines = (0, MIDDLE, SIZE - 1)
    cells = [[WALL if x in lines or y in lines else EMPTY for x in range(SIZE)] for y in range(SIZE)]
    for y in (state.gap_top, state.gap_bottom):
        cells[y][MIDDLE] = EMPTY
    for x in (state.gap_left, state.gap_right):
        cells[MIDDLE][x] = EMPTY
    cells[state.goal_y][state.goal_x] = GOAL
    return cells
