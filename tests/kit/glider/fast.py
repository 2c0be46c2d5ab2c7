"""glider, all at once: the rules of spec.md in their order, on tensors with a leading `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import BURN, EDGE, HALF, WIND


class Glider(BatchedEnv):
    def reset(self, ctx: Context) -> Any:
        position = ctx.draw.uniform("start", -1.0, 1.0)  # R2: float32 [N, 2]
        return self.State(position=position, fuel=torch.ones_like(position[:, 0]))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        wind = ctx.draw.uniform("wind", -WIND, WIND)  # R3: float32 [N]
        x = state.position[:, 0] + action[:, 0] * HALF + wind  # R4
        y = state.position[:, 1] + action[:, 1] * HALF
        x, y = x.clamp(-EDGE, EDGE), y.clamp(-EDGE, EDGE)
        fuel = state.fuel - (action[:, 0].abs() + action[:, 1].abs()) * BURN  # R5
        fuel = torch.where(fuel < 0.0, 0.0, fuel)
        reward = 0.0 - (x.abs() + y.abs())  # R6
        return Transition(self.State(position=torch.stack([x, y], dim=-1), fuel=fuel), reward, fuel == 0.0)  # R7

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        x, y = state.position[:, 0], state.position[:, 1]
        return {  # R8; position and fuel are the state's own memory: the engine has to copy them
            "position": state.position,
            "fuel": state.fuel[:, None],
            "quadrant": 2 * (x > 0.0).to(torch.int64) + (y > 0.0).to(torch.int64),
            "low": (state.fuel < HALF).to(torch.int8)[:, None],
        }

    @invariant("the glider is on the plane", rule="R9")
    def on_the_plane(self, state: Any, ctx: Context) -> Tensor:
        return (state.position.abs() <= EDGE).all(dim=-1)
