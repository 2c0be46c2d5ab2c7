"""minigrid_empty, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

There is no grid in here: what stands on a cell follows from its place and the size of the room.
"""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import sight
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import EMPTY, GOAL, STEPS_PER_CELL, TIME_PRICE, WALL

LEFT, RIGHT, FORWARD = 0, 1, 2


class Empty(BatchedEnv):
    """N agents in rooms; `size`, `x`, `y` and `direction` are int32 `[N]`.

    The engine carries out R1 (illegal actions) and R10 (the last time limit).
    """

    def reset(self, ctx: Context) -> Any:
        width = ctx.params.size - 2  # int32 [N]
        place = ctx.draw.integers("place", width * width - 1)  # R3: int32 [N]
        facing = ctx.draw.integers("direction", 4)  # R4: int32 [N]
        drawn = ctx.params.random_start == 1  # bool [N]
        return self.State(
            size=ctx.params.size,  # R2
            x=torch.where(drawn, 1 + place % width, 1),
            y=torch.where(drawn, 1 + place // width, 1),
            direction=torch.where(drawn, facing, sight.EAST),
        )

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        turn = (action == RIGHT).to(torch.int32) - (action == LEFT).to(torch.int32)  # R5: int32 [N]
        direction = (state.direction + turn) & 3
        x, y = self._forward(state, action)  # R6
        at_goal = (x == state.size - 2) & (y == state.size - 2)  # bool [N]
        # The agent is never on the goal before a step, but for states that someone puts in.
        moved = (x != state.x) | (y != state.y)
        terminated = at_goal & moved  # R8: bool [N]
        taken, time = ctx.t + 1, STEPS_PER_CELL * state.size * state.size  # int32 [N] each
        worth = 1.0 - TIME_PRICE * (taken.to(torch.float64) / time.to(torch.float64))  # R7: float64 [N]
        reward = torch.where(terminated, worth, 0.0)
        return Transition(state.replace(x=x, y=y, direction=direction), reward, terminated, taken >= time)  # R9

    def _forward(self, state: Any, action: Tensor) -> tuple[Tensor, Tensor]:
        """x and y after the move, int32 `[N]` each."""
        forward = action == FORWARD
        east, south = sight.ahead(state.direction)
        x, y = state.x + east, state.y + south
        free = forward & (x > 0) & (y > 0) & (x < state.size - 1) & (y < state.size - 1)
        return torch.where(free, x, state.x), torch.where(free, y, state.y)

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        x, y = sight.places(state.x, state.y, state.direction)  # R11: int32 [N, 7, 7] each
        last = (state.size - 1)[:, None, None]
        wall = (x <= 0) | (y <= 0) | (x >= last) | (y >= last)  # R12: bool [N, 7, 7]
        goal = (x == last - 1) & (y == last - 1) & (sight.numbers(x) != sight.OWN_CELL)  # R13
        channels = [
            torch.where(wall, WALL[k], torch.where(goal, GOAL[k], torch.full_like(x, EMPTY[k]))) for k in range(3)
        ]
        # A stack as the last operation is stored layer by layer, and so without loops.
        image = torch.stack([channel.to(torch.uint8) for channel in channels], dim=-1)  # [N, 7, 7, 3]
        return {"image": image, "direction": state.direction.to(torch.int64)}  # R14

    @invariant("the agent is in the room", rule="R15")
    def in_the_room(self, state: Any, ctx: Context) -> Tensor:
        return (state.x <= state.size - 2) & (state.y <= state.size - 2)  # bool [N]

    @invariant("no episode is longer than the room's time", rule="R16")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= STEPS_PER_CELL * state.size * state.size  # bool [N]
