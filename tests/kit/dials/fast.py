"""dials, all at once: the rules of spec.md in their order, on tensors with a leading `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import FIRST, SECOND

EVERYTHING = torch.ones(5, dtype=torch.bool)


class Dials(BatchedEnv):
    """What it shows is its own memory wherever it can be: the engine has to copy it."""

    def reset(self, ctx: Context) -> Any:
        first = ctx.draw.integers("first", FIRST)  # R2: int32 [N]
        second = ctx.draw.integers("second", SECOND)
        return self.State(dials=torch.stack([first, second], dim=-1).to(torch.int64))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        first = (state.dials[:, 0] + action[:, 0]) % FIRST  # R3: int64 [N] each
        second = (state.dials[:, 1] + action[:, 1]) % SECOND
        reward = (first + second).to(torch.float32)  # R4
        done = (first == 0) & (second == 0)  # R5
        return Transition(self.State(dials=torch.stack([first, second], dim=-1)), reward, done)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return state.dials  # R6

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        return {"dials": state.dials}  # R6

    def action_mask(self, state: Any, ctx: Context) -> Tensor:
        return EVERYTHING.expand(state.dials.shape[0], 5)  # R1

    @invariant("the first dial stands at one of its places", rule="R7")
    def on_the_first_dial(self, state: Any, ctx: Context) -> Tensor:
        return state.dials[:, 0] < FIRST
