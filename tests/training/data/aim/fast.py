"""aim, all at once: the rules of spec.md in their order, on tensors `[N, 1]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant


class Aim(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        return self.State(target=ctx.draw.uniform("target", -1.0, 1.0)[:, None])  # R2: float32 [N, 1]

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        miss = (action - state.target)[:, 0]
        never = torch.zeros_like(miss, dtype=torch.bool)
        return Transition(state, -(miss * miss), never)  # R3, R4, R5

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return state.target  # R6

    @invariant("the target is in its bounds", rule="R7")
    def bounded(self, state: Any, ctx: Context) -> Tensor:
        return (state.target >= -1.0).all(dim=-1) & (state.target <= 1.0).all(dim=-1)
