"""cliffwalking, all walkers at once: the rules of spec.md in their order, on tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import COLUMNS, FALL_REWARD, FIRST_THIRD, ROWS, SECOND_THIRD, STEP_REWARD

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
BOTTOM, LAST = ROWS - 1, COLUMNS - 1


class CliffWalking(BatchedEnv):
    """N walkers; `row` and `column` are int32 `[N]`.

    The engine carries out R1 (illegal actions) and R10 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        row = torch.full_like(ctx.params.slippery, BOTTOM, dtype=torch.int32)  # R2: int32 [N] each
        return self.State(row=row, column=torch.zeros_like(row))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        direction = (action.to(torch.int32) + self._turn(ctx)) & 3  # R3, R4, R5: int32 [N]
        row, column = self._moved(state, direction)  # R6
        falls = (row == BOTTOM) & (column > 0) & (column < LAST)  # R7: bool [N]
        column = torch.where(falls, 0, column)
        step_reward = torch.full_like(falls, STEP_REWARD, dtype=torch.float32)  # [N]
        reward = torch.where(falls, FALL_REWARD, step_reward)  # R8
        return Transition(self.State(row=row, column=column), reward, (row == BOTTOM) & (column == LAST))  # R9

    def _turn(self, ctx: Context) -> Tensor:
        """-1, 0 or 1 `[N]`: what a slip adds to the action."""
        u = ctx.draw.uniform("slip")  # R3: float64 [N]
        turn = (u >= FIRST_THIRD).to(torch.int32) + (u >= SECOND_THIRD).to(torch.int32) - 1  # R4
        return torch.where(ctx.params.slippery, turn, 0)

    def _moved(self, state: Any, direction: Tensor) -> tuple[Tensor, Tensor]:
        down = (direction == DOWN).to(torch.int32) - (direction == UP).to(torch.int32)  # [N]
        right = (direction == RIGHT).to(torch.int32) - (direction == LEFT).to(torch.int32)  # [N]
        return (state.row + down).clamp(0, BOTTOM), (state.column + right).clamp(0, LAST)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return (state.row * COLUMNS + state.column).to(torch.int64)  # R11: [N]

    @invariant("nobody stands in the cliff", rule="R12")
    def never_in_the_cliff(self, state: Any, ctx: Context) -> Tensor:
        return (state.row != BOTTOM) | (state.column == 0) | (state.column == LAST)  # bool [N]

    @invariant("an episode begins at the start", rule="R13")
    def begins_at_the_start(self, state: Any, ctx: Context) -> Tensor:
        return (ctx.t > 0) | ((state.row == BOTTOM) & (state.column == 0))  # bool [N]
