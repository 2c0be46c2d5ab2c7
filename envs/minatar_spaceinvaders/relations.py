"""What the rules of minatar_spaceinvaders do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

from . import LAST_ROW, LEFT, RIGHT, SIZE

LAST = SIZE - 1


def mirror(state: Any) -> Any:
    """Left and right exchanged."""
    maps = {name: reversed_bits(getattr(state, name)) for name in ("shots", "bombs", "aliens")}
    return state.replace(pos=LAST - state.pos, to_right=~state.to_right, last_action=other(state.last_action), **maps)


def reversed_bits(rows: Tensor) -> Tensor:
    made = torch.zeros_like(rows)
    for x in range(SIZE):
        made = made + rows // 2**x % 2 * 2 ** (LAST - x)
    return made


def other(action: Tensor) -> Tensor:
    """Left for right, and right for left."""
    return torch.where(action == LEFT, RIGHT, torch.where(action == RIGHT, LEFT, action)).to(action.dtype)


def mirrored_observation(seen: Tensor) -> Tensor:
    return seen.flip(2)[..., [0, 1, 3, 2, 4, 5]]


def seen(state: Any, ctx: Any) -> Tensor:
    """R18, one column after the other."""
    made = torch.zeros(len(state.pos), SIZE, SIZE, 6, dtype=torch.int8)
    made[torch.arange(len(state.pos)), LAST_ROW, state.pos.long(), 0] = 1
    for x in range(SIZE):
        for channel, rows in ((1, state.aliens), (4, state.shots), (5, state.bombs)):
            made[:, :, x, channel] = (rows // 2**x % 2).to(torch.int8)
    made[~state.to_right, :, :, 2] = made[~state.to_right, :, :, 1]
    made[state.to_right, :, :, 3] = made[state.to_right, :, :, 1]
    return made


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, action=other, observation=mirrored_observation, reset=False,
        when=lambda state: state.shot_timer > 0,
        why="R4 to R13 know no side, but for R12, where the left of two columns comes first; so does the start",
    ),
    Derived("observation", seen, why="R18"),
]  # fmt: skip
