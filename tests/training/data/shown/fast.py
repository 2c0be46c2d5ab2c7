"""shown, all at once: the rules of spec.md in their order, on tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import BRIGHT, CUES, STEPS


class Shown(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        cue = ctx.draw.integers("cue", CUES)  # R2: int32 [N]
        return self.State(cue=cue, lit=ctx.draw.integers("lit", 2), age=torch.zeros_like(cue))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        age = state.age + 1  # R3
        wanted = torch.where(state.lit == 1, state.cue, CUES - 1 - state.cue)  # R4: int32 [N]
        return Transition(state.replace(age=age), (action == wanted).to(torch.float32), age == STEPS)  # R4, R5

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        bright = (state.lit * BRIGHT).to(torch.uint8)  # R6: [N]
        row = torch.stack([bright, torch.zeros_like(bright)], dim=-1)
        return {"cue": state.cue.to(torch.int64), "picture": torch.stack([row, row], dim=-2)}

    @invariant("the age is the clock", rule="R7")
    def on_time(self, state: Any, ctx: Context) -> Tensor:
        return state.age == ctx.t
