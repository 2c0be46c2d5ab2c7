"""recall, all at once: the rules of spec.md in their order, on tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import CUES, STEPS


class Recall(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        cue = ctx.draw.integers("cue", CUES)  # R2: int32 [N]
        return self.State(cue=cue, age=torch.zeros_like(cue))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        age = state.age + 1  # R3
        over = age == STEPS  # R5: bool [N]
        right = over & (action == state.cue)
        return Transition(state.replace(age=age), right.to(torch.float32), over)  # R4

    def observe(self, state: Any, ctx: Context) -> Tensor:
        shown = [((state.age == 0) & (state.cue == cue)).to(torch.float32) for cue in range(CUES)]
        return torch.stack([*shown, state.age.to(torch.float32) / STEPS], dim=-1)  # R6: [N, 5]

    @invariant("the age is the clock", rule="R7")
    def on_time(self, state: Any, ctx: Context) -> Tensor:
        return state.age == ctx.t
