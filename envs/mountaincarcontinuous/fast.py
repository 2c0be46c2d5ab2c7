"""mountaincarcontinuous, all cars at once: the rules of spec.md in their order, on tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    ACTION_COST,
    GOAL_POSITION,
    GOAL_REWARD,
    GRAVITY,
    MAX_POSITION,
    MAX_SPEED,
    MIN_POSITION,
    POWER,
    START_HIGH,
    START_LOW,
    TOP_GAIN,
)


class MountainCarContinuous(BatchedEnv):
    """N cars; `position` and `velocity` are float64 `[N]`, and hold float32 numbers after every step.

    The engine carries out R1 (illegal actions) and R12 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        position = ctx.draw.uniform("start", START_LOW, START_HIGH)  # R2: float64 [N]
        return self.State(position=position, velocity=torch.zeros_like(position))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        first, force = ctx.t == 0, action[:, 0]  # R3: bool [N], float32 [N]
        place, speed = state.position.to(torch.float32), state.velocity.to(torch.float32)  # [N] each
        angle = torch.where(first, 3.0 * state.position, (3.0 * place).to(torch.float64))
        pull = (GRAVITY * cos(angle)).to(torch.float32)  # R4: float32 [N]
        gain = force * POWER - pull  # R5: float32 [N]
        early = self._moved(state.position, state.velocity, gain.to(torch.float64), ctx)
        late = self._moved(place, speed, gain, ctx)
        position = torch.where(first, early[0].to(torch.float32), late[0]).to(torch.float64)  # R9
        velocity = torch.where(first, early[1].to(torch.float32), late[1]).to(torch.float64)
        terminated = torch.where(first, early[2], late[2])
        wide = force.to(torch.float64)
        bonus = torch.where(terminated, GOAL_REWARD, torch.zeros_like(wide))
        reward = (bonus - wide * wide * ACTION_COST).to(torch.float32)  # R11: [N]
        return Transition(self.State(position=position, velocity=velocity), reward, terminated)

    def _moved(self, position: Tensor, velocity: Tensor, gain: Tensor, ctx: Context) -> tuple[Tensor, Tensor, Tensor]:
        """Position, velocity and whether the car is there, in the width of the arguments: `[N]` each."""
        velocity = (velocity + gain).clamp(-MAX_SPEED, MAX_SPEED)  # R6
        position = (position + velocity).clamp(MIN_POSITION, MAX_POSITION)  # R7
        velocity = torch.where((position == MIN_POSITION) & (velocity < 0.0), 0.0, velocity)  # R8
        goal_velocity = ctx.params.goal_velocity.to(velocity.dtype)
        return position, velocity, (position >= GOAL_POSITION) & (velocity >= goal_velocity)  # R10

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return torch.stack([state.position, state.velocity], dim=-1).to(torch.float32)  # R13: [N, 2]

    @invariant("the car does not move into the wall", rule="R14")
    def stopped_by_the_wall(self, state: Any, ctx: Context) -> Tensor:
        return (state.position.to(torch.float32) > MIN_POSITION) | (state.velocity >= 0.0)  # bool [N]

    @invariant("the car is no faster than so many steps make it", rule="R15")
    def gain_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.velocity.abs() <= ctx.t.to(torch.float64) * TOP_GAIN  # bool [N]
