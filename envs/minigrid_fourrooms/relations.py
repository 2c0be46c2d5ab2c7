"""What the rules of minigrid_fourrooms do not notice, and its view worked out another way."""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import look
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

from . import SIZE

LAST, MIDDLE = SIZE - 1, SIZE // 2


def turned(state: Any) -> Any:
    """All of it a quarter to the right."""
    return state.replace(
        gap_top=state.gap_left, gap_right=LAST - state.gap_top,
        gap_bottom=state.gap_right, gap_left=LAST - state.gap_bottom,
        goal_x=LAST - state.goal_y, goal_y=state.goal_x,
        x=LAST - state.y, y=state.x, direction=(state.direction + 1) & 3,
    )  # fmt: skip


def mirrored(state: Any) -> Any:
    """Rows and columns exchanged: right is down, left is up."""
    return state.replace(
        gap_top=state.gap_left, gap_left=state.gap_top, gap_right=state.gap_bottom, gap_bottom=state.gap_right,
        goal_x=state.goal_y, goal_y=state.goal_x, x=state.y, y=state.x, direction=state.direction ^ 1,
    )  # fmt: skip


def other_hand(action: Tensor) -> Tensor:
    """Left turns for right ones."""
    return torch.where(action < 2, 1 - action, action)


def turned_view(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same picture, and the direction as in `turned`."""
    return {"image": seen["image"], "direction": (seen["direction"] + 1) & 3}


def mirrored_view(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    """The columns of the view from right to left, the direction as in `mirrored`."""
    return {"image": seen["image"].flip(1), "direction": seen["direction"] ^ 1}


def drawn_cell_by_cell(state: Any, ctx: Any) -> Tensor:
    """R13 to R18: the grid drawn whole, what lies around the agent cut out, turned, and looked at cell by cell."""
    x, y = look.frame(state, SIZE, SIZE)
    top, left, right, bottom, goal_x, goal_y = look.each(*state[:6])
    inside = (x > 0) & (y > 0) & (x < LAST) & (y < LAST)
    gaps = ((x == MIDDLE) & ((y == top) | (y == bottom))) | ((y == MIDDLE) & ((x == left) | (x == right)))
    cells = look.walled(inside & (((x != MIDDLE) & (y != MIDDLE)) | gaps), state)
    return look.view(look.put(cells, (x == goal_x) & (y == goal_y), 8, 1, 0), state)


RELATIONS = [
    Symmetry(
        "a quarter turn", state=turned, observation=turned_view, reset=False,
        why="R7, R8 and R13 to R18 know directions only from where the agent looks",
    ),
    Symmetry(
        "mirror", state=mirrored, action=other_hand, observation=mirrored_view, reset=False,
        why="R7, R8 and R13 to R18 treat rows as columns, and the left as the right",
    ),
    Symmetry(
        "idle actions", action=lambda action: torch.where(action > 2, 3 + (action - 2) % 4, action), reset=False,
        why="R1: what picks up, drops or toggles does what done does",
    ),
    Derived("observation.image", drawn_cell_by_cell, why="R13 to R18"),
]  # fmt: skip
