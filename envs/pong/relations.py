"""What follows from the state of pong in another way.

Upside down it is the same game where serves are symmetric and the opponent aims with its middle. That holds for some
parameters and not for others, so it is tested in tests/envs/test_pong_rules.py.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived

from . import HEIGHT, PADDLE_HIGH, PADDLE_LOW, SPEED_X, TOP_SPEED, WIDTH

LOW = (PADDLE_LOW, PADDLE_LOW, 0, 0, -SPEED_X, -TOP_SPEED)
SPAN = (PADDLE_HIGH - PADDLE_LOW, PADDLE_HIGH - PADDLE_LOW, WIDTH, HEIGHT, 2 * SPEED_X, 2 * TOP_SPEED)


def seen(state: Any, ctx: Any) -> Tensor:
    """R20 and R21 over all columns at once."""
    places = (state.shown[:, :6] - torch.tensor(LOW)).to(torch.float32) / torch.tensor(SPAN, dtype=torch.float32)
    most = ctx.params.max_score[:, None]
    whole = torch.div(state.shown[:, 6:], most, rounding_mode="floor").to(torch.float32)
    share = state.shown[:, 6:].to(torch.float32) / most.to(torch.float32)
    return torch.cat([places, torch.where(ctx.params.whole_scores[:, None], whole, share)], dim=1)


RELATIONS = [
    Derived("observation", seen, why="R20, R21"),
    Derived("info.lead", lambda state, ctx: 0 - (state.left_score - state.right_score), why="R22"),
]
