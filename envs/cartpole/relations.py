"""What the rules of cartpole do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry


def mirror(state: Any) -> Any:
    """Left and right exchanged."""
    return type(state)(*(0.0 - value for value in state))


def seen(state: Any, ctx: Any) -> Tensor:
    """R12, one number after the other."""
    columns = [value.to(torch.float32)[:, None] for value in (state.x, state.x_dot, state.theta, state.theta_dot)]
    return torch.cat(columns, dim=1)


RELATIONS = [
    Symmetry(
        "mirror", state=mirror, action=lambda action: 1 - action,
        draws=lambda drawn: {slot: 0.0 - value for slot, value in drawn.items()},
        observation=lambda observation: 0.0 - observation,
        why="R3 to R8 are odd in position, angle, both speeds and force, in floats as well, and R10 looks both ways",
    ),
    Derived("observation", seen, why="R12"),
]  # fmt: skip
