"""toywalk, all walkers at once: the rules of spec.md in their order, on tensors with a leading `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import GOAL, GOAL_REWARD, LEFT_END, MAX_EPISODE_STEPS, START_HIGH, START_LOW, STEP_REWARD


class ToyWalk(BatchedEnv):
    """N walkers; `position` is int32 `[N]`.

    The engine carries out R1 (illegal actions) and R8 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        position = ctx.draw.integers("start", START_HIGH + 1, low=START_LOW)  # R2: int32 [N]
        return self.State(position=position)

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        slips = ctx.draw.bernoulli("slip", ctx.params.slip)  # R3: bool [N]
        move = self._move(action, slips)  # R4: int32 [N]
        position = (state.position + move).clamp(LEFT_END, GOAL)  # R5: int32 [N]
        at_goal = position == GOAL  # bool [N]
        reward = self._reward(at_goal)  # R6: float32 [N]
        return Transition(self.State(position=position), reward, at_goal)  # R7

    def _move(self, action: Tensor, slips: Tensor) -> Tensor:
        right = (action == 1) ^ slips  # bool [N]: a slip turns left into right and right into left
        return right.to(torch.int32) * 2 - 1

    def _reward(self, at_goal: Tensor) -> Tensor:
        step_reward = torch.full_like(at_goal, STEP_REWARD, dtype=torch.float32)  # [N]
        return torch.where(at_goal, GOAL_REWARD, step_reward)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        where = state.position.to(torch.float32) / GOAL  # R9: float32 [N]
        elapsed = ctx.t.clamp(max=MAX_EPISODE_STEPS).to(torch.float32) / MAX_EPISODE_STEPS  # R9: float32 [N]
        return torch.stack([where, elapsed], dim=-1)  # [N, 2]

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        return {"distance": GOAL - state.position}  # R10: int32 [N]

    @invariant("the walker is on the line", rule="R11")
    def on_the_line(self, state: Any, ctx: Context) -> Tensor:
        return (state.position >= LEFT_END) & (state.position <= GOAL)  # bool [N]

    @invariant("the walker has moved at most one cell a step", rule="R12")
    def within_reach(self, state: Any, ctx: Context) -> Tensor:
        return (state.position >= START_LOW - ctx.t) & (state.position <= START_HIGH + ctx.t)  # bool [N]
