"""What follows in acrobot from something else.

Left and right are mirror images on paper only: the cosine of an angle less a quarter of a turn, which stands for its
sine in R5, is not odd, because that quarter is rounded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos, sin
from simulacrum.twin.relations import Derived


def seen(state: Any, ctx: Any) -> Tensor:
    """R14, one number after the other, each function asked on the other side of zero."""
    columns = [
        cos(0.0 - state.theta1), 0.0 - sin(0.0 - state.theta1), cos(0.0 - state.theta2), 0.0 - sin(0.0 - state.theta2),
        state.speed1, state.speed2,
    ]  # fmt: skip
    return torch.cat([value.to(torch.float32)[:, None] for value in columns], dim=1)


RELATIONS = [Derived("observation", seen, why="R14")]
