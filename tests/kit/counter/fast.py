"""counter, all at once: the rules of spec.md in their order, on tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import MARKS


class Counter(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        count = ctx.draw.integers("start", 4) * ctx.params.spread  # R2: int32 [N]
        return self.State(count=count, mark=ctx.draw.integers("mark", MARKS))  # R3

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        count = state.count + 1  # R4
        terminated, truncated = count == ctx.params.goal, count == ctx.params.cut  # R6: bool [N] each
        reward = torch.ones_like(count, dtype=torch.float32)  # R5
        return Transition(state.replace(count=count), reward, terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        mark = state.mark.to(torch.float32) / MARKS
        return torch.stack([state.count.to(torch.float32), mark], dim=-1)  # R7: [N, 2]

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        return {"count": state.count, "success": state.count == ctx.params.goal}  # R7: [N] each

    def action_mask(self, state: Any, ctx: Context) -> Tensor:
        few = state.count < 3
        return torch.stack([torch.ones_like(few), few], dim=-1)  # R9: [N, 2]

    @invariant("the counter is not behind the clock", rule="R8")
    def not_behind(self, state: Any, ctx: Context) -> Tensor:
        return state.count >= ctx.t
