"""canary, all at once: the rules of spec.md in their order, on tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import GOAL, TOP


class Canary(BatchedEnv):
    """N canaries; `place` is int32 `[N]`. The time limit is the engine's."""

    def reset(self, ctx: Context) -> Any:
        place = ctx.draw.integers("start", 3)  # R2: int32 [N]
        return self.State(place=place)

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        """One step of every row: `action` is int64 `[N]`, the reward float32 `[N]`, the end bool `[N]`."""
        pushed = ctx.draw.bernoulli("push", ctx.params.push)  # R3: bool [N]
        place = (state.place + action.to(torch.int32) + pushed.to(torch.int32)).clamp(max=TOP)  # R4: int32 [N]
        reward = place.to(torch.float32) / 4  # R5: float32 [N]
        end = place >= GOAL  # bool [N]
        return Transition(state.replace(place=place), reward, end)  # R6

    def observe(self, state: Any, ctx: Context) -> Tensor:
        seen = [state.place.to(torch.float32) / 8, ctx.t.to(torch.float32) / 8]  # R7: float32 [N] each
        return torch.stack(seen, dim=-1)  # [N, 2]

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        quiet = torch.zeros_like(state.place, dtype=torch.float32)
        return {"left": TOP - state.place, "song": torch.where(state.place == 3, float("nan"), quiet)}  # R7: [N] each

    def action_mask(self, state: Any, ctx: Context) -> Tensor:
        below = state.place < TOP
        return torch.stack([torch.ones_like(below), below], dim=-1)  # R8: [N, 2]

    @invariant("it is never above the top", rule="R9")
    def not_above(self, state: Any, ctx: Context) -> Tensor:
        return state.place <= TOP  # bool [N]
