"""frozenlake, all players at once: the rules of spec.md in their order, on tensors `[N]`.

A map is two masks of 64 bits, so that what lies on a cell is a shift, and nothing is looked up in a table.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

LEFT, DOWN, RIGHT, UP = 0, 1, 2, 3


class FrozenLake(BatchedEnv):
    """N players; `row`, `column`, `rows` and `columns` are int32 `[N]`, the masks int64 `[N]`.

    The engine carries out R1 (illegal actions) and R12 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        params = ctx.params
        row = torch.minimum(params.start_row, params.rows - 1)  # R2, R4: int32 [N] each
        column = torch.minimum(params.start_column, params.columns - 1)
        last = torch.ones_like(params.holes) << (params.rows * params.columns - 1).to(torch.int64)  # int64 [N]
        start = torch.ones_like(last) << (row * params.columns + column).to(torch.int64)  # int64 [N]
        free = ((last - 1) | last) & ~start  # R3: the cells of the lake but for the start
        goals = params.goals & free
        holes = params.holes & free & ~goals
        return self.State(
            row=row, column=column, rows=params.rows, columns=params.columns, holes=holes, goals=goals
        )  # fmt: skip

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        turn = self._turn(ctx)  # R5, R6: int32 [N]
        direction = (action.to(torch.int32) + turn) & 3  # R7: int32 [N]
        ended = self._lies(state.holes | state.goals, state)  # R9: bool [N]
        moved = self._moved(state, direction)  # R8
        after = state.replace(
            row=torch.where(ended, state.row, moved[0]), column=torch.where(ended, state.column, moved[1])
        )
        at_goal, in_hole = self._lies(state.goals, after), self._lies(state.holes, after)  # bool [N] each
        reward = self._reward(ended, at_goal, in_hole, ctx.params)  # R10: float32 [N]
        return Transition(after, reward, at_goal | in_hole)  # R11

    def _turn(self, ctx: Context) -> Tensor:
        """-1, 0 or 1 `[N]`: what a slip adds to the action."""
        u, rate = ctx.draw.uniform("slip"), ctx.params.success_rate  # R5: float64 [N] each
        side = (1.0 - rate) / 2.0  # R6: the sums that NumPy's cumsum makes, in its order
        ahead = side + rate
        total = ahead + side
        straight, right = (u >= side) & (u < ahead), (u >= ahead) & (u < total)
        turn = torch.where(straight, 0, torch.where(right, 1, torch.full_like(ctx.params.rows, -1)))
        return torch.where(ctx.params.slippery, turn, 0)

    def _moved(self, state: Any, direction: Tensor) -> tuple[Tensor, Tensor]:
        down = (direction == DOWN).to(torch.int32) - (direction == UP).to(torch.int32)  # [N]
        right = (direction == RIGHT).to(torch.int32) - (direction == LEFT).to(torch.int32)  # [N]
        row = torch.minimum((state.row + down).clamp(min=0), state.rows - 1)
        column = torch.minimum((state.column + right).clamp(min=0), state.columns - 1)
        return row, column

    def _lies(self, mask: Tensor, state: Any) -> Tensor:
        """Whether the bit of the player's cell is set: bool `[N]`."""
        return ((mask >> self._cell(state)) & 1) == 1

    def _cell(self, state: Any) -> Tensor:
        return (state.row * state.columns + state.column).to(torch.int64)  # [N]

    def _reward(self, ended: Tensor, at_goal: Tensor, in_hole: Tensor, params: Any) -> Tensor:
        there = torch.where(in_hole, params.hole_reward, params.frozen_reward)
        return torch.where(ended, 0.0, torch.where(at_goal, params.goal_reward, there))

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return self._cell(state)  # R13: int64 [N]

    @invariant("the player is on the lake", rule="R14")
    def on_the_lake(self, state: Any, ctx: Context) -> Tensor:
        return (state.row < state.rows) & (state.column < state.columns)  # bool [N]

    @invariant("no cell is both a hole and a goal", rule="R15")
    def one_thing_a_cell(self, state: Any, ctx: Context) -> Tensor:
        return (state.holes & state.goals) == 0  # bool [N]

    @invariant("an episode begins on ice", rule="R16")
    def begins_on_ice(self, state: Any, ctx: Context) -> Tensor:
        return (ctx.t > 0) | ~self._lies(state.holes | state.goals, state)  # bool [N]
