"""pong, all games at once: the rules of spec.md in their order, on int16 `[N]`; `shown` is int16 `[N, 8]`.

Frames are written out to the most that `frame_skip` can be. A row that has played its frames, or has seen a point,
keeps its last complete frame from then on: that is what R12 shows, and what R5 goes on from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    BALL,
    BALL_RIGHT,
    BALL_TOP,
    BOUNCE_REWARD,
    HALF_BALL,
    HALF_PADDLE,
    HEIGHT,
    MOST_FRAMES,
    PADDLE_HEIGHT,
    PADDLE_HIGH,
    PADDLE_LOW,
    PADDLE_SPEED,
    PADDLE_START,
    SERVE_SPEED,
    SERVE_X,
    SERVE_Y,
    SPEED_X,
    SPIN,
    TOP_SPEED,
    WIDTH,
)

UP, DOWN = 1, 2  # and 0 is still


class Frame(NamedTuple):
    """Both paddles and the ball, int16 `[N]` each."""

    left_y: Tensor
    right_y: Tensor
    ball_x: Tensor
    ball_y: Tensor
    ball_vx: Tensor
    ball_vy: Tensor


class Events(NamedTuple):
    """What happens in a frame, bool `[N]` each."""

    bounced: Tensor  # off the agent's paddle
    lost: Tensor
    won: Tensor


class Pong(BatchedEnv):
    """N games.

    The engine carries out R1 (illegal actions) and R19 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        serve = ctx.draw.integers("serve", 2).to(torch.int16)  # R2: [N]
        start, score = self._serve(serve, ctx), torch.zeros_like(serve)
        return self.State(*start, score, score, torch.stack([*start, score, score], dim=-1))  # R15

    def _serve(self, serve: Tensor, ctx: Context) -> Frame:
        """R3: how a round begins."""
        speed = torch.where(ctx.params.symmetric_serve, 2 * serve - 1, serve - 1) * SERVE_SPEED  # int16 [N]
        paddle = torch.full_like(serve, PADDLE_START)
        x, y = torch.full_like(serve, SERVE_X), torch.full_like(serve, SERVE_Y)
        return Frame(paddle, paddle, x, y, torch.full_like(serve, SPEED_X), speed)

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        direction = (action == UP).to(torch.int16) - (action == DOWN).to(torch.int16)  # R4: [N]
        now = Frame(*state[:6])
        bounced = lost = won = torch.zeros_like(action, dtype=torch.bool)  # [N]
        any_frame = torch.zeros_like(bounced)
        for number in range(MOST_FRAMES):  # R5
            plays = (ctx.params.frame_skip > number) & ~(lost | won)  # R13: bool [N]
            then, events = self._frame(now, direction, ctx)
            lost, won = lost | (plays & events.lost), won | (plays & events.won)
            whole = plays & ~(events.lost | events.won)  # R12
            bounced, any_frame = bounced | (whole & events.bounced), any_frame | whole
            now = Frame(*(torch.where(whole, new, old) for new, old in zip(then, now, strict=True)))
        point = lost | won
        seen = torch.stack([*now, state.left_score, state.right_score], dim=-1)  # int16 [N, 8]
        seen = torch.where(any_frame[:, None], seen, state.shown)
        left_score = state.left_score + lost.to(torch.int16)  # R14: int16 [N]
        right_score = state.right_score + won.to(torch.int16)
        start = self._serve(ctx.draw.integers("next_serve", 2).to(torch.int16), ctx)  # R3
        after = Frame(*(torch.where(point, new, old) for new, old in zip(start, now, strict=True)))
        fresh = point & ~ctx.params.stale_view  # R15: bool [N]
        shown = torch.where(fresh[:, None], torch.stack([*after, left_score, right_score], dim=-1), seen)
        most = torch.maximum(left_score, right_score)
        terminated = point & (most >= ctx.params.max_score)  # R18
        reward = torch.where(bounced, BOUNCE_REWARD, torch.zeros_like(bounced, dtype=torch.float32))  # R17
        reward = torch.where(won, 1.0, torch.where(lost, -1.0, reward))  # R16: float32 [N]
        return Transition(self.State(*after, left_score, right_score, shown), reward, terminated)

    def _frame(self, now: Frame, direction: Tensor, ctx: Context) -> tuple[Frame, Events]:
        """R6 to R11: one frame of every row."""
        right_y = (now.right_y + PADDLE_SPEED * direction).clamp(PADDLE_LOW, PADDLE_HIGH)  # R6: int16 [N] each
        aim = now.ball_y + torch.where(ctx.params.aim_middle, HALF_BALL, torch.zeros_like(direction))  # R7
        move = (aim - (now.left_y + HALF_PADDLE)).clamp(-PADDLE_SPEED, PADDLE_SPEED)
        left_y = (now.left_y + move).clamp(PADDLE_LOW, PADDLE_HIGH)
        x, y = now.ball_x + now.ball_vx, now.ball_y + now.ball_vy  # R8
        at_wall = (y < 0) | (y > BALL_TOP)  # R9: bool [N]
        vy = torch.where(at_wall, 0 - now.ball_vy, now.ball_vy)
        inside = y.clamp(0, BALL_TOP)
        y = torch.where(ctx.params.clamp_walls, inside, y)
        at_left, at_right = x < 0, x > BALL_RIGHT  # R10, R11: bool [N]
        left_meets, right_meets = self._meets(y, left_y), self._meets(y, right_y)
        bounced, returned = at_right & right_meets, at_left & left_meets
        vx = torch.where(bounced | returned, 0 - now.ball_vx, now.ball_vx)
        spun = (vy + SPIN * direction).clamp(-TOP_SPEED, TOP_SPEED)
        vy = torch.where(bounced, torch.where(spun == 0, SPIN, spun), vy)
        y, x = torch.where(bounced, inside, y), torch.where(bounced, BALL_RIGHT, x)
        events = Events(bounced, lost=at_right & ~right_meets, won=at_left & ~left_meets)
        return Frame(left_y, right_y, x, y, vx, vy), events

    def _meets(self, y: Tensor, paddle_y: Tensor) -> Tensor:
        """Whether ball and paddle have a height in common, bool `[N]`."""
        return (y + BALL > paddle_y) & (y < paddle_y + PADDLE_HEIGHT)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        left_y, right_y, x, y, vx, vy, *scores = state.shown.unbind(-1)  # int16 [N] each
        seen = [
            (left_y - PADDLE_LOW).to(torch.float32) / (PADDLE_HIGH - PADDLE_LOW),  # R20: float32 [N] each
            (right_y - PADDLE_LOW).to(torch.float32) / (PADDLE_HIGH - PADDLE_LOW),
            x.to(torch.float32) / WIDTH,
            y.to(torch.float32) / HEIGHT,
            (vx + SPEED_X).to(torch.float32) / (2 * SPEED_X),
            (vy + TOP_SPEED).to(torch.float32) / (2 * TOP_SPEED),
        ]
        most = ctx.params.max_score  # int16 [N]
        shares = [score.to(torch.float32) / most.to(torch.float32) for score in scores]
        whole = [(score >= most).to(torch.float32) for score in scores]
        scored = [torch.where(ctx.params.whole_scores, a, b) for a, b in zip(whole, shares, strict=True)]  # R21
        return torch.stack([*seen, *scored], dim=-1)  # [N, 8]

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        return {"lead": state.right_score - state.left_score}  # R22: int16 [N]

    @invariant("the ball flies at one speed across, on one of its three tracks", rule="R23")
    def on_track(self, state: Any, ctx: Context) -> Tensor:
        x, right, left = state.ball_x, state.ball_vx == SPEED_X, state.ball_vx == 0 - SPEED_X
        served = ((x - SERVE_X) % SPEED_X == 0) & (x >= SERVE_X) & right
        returned = ((x - BALL_RIGHT) % SPEED_X == 0) & (right | (left & (x >= 0)))
        return served | returned  # bool [N]

    @invariant("a ball outside a wall comes back in the next frame", rule="R24")
    def comes_back(self, state: Any, ctx: Context) -> Tensor:
        y, coming = state.ball_y, state.ball_y + state.ball_vy
        return ((y >= 0) | (coming >= 0)) & ((y <= BALL_TOP) | (coming <= BALL_TOP))  # bool [N]

    @invariant("at most one score is complete, and then a round begins", rule="R25")
    def scores_bounded(self, state: Any, ctx: Context) -> Tensor:
        most = ctx.params.max_score
        low = torch.minimum(state.left_score, state.right_score)
        high = torch.maximum(state.left_score, state.right_score)
        return (low < most) & ((high < most) | ((high == most) & self._begins(state)))  # bool [N]

    @invariant("what is shown is the state, or the frame before the point that began the round", rule="R26")
    def shown_true(self, state: Any, ctx: Context) -> Tensor:
        left_less, right_less = state.left_score - state.shown[:, 6], state.right_score - state.shown[:, 7]
        one_less = (left_less + right_less == 1) & (left_less * right_less == 0)  # bool [N]
        same = (state.shown == torch.stack(state[:8], dim=-1)).all(dim=-1)  # bool [N]
        return same | (self._begins(state) & one_less)

    def _begins(self, state: Any) -> Tensor:
        paddles = (state.left_y == PADDLE_START) & (state.right_y == PADDLE_START)
        return paddles & (state.ball_x == SERVE_X) & (state.ball_y == SERVE_Y)  # bool [N]
