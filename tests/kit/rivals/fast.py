"""rivals, all at once: the rules of spec.md in their order, on tensors with a leading `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import LENGTH


class Rivals(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        first = ctx.draw.integers("first", LENGTH)  # R2: int32 [N]
        second = (first + 1 + ctx.draw.integers("gap", LENGTH - 1)) % LENGTH
        return self.State(places=torch.stack([first, second], dim=-1), prize=ctx.draw.integers("prize", LENGTH))  # R3

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        old = state.places  # [N, 2]
        wanted = (old + action.to(torch.int32) - 1).clamp(0, LENGTH - 1)  # R4
        swap = (wanted == old.flip(-1)).all(dim=-1)  # bool [N]
        blocked = (wanted[:, 0] == wanted[:, 1]) | swap
        places = torch.where(blocked[:, None], old, wanted)  # R5
        first, second = places[:, 0] == state.prize, places[:, 1] == state.prize
        prize = torch.where(first | second, ctx.draw.integers("next", LENGTH), state.prize)  # R6
        reward = first.to(torch.float32) - second.to(torch.float32)  # R7
        never = torch.zeros_like(first)  # R8
        return Transition(self.State(places=places, prize=prize), reward, never)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return torch.cat([state.places, state.prize[:, None]], dim=-1)  # R9: int32 [N, 3]

    @invariant("the walkers stand apart", rule="R10")
    def apart(self, state: Any, ctx: Context) -> Tensor:
        return state.places[:, 0] != state.places[:, 1]
