"""minigrid_lavagap, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

There is no grid in here: what stands on a cell follows from its place, the size of the room and the gap.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import EMPTY, GOAL, LAVA, STEPS_PER_CELL, TIME_PRICE, UNSEEN, VIEW, WALL

LEFT, RIGHT, FORWARD = 0, 1, 2
EAST, SOUTH, WEST, NORTH = 0, 1, 2, 3


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
        east, south = self._ahead(state.direction)
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
        x, y = self._seen_places(state)  # R10: int32 [N, 7, 7] each
        last, gap_x, gap_y = (part[:, None, None] for part in (state.size - 1, state.gap_x, state.gap_y))
        outside = (x < 0) | (y < 0) | (x > last) | (y > last)  # R11: bool [N, 7, 7]
        wall = (x == 0) | (y == 0) | (x == last) | (y == last)  # R12
        goal = (x == last - 1) & (y == last - 1)
        lava = (x == gap_x) & (y != gap_y)
        seen = torch.where(lava, _packed(LAVA), torch.full_like(x, _packed(EMPTY)))  # int32 [N, 7, 7]
        seen = torch.where(goal, _packed(GOAL), seen)
        seen = torch.where(wall, _packed(WALL), seen)
        seen = torch.where(self._own_cell(x), _packed(EMPTY), seen)  # R13
        seen = torch.where(outside, _packed(UNSEEN), seen)
        # A stack as the last operation is stored layer by layer, and so without loops.
        image = torch.stack([((seen >> shift) & 255).to(torch.uint8) for shift in (0, 8, 16)], dim=-1)  # [N, 7, 7, 3]
        return {"image": image, "direction": state.direction.to(torch.int64)}  # R14

    def _ahead(self, direction: Tensor) -> tuple[Tensor, Tensor]:
        """How x and y change one cell ahead, int32 of the same shape each."""
        east = (direction == EAST).to(torch.int32) - (direction == WEST).to(torch.int32)
        south = (direction == SOUTH).to(torch.int32) - (direction == NORTH).to(torch.int32)
        return east, south

    def _seen_places(self, state: Any) -> tuple[Tensor, Tensor]:
        """The room's x and y of each cell of the view: column first, from left; then row, from the farthest."""
        cells = torch.arange(VIEW, device=state.x.device, dtype=torch.int32)
        right, far = (cells - VIEW // 2)[None, :, None], (VIEW - 1 - cells)[None, None, :]
        east, south = self._ahead(state.direction[:, None, None])  # [N, 1, 1] each
        x = state.x[:, None, None] + east * far - south * right  # [N, 7, 7]
        y = state.y[:, None, None] + south * far + east * right
        return x, y

    def _own_cell(self, view: Tensor) -> Tensor:
        """bool `[1, 7, 7]`: the cell of the view on which the agent stands."""
        cells = torch.arange(VIEW, device=view.device)
        return (cells == VIEW // 2)[None, :, None] & (cells == VIEW - 1)[None, None, :]

    @invariant("the agent is in the room", rule="R15")
    def in_the_room(self, state: Any, ctx: Context) -> Tensor:
        return (state.x <= state.size - 2) & (state.y <= state.size - 2)  # bool [N]

    @invariant("the gap is where it can be", rule="R16")
    def gap_in_place(self, state: Any, ctx: Context) -> Tensor:
        return (state.gap_x <= state.size - 3) & (state.gap_y <= state.size - 2)  # bool [N]

    @invariant("no episode is longer than the room's time", rule="R17")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= STEPS_PER_CELL * state.size * state.size  # bool [N]


def _packed(cell: tuple[int, int, int]) -> int:
    """Object, colour and state in one integer."""
    return cell[0] | cell[1] << 8 | cell[2] << 16
