"""minigrid_doorkey, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

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

from . import CLOSED, DOOR, EMPTY, GOAL, KEY, LOCKED, OPEN, STEPS_PER_CELL, TIME_PRICE, UNSEEN, WALL

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = 0, 1, 2, 3, 4, 5


class DoorKey(BatchedEnv):
    """N agents; every field is int32 `[N]`.

    The engine carries out R1 (illegal actions) and R16 (the last time limit).
    """

    def reset(self, ctx: Context) -> Any:
        draw, size = ctx.draw, ctx.params.size  # R2: int32 [N]
        split = draw.integers("split", size - 2, low=2)  # R3: int32 [N]
        width = split - 1
        cells = width * (size - 2)
        place = draw.integers("place", cells)  # R4: int32 [N]
        facing = draw.integers("direction", 4)  # R5
        door_y = draw.integers("door", size - 2, low=1)  # R6
        key = draw.integers("key", cells - 1)  # R7
        key = key + (key >= place).to(torch.int32)
        return self.State(
            size=size, split=split, door_y=door_y, door=torch.full_like(split, LOCKED),
            key_x=1 + key % width, key_y=1 + key // width,
            x=1 + place % width, y=1 + place // width, direction=facing,
        )  # fmt: skip

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        turn = (action == RIGHT).to(torch.int32) - (action == LEFT).to(torch.int32)  # R8: int32 [N]
        direction = (state.direction + turn) & 3
        east, south = sight.ahead(state.direction)
        x, y = state.x + east, state.y + south  # the cell ahead, int32 [N] each
        at_door = (x == state.split) & (y == state.door_y)  # bool [N] each, from here on
        at_key = (x == state.key_x) & (y == state.key_y)
        at_goal = (x == state.size - 2) & (y == state.size - 2)
        wall = (x < 1) | (y < 1) | (x > state.size - 2) | (y > state.size - 2) | ((x == state.split) & ~at_door)
        held = state.key_x < 0
        moves = (action == FORWARD) & ~wall & ~at_key & (~at_door | (state.door == OPEN))  # R9
        picked = (action == PICK_UP) & at_key  # R10
        dropped = (action == DROP) & held & ~wall & ~at_door & ~at_goal  # R11
        toggled = (action == TOGGLE) & at_door  # R12
        unlocked = torch.where(held, OPEN, state.door)
        door = torch.where(toggled, torch.where(state.door == LOCKED, unlocked, CLOSED - state.door), state.door)
        after = state.replace(
            door=door, direction=direction,
            key_x=torch.where(picked, -1, torch.where(dropped, x, state.key_x)),
            key_y=torch.where(picked, -1, torch.where(dropped, y, state.key_y)),
            x=torch.where(moves, x, state.x), y=torch.where(moves, y, state.y),
        )  # fmt: skip
        terminated = moves & at_goal  # R14
        taken, time = ctx.t + 1, STEPS_PER_CELL * state.size * state.size  # int32 [N] each
        worth = 1.0 - TIME_PRICE * (taken.to(torch.float64) / time.to(torch.float64))  # R13: float64 [N]
        return Transition(after, torch.where(terminated, worth, 0.0), terminated, taken >= time)  # R15

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        door_far, door_side = self._in_view(state, state.split, state.door_y)  # R17: int32 [N] each
        key = sight.number(*self._in_view(state, state.key_x, state.key_y))
        goal = sight.number(*self._in_view(state, state.size - 2, state.size - 2))
        walls, doors = self._rows(state, door_far, door_side)  # int32 [N, 7] each
        lit = sight.lit(torch.where((state.door == OPEN)[:, None], walls, walls | doors))  # R18, R19: [N, 7]
        cells = sight.numbers(walls)  # from here on [N, 7, 7]: column first, from the left; then row, from the farthest
        held = torch.where(state.key_x < 0, sight.packed(KEY), sight.packed(EMPTY))  # R21: int32 [N]
        door = sight.packed(DOOR) + (state.door << 16)  # int32 [N]
        seen = torch.where(sight.bits_of(walls), sight.packed(WALL), sight.packed(EMPTY))  # R20
        seen = torch.where(cells == goal[:, None, None], sight.packed(GOAL), seen)
        seen = torch.where((cells == key[:, None, None]) & (state.key_x >= 0)[:, None, None], sight.packed(KEY), seen)
        seen = torch.where(cells == sight.number(door_far, door_side)[:, None, None], door[:, None, None], seen)
        seen = torch.where(cells == sight.OWN_CELL, held[:, None, None], seen)
        seen = torch.where(sight.bits_of(lit), seen, sight.packed(UNSEEN))  # R22
        return {"image": sight.image(seen), "direction": state.direction.to(torch.int64)}  # R23

    def _in_view(self, state: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """How many cells ahead of the agent a place is and how many to the right, int32 `[N]` each."""
        return sight.offsets(state.direction, x - state.x, y - state.y)

    def _rows(self, state: Any, door_far: Tensor, door_side: Tensor) -> tuple[Tensor, Tensor]:
        """The walls of each row ahead, and the door's cell, as bits: int32 `[N, 7]`, the agent's own row first."""
        east, south = sight.ahead(state.direction)
        steps = torch.arange(sight.VIEW, device=state.x.device, dtype=torch.int32)[None, :]
        level = (east != 0)[:, None]  # the agent looks along x
        along = torch.where(level, state.x[:, None], state.y[:, None]) + (east + south)[:, None] * steps
        across = torch.where(level, state.y[:, None], state.x[:, None]) + (east - south)[:, None] * (steps - sight.HALF)
        last, split = (state.size - 1)[:, None], state.split[:, None]
        whole = (along <= 0) | (along >= last) | (level & (along == split))  # bool [N, 7]: a row that is all wall
        single = (across <= 0) | (across >= last) | (~level & (across == split))  # bool [N, 7]: a column that is
        columns = (single.to(torch.int32) << steps).sum(dim=-1, dtype=torch.int32)[:, None]
        shown = (door_side >= -sight.HALF) & (door_side <= sight.HALF)  # bool [N]
        bit = torch.where(shown, 1 << (door_side + sight.HALF).clamp(0, sight.VIEW - 1), 0)[:, None]
        doors = torch.where(steps == door_far[:, None], bit, 0)
        return torch.where(whole, sight.ROW, columns) & ~doors, doors

    @invariant("the dividing wall and its door are where they can be", rule="R24")
    def wall_in_place(self, state: Any, ctx: Context) -> Tensor:
        return (state.split <= state.size - 3) & (state.door_y <= state.size - 3)  # bool [N]

    @invariant("the agent is on a cell that it can stand on", rule="R25")
    def agent_in_place(self, state: Any, ctx: Context) -> Tensor:
        inside = (state.x <= state.size - 2) & (state.y <= state.size - 2)
        in_door = (state.y == state.door_y) & (state.door == OPEN)
        return inside & ((state.x != state.split) | in_door)  # bool [N]

    @invariant("the key is in the hand, or on the floor of a room", rule="R26")
    def key_in_place(self, state: Any, ctx: Context) -> Tensor:
        key_x, key_y, last = state.key_x, state.key_y, state.size - 2
        held = (key_x == -1) & (key_y == -1)
        inside = (key_x >= 1) & (key_x <= last) & (key_y >= 1) & (key_y <= last) & (key_x != state.split)
        taken = ((key_x == last) & (key_y == last)) | ((key_x == state.x) & (key_y == state.y))
        return held | (inside & ~taken)  # bool [N]

    @invariant("no episode is longer than the room's time", rule="R27")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= STEPS_PER_CELL * state.size * state.size  # bool [N]
