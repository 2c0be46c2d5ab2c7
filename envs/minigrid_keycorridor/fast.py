"""minigrid_keycorridor, all agents at once: the rules of spec.md in their order, on int32 tensors `[N]`.

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
    WALL,
)

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = 0, 1, 2, 3, 4, 5


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
        east, _ = sight.ahead(state.direction)
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
        x, y = sight.places(state.x, torch.ones_like(state.x), state.direction)  # R15: int32 [N, 7, 7] each
        lit = sight.lit(self._rows(state))  # R16, R17: int32 [N, 7]
        cells = sight.numbers(x)
        left = DOOR + (state.left_colour << 8) + (state.left_door << 16)  # int32 [N] each
        right = DOOR + (state.right_colour << 8) + (state.right_door << 16)
        key, ball = KEY + (state.right_colour << 8), BALL + (state.ball_colour << 8)
        held = torch.where(state.key_x < 0, key, torch.where(state.ball_x < 0, ball, sight.packed(EMPTY)))  # R19
        in_row = y == 1  # bool [N, 7, 7]
        inside = in_row & (x >= 1) & (x <= LENGTH)
        seen = torch.where(inside, sight.packed(EMPTY), torch.full_like(x, sight.packed(WALL)))  # R18: int32 [N, 7, 7]
        for column, thing in ((LEFT_DOOR, left), (RIGHT_DOOR, right)):
            seen = torch.where(in_row & (x == column), thing[:, None, None], seen)
        for place, thing in ((state.key_x, key), (state.ball_x, ball)):
            on_floor = in_row & (x == place[:, None, None]) & (place >= 0)[:, None, None]
            seen = torch.where(on_floor, thing[:, None, None], seen)
        seen = torch.where(cells == sight.OWN_CELL, held[:, None, None], seen)
        seen = torch.where(sight.bits_of(lit), seen, sight.packed(UNSEEN))  # R20
        return {"image": sight.image(seen), "direction": state.direction.to(torch.int64)}  # R21

    def _rows(self, state: Any) -> Tensor:
        """The opaque cells of each row ahead, as bits: int32 `[N, 7]`, the agent's own row first."""
        east, south = sight.ahead(state.direction)
        steps = torch.arange(sight.VIEW, device=state.x.device, dtype=torch.int32)[None, :]
        left, right = (state.left_door == OPEN)[:, None], (state.right_door == OPEN)[:, None]

        def clear(x: Tensor) -> Tensor:
            """bool `[N, 7]`: what of row 1 can be seen through."""
            inside = (x >= 1) & (x <= LENGTH)
            return inside & ((x != LEFT_DOOR) | left) & ((x != RIGHT_DOOR) | right)

        # Along row 1 there is one clear cell in each row of the view at most; across it they are all in the first.
        ahead = clear(state.x[:, None] + east[:, None] * steps).to(torch.int32) << sight.HALF  # [N, 7]
        beside = clear(state.x[:, None] - south[:, None] * (steps - sight.HALF)).to(torch.int32) << steps
        beside = torch.where(steps == 0, beside.sum(dim=-1, dtype=torch.int32)[:, None], 0)
        return sight.ROW & ~torch.where((east != 0)[:, None], ahead, beside)

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
