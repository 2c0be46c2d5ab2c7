"""What the rules of minatar_seaquest do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Dead, Derived, Symmetry

from . import LANES, LEFT, MAX_OXYGEN, RIGHT, SIZE

LAST = SIZE - 1
GAUGES = (7, 8)  # channels that are no places


def mirror(state: Any) -> Any:
    """Left and right exchanged."""
    there = state.diver_y > 0
    return state.replace(
        player_x=LAST - state.player_x,
        faces_right=~state.faces_right,
        shots_left=reversed_digits(state.shots_right, 2),
        shots_right=reversed_digits(state.shots_left, 2),
        to_right=~empty_lanes(state) & ~state.to_right,
        fish=reversed_digits(state.fish, 2),
        subs=reversed_digits(state.subs, 16),
        bombs_left=reversed_digits(state.bombs_right, 2),
        bombs_right=reversed_digits(state.bombs_left, 2),
        diver_x=torch.where(there, LAST - state.diver_x, state.diver_x),
        diver_right=there & ~state.diver_right,
        last_action=other(state.last_action),
    )


def reversed_digits(rows: Tensor, base: int) -> Tensor:
    made = torch.zeros_like(rows)
    for x in range(SIZE):
        made = made + rows // base**x % base * base ** (LAST - x)
    return made


def other(action: Tensor) -> Tensor:
    """Left for right, and right for left."""
    return torch.where(action == LEFT, RIGHT, torch.where(action == RIGHT, LEFT, action)).to(action.dtype)


def mirrored_observation(seen: Tensor) -> Tensor:
    made = seen.flip(2)
    made[..., GAUGES] = seen[..., GAUGES]
    return made


def seen(state: Any, ctx: Any) -> Tensor:
    """R21, one thing after the other."""
    made = torch.zeros(len(state.player_x), SIZE, SIZE + 2, SIZE, dtype=torch.int8)  # a column more at either side

    def put(there: Tensor, row: Tensor, column: Tensor, channel: int) -> None:
        (rows,) = there.nonzero(as_tuple=True)
        made[rows, row[rows].long(), column[rows].long() + 1, channel] = 1

    every = state.player_x >= 0
    put(every, state.player_y, state.player_x, 0)
    put(every, state.player_y, state.player_x + 1 - 2 * state.faces_right.int(), 1)
    for x in range(SIZE):
        column = torch.full_like(state.player_x, x)
        for y in range(LANES + 1):
            put((state.shots_left + state.shots_right)[:, y] // 2**x % 2 == 1, torch.full_like(column, y), column, 2)
        for k in range(LANES):
            row, behind = torch.full_like(column, k + 1), column + 1 - 2 * state.to_right[:, k].int()
            for bombs in (state.bombs_left, state.bombs_right):
                put(bombs[:, k] // 2**x % 2 == 1, row, column, 4)
            fish = (state.fish[:, :, k] // 2**x % 2 == 1).any(dim=-1)
            subs = (state.subs[:, :, k] // 16**x % 16 > 0).any(dim=-1)
            for channel, there in ((5, fish), (6, subs)):
                put(there, row, column, channel)
                put(there, row, behind, 3)
        put(state.oxygen * 10 >= MAX_OXYGEN * (x + 1), torch.full_like(column, LAST), column, 7)
        put((x < LAST) & (state.diver_count + x >= LAST), torch.full_like(column, LAST), column, 8)
    for k in (0, 1):
        there, at = state.diver_y[:, k] > 0, state.diver_x[:, k]
        put(there, state.diver_y[:, k], at, 9)
        put(there, state.diver_y[:, k], at + 1 - 2 * state.diver_right[:, k].int(), 3)
    return made[:, :, 1:-1]


def empty_lanes(state: Any) -> Tensor:
    """bool `[N, 8]`"""
    return (state.fish.sum(dim=1) == 0) & (state.subs.sum(dim=1) == 0)


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, action=other, observation=mirrored_observation, reset=False,
        draws=lambda drawn: {name: ~drawn[name] for name in ("enemy_right", "diver_right")},
        why="R5 to R14 know no side; only the player's start, column 5 of 0 to 9, does",
    ),
    Dead(["to_right"], where=empty_lanes, why="R5, R11, R14 and R21 look at the ways of enemies alone"),
    Dead(["diver_x", "diver_right"], where=lambda state: state.diver_y == 0, why="R10 and R21 look at divers alone"),
    Derived("observation", seen, why="R21"),
]  # fmt: skip
