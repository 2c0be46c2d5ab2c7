"""What the rules of minatar_freeway do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

from . import CARS, COLUMN, DIGITS, SIZE, TOP_SPEED


def mirror(state: Any) -> Any:
    """Left and right exchanged about the chicken's column, around the edge."""
    return state.replace(car_x=(2 * COLUMN - state.car_x) % SIZE, car_speed=0 - state.car_speed)


def mirrored_draws(drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """Each digit 5 away, which is the same speed the other way."""
    if "new_speeds" not in drawn:
        return {}
    shift = sum(((drawn["new_speeds"] // 10**k + TOP_SPEED) % 10) * 10**k for k in range(DIGITS))
    return {"new_speeds": shift.to(drawn["new_speeds"].dtype)}


def mirrored_observation(seen: Tensor) -> Tensor:
    return seen[:, :, [(2 * COLUMN - x) % SIZE for x in range(SIZE)]]


def seen(state: Any, ctx: Any) -> Tensor:
    """R13, one cell after the other that is not empty."""
    made = torch.zeros(len(state.pos), SIZE, SIZE, 2 + TOP_SPEED, dtype=torch.int8)
    each = torch.arange(len(state.pos))
    made[each, state.pos.long(), COLUMN, 0] = 1
    for k in range(CARS):
        x, speed = state.car_x[:, k].long(), state.car_speed[:, k].long()
        made[each, k + 1, x, 1] = 1
        made[each, k + 1, (x - speed.sign()) % SIZE, 1 + speed.abs()] = 1
    return made


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, draws=mirrored_draws, observation=mirrored_observation, reset=False,
        why="R7 to R9 know no side, and the road is a ring; only the start, with all cars in column 0, does",
    ),
    Derived("observation", seen, why="R13"),
]  # fmt: skip
