"""What the rules of forager do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Dead, Derived, Symmetry

from . import BERRIES, GAIN_LARGE, GAIN_MEDIUM, GAIN_SMALL, SIZE

LAST = SIZE - 1


def turn_state(state: Any) -> Any:
    """The world turned clockwise by a quarter: what was north is east."""
    return state.replace(x=state.y, y=LAST - state.x, berry_x=state.berry_y, berry_y=LAST - state.berry_x)


def turn_draws(drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """Places are drawn at the start; the gust of a step turns with the world."""
    if "start_x" not in drawn:
        return {}
    return {
        "start_x": drawn["start_y"], "start_y": LAST - drawn["start_x"],
        "berry_x": drawn["berry_y"], "berry_y": LAST - drawn["berry_x"],
    }  # fmt: skip


def turn_observation(seen: Tensor) -> Tensor:
    """R16, R17: the places, and the ways to the berries."""
    own, east, north, worth = seen.split([5, BERRIES, BERRIES, BERRIES], dim=-1)
    y = (LAST - seen[:, 0] * LAST).round() / LAST  # from a place back to the place: LAST - x, then the one division
    return torch.cat([own[:, 1:2], y[:, None], own[:, 2:], north, 0.0 - east, worth], dim=-1)


def eaten(state: Any, ctx: Any) -> Tensor:
    """R18, counted by what is gone."""
    return torch.stack([~one for one in state.alive.unbind(-1)]).sum(dim=0, dtype=torch.int32)


def gain(state: Any, ctx: Any) -> Tensor:
    """R19, by a table of the gains."""
    table = torch.tensor([GAIN_SMALL, GAIN_MEDIUM, GAIN_LARGE], dtype=torch.float32, device=state.energy.device)
    total = torch.zeros_like(state.energy)
    for k in range(BERRIES):
        total = torch.where(state.alive[:, k], total, total + table[state.berry_kind[:, k].long()])
    return total


RELATIONS = [
    Dead(["berry_x", "berry_y"], where=lambda state: ~state.alive, why="R9 and R17 look at living berries alone"),
    Symmetry(
        "a quarter turn", state=turn_state, action=lambda action: (action + 1) % 4, draws=turn_draws,
        observation=turn_observation, why="R7 to R9 know no direction, and the grid of R8 is a square",
    ),
    Derived("info.eaten", eaten, why="R18"),
    Derived("info.gain", gain, why="R19"),
]  # fmt: skip
