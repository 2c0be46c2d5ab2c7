"""What the rules of minatar_breakout do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

from . import BRICK_ROWS, LEFT, PADDLE_ROW, RIGHT, SIZE, TOP_BRICKS

LAST = SIZE - 1


def mirror(state: Any) -> Any:
    """Left and right exchanged."""
    return state.replace(
        ball_x=LAST - state.ball_x,
        ball_dir=torch.tensor([1, 0, 3, 2], dtype=torch.int32)[state.ball_dir.long()],
        last_x=LAST - state.last_x,
        pos=LAST - state.pos,
        bricks=sum(((state.bricks >> x) & 1) << (LAST - x) for x in range(SIZE)),
        last_action=other(state.last_action),
    )


def other(action: Tensor) -> Tensor:
    """Left for right, and right for left."""
    return torch.where(action == LEFT, RIGHT, torch.where(action == RIGHT, LEFT, action)).to(action.dtype)


def seen(state: Any, ctx: Any) -> Tensor:
    """R16, one cell after the other that is not empty."""
    made = torch.zeros(len(state.pos), SIZE, SIZE, 4, dtype=torch.int8)
    each = torch.arange(len(state.pos))
    made[each, PADDLE_ROW, state.pos.long(), 0] = 1
    made[each, state.ball_y.long(), state.ball_x.long(), 1] = 1
    made[each, state.last_y.long(), state.last_x.long(), 2] = 1
    for k in range(BRICK_ROWS):
        for x in range(SIZE):
            made[:, TOP_BRICKS + k, x, 3] = (state.bricks[:, k] // 2**x % 2).to(torch.int8)
    return made


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, action=other, observation=lambda seen: seen.flip(2), reset=False,
        why="R5 to R11 know no side; only the paddle's start, column 4 of 0 to 9, does",
    ),
    Derived("observation", seen, why="R16"),
]  # fmt: skip
