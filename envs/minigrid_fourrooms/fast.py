"""minigrid_fourrooms, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

There is no grid in here. What stands on a cell follows from a few numbers, and sight is worked out row by row of the
view, each row an integer of seven bits: bit i is the cell i - 3 cells to the right of the agent.
"""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import sight
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import EMPTY, GOAL, MAX_STEPS, SIZE, TIME_PRICE, UNSEEN, WALL

LEFT, RIGHT, FORWARD = 0, 1, 2
LAST, MIDDLE = SIZE - 1, SIZE // 2
SIDE = MIDDLE - 1  # cells along each side of a room
FLOOR = 4 * SIDE * SIDE + 4  # cells that are no walls


class FourRooms(BatchedEnv):
    """N agents; every field is int32 `[N]`.

    The engine carries out R1 (illegal actions) and R12 (the last time limit).
    """

    def reset(self, ctx: Context) -> Any:
        draw = ctx.draw  # R2
        top, left = draw.integers("gap_top", MIDDLE, low=1), draw.integers("gap_left", MIDDLE, low=1)  # R3
        right = draw.integers("gap_right", LAST, low=MIDDLE + 1)
        bottom = draw.integers("gap_bottom", LAST, low=MIDDLE + 1)
        place = draw.integers("place", FLOOR)  # R4
        facing = draw.integers("direction", 4)  # R5
        goal = draw.integers("goal", FLOOR - 1)  # R6
        goal = goal + (goal >= place).to(torch.int32)
        x, y = self._floor(place, top, left, right, bottom)
        goal_x, goal_y = self._floor(goal, top, left, right, bottom)
        return self.State(
            gap_top=top, gap_left=left, gap_right=right, gap_bottom=bottom, goal_x=goal_x, goal_y=goal_y,
            x=x, y=y, direction=facing,
        )  # fmt: skip

    def _floor(self, number: Tensor, top: Tensor, left: Tensor, right: Tensor, bottom: Tensor) -> tuple[Tensor, Tensor]:
        """R4: column and row of the cell of that number, int32 `[N]` each."""

        def first(row: Tensor, upper: Tensor, lower: Tensor) -> Tensor:
            """How many cells come before a row: each has those of two rooms, or two gaps, and one where a gap is."""
            gaps = (row > upper).to(torch.int32) + (row > lower).to(torch.int32)
            return 2 * SIDE * (row - 1) + gaps + (2 - 2 * SIDE) * (row > MIDDLE).to(torch.int32)

        rows = torch.arange(1, LAST, device=number.device, dtype=torch.int32)[None, :]
        begun = number[:, None] >= first(rows, top[:, None], bottom[:, None])  # bool [N, SIZE - 2]
        y = begun.sum(dim=-1, dtype=torch.int32)
        offset = number - first(y, top, bottom)
        beyond = (offset >= SIDE) & (y != top) & (y != bottom)  # over the wall between two rooms
        x = torch.where(y == MIDDLE, torch.where(offset == 0, left, right), 1 + offset + beyond.to(torch.int32))
        return x, y

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        turn = (action == RIGHT).to(torch.int32) - (action == LEFT).to(torch.int32)  # R7: int32 [N]
        direction = (state.direction + turn) & 3
        east, south = sight.ahead(state.direction)
        x, y = state.x + east, state.y + south  # the cell ahead, int32 [N] each
        moves = (action == FORWARD) & self._on_floor(state, x, y)  # R8: bool [N]
        at_goal = moves & (x == state.goal_x) & (y == state.goal_y)
        after = state.replace(x=torch.where(moves, x, state.x), y=torch.where(moves, y, state.y), direction=direction)
        taken = ctx.t + 1  # int32 [N]
        worth = 1.0 - TIME_PRICE * (taken.to(torch.float64) / MAX_STEPS)  # R9: float64 [N]
        return Transition(after, torch.where(at_goal, worth, 0.0), at_goal, taken >= MAX_STEPS)  # R10, R11

    def _on_floor(self, state: Any, x: Tensor, y: Tensor) -> Tensor:
        """bool `[N]`: the place is within the grid and no wall."""
        inside = (x > 0) & (y > 0) & (x < LAST) & (y < LAST)
        across = (x != MIDDLE) | (y == state.gap_top) | (y == state.gap_bottom)
        along = (y != MIDDLE) | (x == state.gap_left) | (x == state.gap_right)
        return inside & across & along

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        walls = self._rows(state)  # R13, R14: int32 [N, 7]
        lit = sight.lit(walls)  # R15: int32 [N, 7]
        cells = sight.numbers(walls)  # from here on [N, 7, 7]: column first, from the left; then row, from the farthest
        wall = sight.bits_of(walls)  # R16: bool
        seen = torch.where(wall, sight.packed(WALL), torch.full_like(cells, sight.packed(EMPTY)))  # int32
        seen = torch.where(cells == self._goal_cell(state)[:, None, None], sight.packed(GOAL), seen)
        seen = torch.where(cells == sight.OWN_CELL, sight.packed(EMPTY), seen)  # R17
        seen = torch.where(sight.bits_of(lit), seen, sight.packed(UNSEEN))  # R18
        return {"image": sight.image(seen), "direction": state.direction.to(torch.int64)}  # R19

    def _goal_cell(self, state: Any) -> Tensor:
        """The number of the goal's cell in the view, column by column, or -1 outside it: int32 `[N]`."""
        return sight.number(*sight.offsets(state.direction, state.goal_x - state.x, state.goal_y - state.y))

    def _rows(self, state: Any) -> Tensor:
        """The walls of each row ahead, as bits: int32 `[N, 7]`, the agent's own row first."""
        east, south = sight.ahead(state.direction)
        steps = torch.arange(sight.VIEW, device=state.x.device, dtype=torch.int32)[None, :]
        level = (east != 0)[:, None]  # the agent looks along x
        x, y, top, left, right, bottom = (
            part[:, None]
            for part in (state.x, state.y, state.gap_top, state.gap_left, state.gap_right, state.gap_bottom)
        )
        along = torch.where(level, x, y) + (east + south)[:, None] * steps  # [N, 7]: of each row
        across = torch.where(level, y, x) + (east - south)[:, None] * (steps - sight.HALF)  # [N, 7]: of each bit
        # The gaps in the wall that crosses the view, and those in the wall that runs along it.
        gap = (across == torch.where(level, top, left)) | (across == torch.where(level, bottom, right))
        beside = (along == torch.where(level, left, top)) | (along == torch.where(level, right, bottom))

        def bits(columns: Tensor) -> Tensor:
            return (columns.to(torch.int32) << steps).sum(dim=-1, dtype=torch.int32)[:, None]

        plain = bits((across <= 0) | (across >= LAST)) | torch.where(beside, 0, bits(across == MIDDLE))
        rows = torch.where(along == MIDDLE, sight.ROW & ~bits(gap), plain)
        return torch.where((along <= 0) | (along >= LAST), sight.ROW, rows)

    @invariant("neither the agent nor the goal is in a wall", rule="R20")
    def out_of_walls(self, state: Any, ctx: Context) -> Tensor:
        return self._on_floor(state, state.x, state.y) & self._on_floor(state, state.goal_x, state.goal_y)  # bool [N]

    @invariant("no episode is longer than its time", rule="R21")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= MAX_STEPS  # bool [N]
