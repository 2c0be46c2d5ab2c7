"""minigrid_lavagap, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

There is no grid in here: what stands on a cell follows from its place, the size of the room and the gap.
"""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import sight
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import EMPTY, GOAL, LAVA, STEPS_PER_CELL, TIME_PRICE, UNSEEN, WALL

LEFT, RIGHT, FORWARD = 0, 1, 2


class LavaGap(BatchedEnv):
    """N agents; every field is int32 `[N]`.

    The engine carries out R1 (illegal actions) and R9 (the last time limit).
    """

    def reset(self, ctx: Context) -> Any:
        size = ctx.params.size  # R2: int32 [N]
        one = torch.ones_like(size)
        return self.State(
            size=size,
            gap_x=ctx.draw.integers("gap_x", size - 2, low=2),  # R3
            gap_y=ctx.draw.integers("gap_y", size - 1, low=1),
            x=one, y=one, direction=torch.zeros_like(size),
        )  # fmt: skip

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        turn = (action == RIGHT).to(torch.int32) - (action == LEFT).to(torch.int32)  # R4: int32 [N]
        direction = (state.direction + turn) & 3
        east, south = sight.ahead(state.direction)
        x, y = state.x + east, state.y + south  # the cell ahead, int32 [N] each
        last = state.size - 2
        moves = (action == FORWARD) & (x > 0) & (y > 0) & (x <= last) & (y <= last)  # R5: bool [N]
        at_goal = moves & (x == last) & (y == last)
        in_lava = moves & (x == state.gap_x) & (y != state.gap_y)
        after = state.replace(x=torch.where(moves, x, state.x), y=torch.where(moves, y, state.y), direction=direction)
        taken, time = ctx.t + 1, STEPS_PER_CELL * state.size * state.size  # int32 [N] each
        worth = 1.0 - TIME_PRICE * (taken.to(torch.float64) / time.to(torch.float64))  # R6: float64 [N]
        return Transition(after, torch.where(at_goal, worth, 0.0), at_goal | in_lava, taken >= time)  # R7, R8

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        x, y = sight.places(state.x, state.y, state.direction)  # R10: int32 [N, 7, 7] each
        last, gap_x, gap_y = (part[:, None, None] for part in (state.size - 1, state.gap_x, state.gap_y))
        outside = (x < 0) | (y < 0) | (x > last) | (y > last)  # R11: bool [N, 7, 7]
        wall = (x == 0) | (y == 0) | (x == last) | (y == last)  # R12
        goal = (x == last - 1) & (y == last - 1)
        lava = (x == gap_x) & (y != gap_y)
        seen = torch.where(lava, sight.packed(LAVA), torch.full_like(x, sight.packed(EMPTY)))  # int32 [N, 7, 7]
        seen = torch.where(goal, sight.packed(GOAL), seen)
        seen = torch.where(wall, sight.packed(WALL), seen)
        seen = torch.where(sight.numbers(x) == sight.OWN_CELL, sight.packed(EMPTY), seen)  # R13
        seen = torch.where(outside, sight.packed(UNSEEN), seen)
        return {"image": sight.image(seen), "direction": state.direction.to(torch.int64)}  # R14

    @invariant("the agent is in the room", rule="R15")
    def in_the_room(self, state: Any, ctx: Context) -> Tensor:
        return (state.x <= state.size - 2) & (state.y <= state.size - 2)  # bool [N]

    @invariant("the gap is where it can be", rule="R16")
    def gap_in_place(self, state: Any, ctx: Context) -> Tensor:
        return (state.gap_x <= state.size - 3) & (state.gap_y <= state.size - 2)  # bool [N]

    @invariant("no episode is longer than the room's time", rule="R17")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= STEPS_PER_CELL * state.size * state.size  # bool [N]
