"""What the rules of minigrid_empty do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry


def mirrored(state: Any) -> Any:
    """Rows and columns exchanged: right is down, left is up."""
    return state.replace(x=state.y, y=state.x, direction=state.direction ^ 1)


def other_hand(action: Tensor) -> Tensor:
    """Left turns for right ones."""
    return torch.where(action < 2, 1 - action, action)


def mirrored_view(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    """The columns of the view from right to left, the direction as in `mirrored`."""
    return {"image": seen["image"].flip(1), "direction": seen["direction"] ^ 1}


def at_a_wall(state: Any) -> Tensor:
    last = state.size - 2
    walls = [state.x == last, state.y == last, state.x == 1, state.y == 1]
    held = [(state.direction == number) & wall for number, wall in enumerate(walls)]
    return held[0] | held[1] | held[2] | held[3]


def drawn_cell_by_cell(state: Any, ctx: Any) -> Tensor:
    """R11 to R13: the room drawn whole, with a wide frame of walls around it, cut out and turned."""
    rows = []
    for size, x, y, direction in zip(*(part.tolist() for part in state), strict=True):
        room = torch.tensor([2, 5, 0], dtype=torch.uint8).repeat(size + 12, size + 12, 1)  # [x, y, 3], from -6 on
        room[7 : size + 5, 7 : size + 5] = torch.tensor([1, 0, 0], dtype=torch.uint8)
        room[size + 4, size + 4] = torch.tensor([8, 1, 0], dtype=torch.uint8)
        room[x + 6, y + 6] = torch.tensor([1, 0, 0], dtype=torch.uint8)
        around = room[x : x + 13, y : y + 13]  # the agent in the middle
        rows.append(torch.rot90(around, direction + 1, (1, 0))[3:10, :7])
    return torch.stack(rows).to(state.x.device)


RELATIONS = [
    Symmetry(
        "mirror", state=mirrored, action=other_hand, observation=mirrored_view, reset=False,
        why="R5, R6 and R11 to R13 treat rows as columns, and the goal is on the diagonal",
    ),
    Symmetry(
        "idle actions", action=lambda action: torch.where(action > 2, 3 + (action - 2) % 4, action), reset=False,
        why="R1: what picks up, drops or toggles does what done does",
    ),
    Symmetry(
        "forward at a wall", action=lambda action: torch.where(action == 2, 6, action), when=at_a_wall, reset=False,
        why="R6: it does what done does",
    ),
    Derived("observation.image", drawn_cell_by_cell, why="R11 to R13"),
]  # fmt: skip
