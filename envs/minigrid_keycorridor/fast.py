"""minigrid_keycorridor, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

There is no grid in here. What stands on a cell follows from a few numbers, and sight is worked out row by row of the
view, each row an integer of seven bits: bit i is the cell i - 3 cells to the right of the agent.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    BALL,
    CLOSED,
    COLOUR_OF,
    COLOURS,
    DOOR,
    EMPTY,
    KEY,
    LEFT_DOOR,
    LENGTH,
    LOCKED,
    MAX_STEPS,
    OPEN,
    RIGHT_DOOR,
    START,
    TIME_PRICE,
    UNSEEN,
    VIEW,
    WALL,
)

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = 0, 1, 2, 3, 4, 5
EAST, SOUTH, WEST, NORTH = 0, 1, 2, 3
HALF, ROW = VIEW // 2, (1 << VIEW) - 1  # ROW: all bits of a row
OWN_CELL = VIEW * HALF + VIEW - 1  # its number in the view, column by column


class KeyCorridor(BatchedEnv):
    """N agents; every field is int32 `[N]`.

    The engine carries out R1 (illegal actions) and R14 (the last time limit).
    """

    def reset(self, ctx: Context) -> Any:
        facing = ctx.draw.integers("direction", 4, low=1)  # R4: int32 [N]
        return self.State(  # R5
            left_colour=self._colour(ctx.draw.integers("left_colour", COLOURS)),  # R3
            right_colour=self._colour(ctx.draw.integers("right_colour", COLOURS)),
            ball_colour=self._colour(ctx.draw.integers("ball_colour", COLOURS)),
            left_door=torch.full_like(facing, CLOSED), right_door=torch.full_like(facing, LOCKED),  # R2
            key_x=torch.ones_like(facing), ball_x=torch.full_like(facing, LENGTH),
            x=torch.full_like(facing, START), direction=facing,
        )  # fmt: skip

    def _colour(self, number: Tensor) -> Tensor:
        """R3: the element of COLOUR_OF, int32 `[N]`."""
        colour = torch.full_like(number, COLOUR_OF[0])
        for k in range(1, len(COLOUR_OF)):
            colour = torch.where(number == k, COLOUR_OF[k], colour)
        return colour

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        turn = (action == RIGHT).to(torch.int32) - (action == LEFT).to(torch.int32)  # R6: int32 [N]
        east = (state.direction == EAST).to(torch.int32) - (state.direction == WEST).to(torch.int32)
        x = state.x + east  # the column ahead, where it is one of row 1
        level = east != 0  # bool [N] each, from here on
        at_left, at_right = level & (x == LEFT_DOOR), level & (x == RIGHT_DOOR)
        at_key, at_ball = level & (x == state.key_x), level & (x == state.ball_x)
        key_held, ball_held = state.key_x < 0, state.ball_x < 0
        floor = level & (x >= 1) & (x <= LENGTH) & ~at_left & ~at_right & ~at_key & ~at_ball
        through = (at_left & (state.left_door == OPEN)) | (at_right & (state.right_door == OPEN))
        moves = (action == FORWARD) & (floor | through)  # R7
        picks = (action == PICK_UP) & ~key_held & ~ball_held  # R8
        drops = (action == DROP) & floor  # R9
        key_x = torch.where(picks & at_key, -1, torch.where(drops & key_held, x, state.key_x))
        ball_x = torch.where(picks & at_ball, -1, torch.where(drops & ball_held, x, state.ball_x))
        toggles = action == TOGGLE  # R10
        unlocked = torch.where(key_held, OPEN, state.right_door)
        right = torch.where(state.right_door == LOCKED, unlocked, CLOSED - state.right_door)
        after = state.replace(
            left_door=torch.where(toggles & at_left, CLOSED - state.left_door, state.left_door),
            right_door=torch.where(toggles & at_right, right, state.right_door),
            key_x=key_x, ball_x=ball_x, x=torch.where(moves, x, state.x), direction=(state.direction + turn) & 3,
        )  # fmt: skip
        taken = ctx.t + 1  # int32 [N]
        worth = 1.0 - TIME_PRICE * (taken.to(torch.float64) / MAX_STEPS)  # R11: float64 [N]
        fetched = (action == PICK_UP) & (ball_x < 0)  # R12
        return Transition(after, torch.where(fetched, worth, 0.0), fetched, taken >= MAX_STEPS)  # R13

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        x, y = self._seen_places(state)  # R15: int32 [N, 7, 7] each
        lit = self._sight(self._rows(state))  # R16, R17: int32 [N, 7]
        sides = torch.arange(VIEW, device=lit.device, dtype=torch.int32)[None, :, None]
        cells = torch.arange(VIEW * VIEW, device=lit.device, dtype=torch.int32).view(1, VIEW, VIEW)
        left = DOOR + (state.left_colour << 8) + (state.left_door << 16)  # int32 [N] each
        right = DOOR + (state.right_colour << 8) + (state.right_door << 16)
        key, ball = KEY + (state.right_colour << 8), BALL + (state.ball_colour << 8)
        held = torch.where(state.key_x < 0, key, torch.where(state.ball_x < 0, ball, _packed(EMPTY)))  # R19
        in_row = y == 1  # bool [N, 7, 7]
        inside = in_row & (x >= 1) & (x <= LENGTH)
        seen = torch.where(inside, _packed(EMPTY), torch.full_like(x, _packed(WALL)))  # R18: int32 [N, 7, 7]
        for column, thing in ((LEFT_DOOR, left), (RIGHT_DOOR, right)):
            seen = torch.where(in_row & (x == column), thing[:, None, None], seen)
        for place, thing in ((state.key_x, key), (state.ball_x, ball)):
            on_floor = in_row & (x == place[:, None, None]) & (place >= 0)[:, None, None]
            seen = torch.where(on_floor, thing[:, None, None], seen)
        seen = torch.where(cells == OWN_CELL, held[:, None, None], seen)
        seen = torch.where(((lit.flip(1)[:, None, :] >> sides) & 1) == 1, seen, _packed(UNSEEN))  # R20
        # A stack as the last operation is stored layer by layer, and so without loops.
        image = torch.stack([((seen >> shift) & 255).to(torch.uint8) for shift in (0, 8, 16)], dim=-1)
        return {"image": image, "direction": state.direction.to(torch.int64)}  # R21

    def _ahead(self, direction: Tensor) -> tuple[Tensor, Tensor]:
        """How column and row change one cell ahead, int32 of the same shape each."""
        east = (direction == EAST).to(torch.int32) - (direction == WEST).to(torch.int32)
        south = (direction == SOUTH).to(torch.int32) - (direction == NORTH).to(torch.int32)
        return east, south

    def _seen_places(self, state: Any) -> tuple[Tensor, Tensor]:
        """Column and row of each cell of the view: its columns first, from left; then its rows, from the farthest."""
        cells = torch.arange(VIEW, device=state.x.device, dtype=torch.int32)
        right, far = (cells - HALF)[None, :, None], (VIEW - 1 - cells)[None, None, :]
        east, south = self._ahead(state.direction[:, None, None])  # [N, 1, 1] each
        return state.x[:, None, None] + east * far - south * right, 1 + south * far + east * right  # [N, 7, 7] each

    def _rows(self, state: Any) -> Tensor:
        """The opaque cells of each row ahead, as bits: int32 `[N, 7]`, the agent's own row first."""
        east, south = self._ahead(state.direction)
        steps = torch.arange(VIEW, device=state.x.device, dtype=torch.int32)[None, :]
        left, right = (state.left_door == OPEN)[:, None], (state.right_door == OPEN)[:, None]

        def clear(x: Tensor) -> Tensor:
            """bool `[N, 7]`: what of row 1 can be seen through."""
            inside = (x >= 1) & (x <= LENGTH)
            return inside & ((x != LEFT_DOOR) | left) & ((x != RIGHT_DOOR) | right)

        # Along row 1 there is one clear cell in each row of the view at most; across it they are all in the first.
        ahead = clear(state.x[:, None] + east[:, None] * steps).to(torch.int32) << HALF  # [N, 7]
        beside = clear(state.x[:, None] - south[:, None] * (steps - HALF)).to(torch.int32) << steps
        beside = torch.where(steps == 0, beside.sum(dim=-1, dtype=torch.int32)[:, None], 0)
        return ROW & ~torch.where((east != 0)[:, None], ahead, beside)

    def _sight(self, opaque: Tensor) -> Tensor:
        """The seen cells of each row, as bits, from the opaque ones: int32 `[N, 7]`, the agent's own row first."""
        lit, rows = torch.full_like(opaque[:, 0], 1 << HALF), []
        for clear in (ROW & ~opaque).unbind(dim=1):  # int32 [N]
            # To the right: the sum carries from each lit clear cell through the clear ones after it, and one further.
            lit = (lit | (clear ^ (clear + (lit & clear)))) & ROW
            from_left = lit & clear & (ROW >> 1)  # the last cell of a row has nothing to its right
            lit = self._to_the_left(lit, clear)
            from_right = lit & clear & ~1
            rows.append(lit)
            lit = from_left | (from_left << 1) | from_right | (from_right >> 1)
        return torch.stack(rows, dim=1)

    def _to_the_left(self, lit: Tensor, clear: Tensor) -> Tensor:
        """`lit`, and all that follows to the left through clear cells, with the cell that ends it: int32 `[N]`."""
        spread, through = lit & clear, clear
        for reach in (1, 2, 4):
            spread = spread | (through & (spread >> reach))
            through = through & (through >> reach)
        return lit | spread | (spread >> 1)

    @invariant("the agent is on a cell that it can stand on", rule="R22")
    def agent_in_place(self, state: Any, ctx: Context) -> Tensor:
        closed = ((state.x == LEFT_DOOR) & (state.left_door != OPEN)) | (
            (state.x == RIGHT_DOOR) & (state.right_door != OPEN)
        )
        in_door = (state.x == LEFT_DOOR) | (state.x == RIGHT_DOOR)
        return ~closed & (in_door | ((state.x != state.key_x) & (state.x != state.ball_x)))  # bool [N]

    @invariant("key and ball are on floor of their own, or one of them is carried", rule="R23")
    def things_in_place(self, state: Any, ctx: Context) -> Tensor:
        key = (state.key_x == -1) | (state.key_x % 2 == 1)
        ball = (state.ball_x == -1) | (state.ball_x % 2 == 1)
        return key & ball & (state.key_x != state.ball_x)  # bool [N]

    @invariant("what is behind the locked door is the ball", rule="R24")
    def behind_the_lock(self, state: Any, ctx: Context) -> Tensor:
        kept = (state.ball_x == LENGTH) & (state.x <= START) & (state.key_x <= START)
        return (state.right_door != LOCKED) | kept  # bool [N]

    @invariant("no episode is longer than its time", rule="R25")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= MAX_STEPS  # bool [N]


def _packed(cell: tuple[int, int, int]) -> int:
    """Object, colour and state in one integer."""
    return cell[0] | cell[1] << 8 | cell[2] << 16
