"""minatar_breakout, all games at once: the rules of spec.md in their order, on int32 tensors `[N]`.

A direction's bits say how it turns: exclusive or with 1 turns it sideways, with 3 up and down, with 2 back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    BRICK_ROWS,
    FULL_ROW,
    LEFT,
    PADDLE_ROW,
    RIGHT,
    SIZE,
    START_POS,
    START_ROW,
    TOP_BRICKS,
)

SIDEWAYS, BACK, UP_AND_DOWN = 1, 2, 3
DOWN = 2  # this direction and the one above it
LAST = SIZE - 1


class Breakout(BatchedEnv):
    """N games; all fields int32 `[N]` but for `bricks` int32 `[N, 3]` and `strike` bool `[N]`.

    The engine carries out R1 (illegal actions) and R15 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        right = ctx.draw.integers("ball_start", 2)  # R2: int32 [N]
        x, row = right * LAST, torch.full_like(right, START_ROW)
        return self.State(
            ball_x=x,
            ball_y=row,
            ball_dir=right + DOWN,
            last_x=x,
            last_y=row,
            pos=torch.full_like(right, START_POS),  # R3
            bricks=torch.full_like(right[:, None].expand(-1, BRICK_ROWS), FULL_ROW),
            strike=torch.zeros_like(right, dtype=torch.bool),
            last_action=torch.zeros_like(right),
        )

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        sticky = ctx.draw.bernoulli("sticky", ctx.params.sticky_action_prob)  # R4: bool [N]
        act = torch.where(sticky, state.last_action, action.to(torch.int32))  # [N]
        pos = state.pos - (act == LEFT).to(torch.int32) + (act == RIGHT).to(torch.int32)  # R5: [N]
        pos = pos.clamp(0, LAST)
        x, y, turned = self._flown(state)  # R7, R8: [N] each
        over_the_top = y < 0  # R9: bool [N]
        row = self._row(state.bricks, y)  # [N]
        met = ((row >> x) & 1) == 1  # R10: bool [N]; above the screen are no bricks
        broken = met & ~state.strike
        at_paddle = (y == PADDLE_ROW) & ~met  # R11: bool [N] each
        straight = at_paddle & (state.ball_x == pos)
        back = at_paddle & ~straight & (x == pos)
        terminated = at_paddle & ~straight & ~back  # R14
        turned = torch.where(over_the_top | broken | straight, turned ^ UP_AND_DOWN, turned)
        turned = torch.where(back, turned ^ BACK, turned)
        stays = broken | straight | back
        after = self.State(
            ball_x=x,  # R12
            ball_y=torch.where(stays, state.ball_y, y.clamp(min=0)),
            ball_dir=turned,
            last_x=state.ball_x,  # R6
            last_y=state.ball_y,
            pos=pos,
            bricks=self._left(state.bricks, broken, at_paddle, x, y),
            strike=met,
            last_action=act,
        )
        return Transition(after, broken.to(torch.float32), terminated)  # R13

    def _flown(self, state: Any) -> tuple[Tensor, Tensor, Tensor]:
        """R7, R8: column, row and direction, int32 `[N]` each."""
        to_the_right = (state.ball_dir == 1) | (state.ball_dir == 2)  # bool [N]
        x = state.ball_x + torch.where(to_the_right, 1, -1).to(torch.int32)
        y = state.ball_y + torch.where(state.ball_dir >= DOWN, 1, -1).to(torch.int32)
        wall = (x < 0) | (x > LAST)
        return x.clamp(0, LAST), y, state.ball_dir ^ wall.to(torch.int32)  # SIDEWAYS is 1

    def _row(self, bricks: Tensor, y: Tensor) -> Tensor:
        """The bricks of row y, int32 `[N]`; none outside their three rows."""
        row = torch.zeros_like(y)
        for k in range(BRICK_ROWS):
            row = torch.where(y == TOP_BRICKS + k, bricks[:, k], row)
        return row

    def _left(self, bricks: Tensor, broken: Tensor, at_paddle: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """R10, R11: the bricks `[N, 3]` without a broken one, or all of them again at the paddle after the last."""
        none_left = torch.ones_like(broken)
        for k in range(BRICK_ROWS):
            none_left = none_left & (bricks[:, k] == 0)
        new = at_paddle & none_left
        bit = torch.ones_like(x) << x
        rows = [bricks[:, k] ^ torch.where(broken & (y == TOP_BRICKS + k), bit, 0) for k in range(BRICK_ROWS)]
        return torch.stack([torch.where(new, FULL_ROW, row) for row in rows], dim=-1)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        places = torch.arange(SIZE, dtype=torch.int32, device=state.pos.device)  # R16
        row, column = places[None, :, None], places[None, None, :]  # [1, SIZE, 1], [1, 1, SIZE]
        paddle = (row == PADDLE_ROW) & (column == state.pos[:, None, None])  # bool [N, SIZE, SIZE] each
        ball = (row == state.ball_y[:, None, None]) & (column == state.ball_x[:, None, None])
        trail = (row == state.last_y[:, None, None]) & (column == state.last_x[:, None, None])
        masks = torch.zeros_like(row)  # [N, SIZE, 1] from here on
        for k in range(BRICK_ROWS):
            masks = torch.where(row == TOP_BRICKS + k, state.bricks[:, k, None, None], masks)
        bricks = ((masks >> column) & 1) == 1
        return torch.stack([paddle, ball, trail, bricks], dim=-1).to(torch.int8)  # [N, SIZE, SIZE, 4]

    @invariant("the ball is next to where it was", rule="R17")
    def in_steps(self, state: Any, ctx: Context) -> Tensor:
        return ((state.ball_x - state.last_x).abs() <= 1) & ((state.ball_y - state.last_y).abs() <= 1)  # bool [N]

    @invariant("a ball on the paddle's row was missed", rule="R18")
    def missed(self, state: Any, ctx: Context) -> Tensor:
        past = (state.ball_dir >= DOWN) & (state.last_y == PADDLE_ROW - 1) & (state.ball_x != state.pos)
        return (state.ball_y < PADDLE_ROW) | past  # bool [N]

    @invariant("a ball that met a brick is where bricks are met", rule="R19")
    def near_bricks(self, state: Any, ctx: Context) -> Tensor:
        lowest = TOP_BRICKS + BRICK_ROWS
        return ~state.strike | ((state.ball_y <= lowest) & (state.last_y <= lowest))  # bool [N]
