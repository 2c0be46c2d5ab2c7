"""What the rules of minigrid_dynamicobstacles do not notice, and its view worked out another way."""

from __future__ import annotations

from typing import Any

from simulacrum_envs._minigrid import look
from torch import Tensor

from simulacrum.twin.relations import Derived

WIDEST = 8  # cells along the largest room


def drawn_cell_by_cell(state: Any, ctx: Any) -> Tensor:
    """R16 to R18: the room drawn whole, what lies around the agent cut out and turned."""
    x, y = look.frame(state, WIDEST, WIDEST)
    (size,) = look.each(state.size)
    cells = look.walled((x > 0) & (y > 0) & (x < size - 1) & (y < size - 1), state)
    cells = look.put(cells, (x == size - 2) & (y == size - 2), 8, 1, 0)
    for k in range(state.ball_x.shape[1]):
        ball_x, ball_y = look.each(state.ball_x[:, k], state.ball_y[:, k])
        cells = look.put(cells, (x == ball_x) & (y == ball_y) & (ball_x > 0), 6, 2, 0)
    return look.view(cells, state, see_through_walls=True)


RELATIONS = [Derived("observation.image", drawn_cell_by_cell, why="R16 to R18")]
