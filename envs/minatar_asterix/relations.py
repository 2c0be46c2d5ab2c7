"""What the rules of minatar_asterix do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Dead, Derived, Symmetry

from . import DOWN, GOLD, LEFT, RIGHT, SIZE, SLOTS, UP

LAST = SIZE - 1
SIDES = {LEFT: RIGHT, RIGHT: LEFT}
ENDS = {UP: DOWN, DOWN: UP}


def exchanged(action: Tensor, pairs: dict[int, int]) -> Tensor:
    made = action.clone()
    for one, other in pairs.items():
        made[action == one] = other
    return made


def mirror(state: Any) -> Any:
    """Left and right exchanged."""
    there = state.kind != 0
    return state.replace(
        player_x=LAST - state.player_x,
        x=torch.where(there, LAST - state.x, state.x),
        to_right=there & ~state.to_right,
        last_action=exchanged(state.last_action, SIDES),
    )


def overturn(state: Any) -> Any:
    """Up and down exchanged."""
    return state.replace(
        player_y=SLOTS + 1 - state.player_y,
        **{name: getattr(state, name).flip(-1) for name in ("kind", "x", "to_right")},
        last_action=exchanged(state.last_action, ENDS),
    )


def seen(state: Any, ctx: Any) -> Tensor:
    """R15, one cell after the other that is not empty."""
    made = torch.zeros(len(state.kind), SIZE, SIZE + 2, 4, dtype=torch.int8)  # a column more at either side
    each = torch.arange(len(state.kind))
    made[each, state.player_y.long(), state.player_x.long() + 1, 0] = 1
    for k in range(SLOTS):
        (rows,) = (state.kind[:, k] != 0).nonzero(as_tuple=True)
        x = state.x[rows, k].long() + 1
        made[rows, k + 1, x, torch.where(state.kind[rows, k] == GOLD, 3, 1)] = 1
        made[rows, k + 1, x + 1 - 2 * state.to_right[rows, k].long(), 2] = 1
    return made[:, :, 1:-1]


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, action=lambda action: exchanged(action, SIDES), reset=False,
        draws=lambda drawn: {"to_right": ~drawn["to_right"]}, observation=lambda seen: seen.flip(2),
        why="R5 to R10 know no side; only the player's start, column 5 of 0 to 9, does",
    ),
    Symmetry(
        "up and down", state=overturn, action=lambda action: exchanged(action, ENDS), reset=False,
        observation=lambda seen: seen.flip(1), when=lambda state: state.spawn_timer > 0,
        why="R7 to R10 know no direction; R6 counts empty slots from above",
    ),
    Dead(["x", "to_right"], where=lambda state: state.kind == 0, why="R8 to R10 and R15 look at things alone"),
    Derived("observation", seen, why="R15"),
]  # fmt: skip
