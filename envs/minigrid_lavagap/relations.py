"""What the rules of minigrid_lavagap do not notice, and its view worked out another way."""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import look
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

MOST = 7  # cells along the largest room


def at_a_wall(state: Any) -> Tensor:
    last = state.size - 2
    walls = [state.x == last, state.y == last, state.x == 1, state.y == 1]
    held = [(state.direction == number) & wall for number, wall in enumerate(walls)]
    return held[0] | held[1] | held[2] | held[3]


def drawn_cell_by_cell(state: Any, ctx: Any) -> Tensor:
    """R10 to R13: the room drawn whole, what lies around the agent cut out, turned, and looked at cell by cell."""
    x, y = look.frame(state, MOST, MOST)
    size, gap_x, gap_y = look.each(state.size, state.gap_x, state.gap_y)
    inside = (x > 0) & (y > 0) & (x < size - 1) & (y < size - 1)
    cells = look.walled(inside, state)
    cells = look.put(cells, (x == size - 2) & (y == size - 2), 8, 1, 0)
    cells = look.put(cells, inside & (x == gap_x) & (y != gap_y), 9, 0, 0)
    return look.view(cells, state)


RELATIONS = [
    Symmetry(
        "idle actions", action=lambda action: torch.where(action > 2, 3 + (action - 2) % 4, action), reset=False,
        why="R1: what picks up, drops or toggles does what done does",
    ),
    Symmetry(
        "forward at a wall", action=lambda action: torch.where(action == 2, 6, action), when=at_a_wall, reset=False,
        why="R5: it does what done does",
    ),
    Derived("observation.image", drawn_cell_by_cell, why="R10 to R13"),
]  # fmt: skip
