"""canvas, all pictures at once: the rules of spec.md in their order, on tensors with a leading `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import CELLS, SIDE


class Canvas(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        grey = ctx.draw.integers("grey", 256).to(torch.uint8)  # R2: [N]
        return self.State(pixels=grey[:, None, None, None].expand(-1, SIDE, SIDE, 3))

    def step(self, state: Any, action: dict[str, Tensor], ctx: Context) -> Transition:
        cell, ink = action["cell"], action["ink"]  # int64 [N], uint8 [N, 3]
        chosen = torch.arange(CELLS, device=cell.device) == cell[:, None]  # bool [N, 16]
        chosen = chosen.reshape(-1, SIDE, SIDE, 1)
        pixels = torch.where(chosen, ink[:, None, None, :], state.pixels)  # R3: [N, 4, 4, 3]
        never = torch.zeros_like(cell, dtype=torch.bool)
        return Transition(self.State(pixels=pixels), ink[:, 0].to(torch.float32), never, cell == -1)  # R4, R5

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return state.pixels  # R6

    @invariant("the first pixel is not negative", rule="R7")
    def not_negative(self, state: Any, ctx: Context) -> Tensor:
        return state.pixels[:, 0, 0, 0] >= 0
