"""What the rules of taxi do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, NoOp

from . import ABOARD

SOUTH, NORTH, EAST, WEST, PICK_UP, DROP_OFF = range(6)
PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))
WALLS = ((0, 1), (1, 1), (3, 0), (3, 2), (4, 0), (4, 2))  # cells with a wall on their east


def stands_on(state: Any, cells: Any) -> Tensor:
    """Whether the taxi is on one of these cells: bool `[N]`."""
    return torch.stack([(state.row == row) & (state.column == column) for row, column in cells]).any(dim=0)


def closed(state: Any, heading: int) -> Tensor:
    """Whether an edge of the town or a wall is in the way: bool `[N]`."""
    if heading in (SOUTH, NORTH):
        return state.row == (4 if heading == SOUTH else 0)
    if heading == EAST:
        return (state.column == 4) | stands_on(state, WALLS)
    return (state.column == 0) | stands_on(state, [(row, column + 1) for row, column in WALLS])


def at_passenger(state: Any) -> Tensor:
    """Whether taxi and passenger are at the same place: bool `[N]`."""
    met = [stands_on(state, [place]) & (state.passenger == k) for k, place in enumerate(PLACES)]
    return torch.stack(met).any(dim=0)


def can_drop(state: Any) -> Tensor:
    return (state.passenger == ABOARD) & stands_on(state, PLACES)


def mask(state: Any, ctx: Any) -> Tensor:
    """R17, from the list of walls."""
    ways = [~closed(state, heading) for heading in (SOUTH, NORTH, EAST, WEST)]
    return torch.stack([*ways, at_passenger(state), can_drop(state)], dim=-1)


def seen(state: Any, ctx: Any) -> Tensor:
    """R16, multiplied out."""
    total = state.row * 100 + state.column * 20 + state.passenger * 4 + state.destination
    return total.to(torch.int64)


RELATIONS = [
    *(NoOp(f"heading {heading} where it is closed", action=heading, reward=-1.0, why="R7",
           when=lambda state, heading=heading: closed(state, heading))
      for heading in (SOUTH, NORTH, EAST, WEST)),
    NoOp("nobody to pick up", action=PICK_UP, when=lambda state: ~at_passenger(state), reward=-10.0, why="R9"),
    NoOp("nobody to drop off", action=DROP_OFF, when=lambda state: ~can_drop(state), reward=-10.0, why="R10"),
    Derived("action_mask", mask, why="R17"),
    Derived("observation", seen, why="R16"),
]  # fmt: skip
