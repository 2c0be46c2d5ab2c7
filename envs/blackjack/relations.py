"""What the rules of blackjack do not notice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived

from . import TARGET, TEN


def seen(state: Any, ctx: Any) -> Tensor:
    """R12, in two cases that are told apart by arithmetic."""
    usable = (state.player_ace & (state.player_sum <= TARGET - TEN)).to(torch.int64)
    worth = state.player_sum.to(torch.int64) + TEN * usable
    return torch.stack([worth, state.dealer_card.to(torch.int64), usable], dim=1)


RELATIONS = [Derived("observation", seen, why="R12")]
