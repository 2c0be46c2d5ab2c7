"""What the rules of pendulum do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos, remainder, sin
from simulacrum.twin.relations import Derived, Symmetry

from . import PI, TURN


def mirror(state: Any) -> Any:
    """Clockwise and counterclockwise exchanged."""
    return type(state)(*(0.0 - value for value in state))


def rounded_alike(state: Any) -> Tensor:
    """Where R5 comes to the same size on both sides: half a turn added on one side is taken off on the other."""
    here, there = (remainder(theta + PI, TURN) - PI for theta in (state.theta, 0.0 - state.theta))
    return here.abs() == there.abs()  # bool [N]


def mirrored(observation: Tensor) -> Tensor:
    return observation * torch.tensor([1.0, -1.0, -1.0], dtype=observation.dtype)


def seen(state: Any, ctx: Any) -> Tensor:
    """R9, one number after the other, each function asked on the other side of upright."""
    columns = (cos(0.0 - state.theta), 0.0 - sin(0.0 - state.theta), state.theta_dot)
    return torch.cat([value.to(torch.float32)[:, None] for value in columns], dim=1)


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, action=lambda action: 0.0 - action,
        draws=lambda drawn: {slot: 0.0 - value for slot, value in drawn.items()}, observation=mirrored,
        when=rounded_alike,
        why="R3 and R4 are odd in angle, speed and torque, in floats as well, and R6 looks at squares only",
    ),
    Derived("observation", seen, why="R9"),
]  # fmt: skip
