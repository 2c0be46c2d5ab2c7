"""What follows in mountaincarcontinuous from something else. No mirror images: the cosine is not odd."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived


def seen(state: Any, ctx: Any) -> Tensor:
    """R13, one number after the other."""
    return torch.cat([value.to(torch.float32)[:, None] for value in (state.position, state.velocity)], dim=1)


RELATIONS = [Derived("observation", seen, why="R13")]
