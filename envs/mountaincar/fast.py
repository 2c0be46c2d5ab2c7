"""mountaincar, all cars at once: the rules of spec.md in their order, on float64 tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    FORCE,
    GOAL_POSITION,
    GRAVITY,
    MAX_POSITION,
    MAX_SPEED,
    MIN_POSITION,
    REWARD,
    START_HIGH,
    START_LOW,
    TOP_GAIN,
)


class MountainCar(BatchedEnv):
    """N cars; `position` and `velocity` are float64 `[N]`.

    The engine carries out R1 (illegal actions) and R10 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        position = ctx.draw.uniform("start", START_LOW, START_HIGH)  # R2: float64 [N]
        return self.State(position=position, velocity=torch.zeros_like(position))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        push = (action - 1).to(torch.float64) * FORCE  # R3: float64 [N]
        pull = cos(3.0 * state.position) * (-GRAVITY)  # R4: float64 [N]
        velocity = (state.velocity + (push + pull)).clamp(-MAX_SPEED, MAX_SPEED)  # R5
        position = (state.position + velocity).clamp(MIN_POSITION, MAX_POSITION)  # R6
        blocked = (position == MIN_POSITION) & (velocity < 0.0)  # R7: bool [N]
        velocity = torch.where(blocked, 0.0, velocity)
        reward = torch.full_like(position, REWARD, dtype=torch.float32)  # R8: [N]
        terminated = (position >= GOAL_POSITION) & (velocity >= ctx.params.goal_velocity)  # R9: bool [N]
        return Transition(self.State(position=position, velocity=velocity), reward, terminated)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return torch.stack([state.position, state.velocity], dim=-1).to(torch.float32)  # R11: [N, 2]

    @invariant("the car is no faster than its top speed", rule="R12")
    def speed_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.velocity.abs() <= MAX_SPEED  # bool [N]

    @invariant("the car does not move into the wall", rule="R13")
    def stopped_by_the_wall(self, state: Any, ctx: Context) -> Tensor:
        return (state.position > MIN_POSITION) | (state.velocity >= 0.0)  # bool [N]

    @invariant("the car is no faster than so many steps make it", rule="R14")
    def gain_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.velocity.abs() <= ctx.t.to(torch.float64) * TOP_GAIN  # bool [N]
