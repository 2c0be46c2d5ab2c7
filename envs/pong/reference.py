"""pong, one at a time: the rules of spec.md in their order, in whole pixels."""

from __future__ import annotations

from typing import Any, NamedTuple

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import (
    BALL,
    BALL_RIGHT,
    BALL_TOP,
    BOUNCE_REWARD,
    HALF_BALL,
    HALF_PADDLE,
    HEIGHT,
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
NOBODY, LEFT, RIGHT = 0, 1, 2


class Frame(NamedTuple):
    """Both paddles and the ball, and what has just happened."""

    left_y: int
    right_y: int
    ball_x: int
    ball_y: int
    ball_vx: int
    ball_vy: int
    bounced: bool = False  # off the agent's paddle
    scored: int = NOBODY


class Pong(ReferenceEnv):
    """Two paddles and a ball; state of ints, `shown` a tuple of eight.

    The engine carries out R1 (illegal actions) and R19 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        return self._begin(ctx.draw.integers("serve", 2), 0, 0, None, ctx)  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        direction = 1 if action == UP else -1 if action == DOWN else 0  # R4
        now = Frame(state.left_y, state.right_y, state.ball_x, state.ball_y, state.ball_vx, state.ball_vy)
        left_score, right_score, shown = state.left_score, state.right_score, state.shown
        bounced = False
        for _ in range(ctx.params.frame_skip):  # R5
            now = self._frame(now, direction, ctx)
            if now.scored != NOBODY:  # R13
                break
            bounced = bounced or now.bounced
            shown = (*now[:6], left_score, right_score)  # R12
        reward = self._reward(now.scored, bounced)
        if now.scored == NOBODY:
            after = self.State(*now[:6], left_score, right_score, shown)
            return Transition(after, reward, False)
        left_score, right_score = left_score + (now.scored == LEFT), right_score + (now.scored == RIGHT)  # R14
        after = self._begin(ctx.draw.integers("next_serve", 2), left_score, right_score, shown, ctx)
        terminated = max(left_score, right_score) >= ctx.params.max_score  # R18
        return Transition(after, reward, terminated)

    def _begin(self, serve: int, left_score: int, right_score: int, shown: Any, ctx: Context) -> Any:
        """R3: a round begins; `shown` is what the step has shown so far, or None at the start of an episode."""
        speed = (2 * serve - 1 if ctx.params.symmetric_serve else serve - 1) * SERVE_SPEED
        start = (PADDLE_START, PADDLE_START, SERVE_X, SERVE_Y, SPEED_X, speed, left_score, right_score)
        if shown is None or not ctx.params.stale_view:  # R15
            shown = start
        return self.State(*start, shown)

    def _frame(self, now: Frame, direction: int, ctx: Context) -> Frame:
        """R6 to R11: one frame."""
        right_y = _clamp(now.right_y + PADDLE_SPEED * direction, PADDLE_LOW, PADDLE_HIGH)  # R6
        aim = now.ball_y + HALF_BALL if ctx.params.aim_middle else now.ball_y  # R7
        move = _clamp(aim - (now.left_y + HALF_PADDLE), -PADDLE_SPEED, PADDLE_SPEED)
        left_y = _clamp(now.left_y + move, PADDLE_LOW, PADDLE_HIGH)
        x, y, vx, vy = now.ball_x + now.ball_vx, now.ball_y + now.ball_vy, now.ball_vx, now.ball_vy  # R8
        if y < 0 or y > BALL_TOP:  # R9
            vy = 0 - vy
            if ctx.params.clamp_walls:
                y = _clamp(y, 0, BALL_TOP)
        scored, bounced = NOBODY, False
        if x < 0:  # R10
            if _meets(y, left_y):
                vx = 0 - vx
            else:
                scored = RIGHT
        elif x > BALL_RIGHT:  # R11
            if _meets(y, right_y):
                vx, bounced = 0 - vx, True
                vy = _clamp(vy + SPIN * direction, -TOP_SPEED, TOP_SPEED)
                vy = SPIN if vy == 0 else vy
                x, y = BALL_RIGHT, _clamp(y, 0, BALL_TOP)
            else:
                scored = LEFT
        return Frame(left_y, right_y, x, y, vx, vy, bounced, scored)

    def _reward(self, scored: int, bounced: bool) -> Float32:
        if scored == RIGHT:  # R16
            return Float32(1.0)
        if scored == LEFT:
            return Float32(-1.0)
        return Float32(BOUNCE_REWARD if bounced else 0.0)  # R17

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        left_y, right_y, x, y, vx, vy, *scores = state.shown
        paddles = [Float32(at - PADDLE_LOW) / (PADDLE_HIGH - PADDLE_LOW) for at in (left_y, right_y)]  # R20
        ball = [Float32(x) / WIDTH, Float32(y) / HEIGHT]
        speeds = [Float32(vx + SPEED_X) / (2 * SPEED_X), Float32(vy + TOP_SPEED) / (2 * TOP_SPEED)]
        most = ctx.params.max_score
        if ctx.params.whole_scores:  # R21
            return (*paddles, *ball, *speeds, *(Float32(score // most) for score in scores))
        return (*paddles, *ball, *speeds, *(Float32(score) / most for score in scores))

    def info(self, state: Any, ctx: Context) -> dict[str, int]:
        return {"lead": state.right_score - state.left_score}  # R22

    @invariant("the ball flies at one speed across, on one of its three tracks", rule="R23")
    def on_track(self, state: Any, ctx: Context) -> bool:
        x, vx = state.ball_x, state.ball_vx
        served = (x - SERVE_X) % SPEED_X == 0 and x >= SERVE_X and vx == SPEED_X
        returned = (x - BALL_RIGHT) % SPEED_X == 0 and (vx == SPEED_X or (vx == 0 - SPEED_X and x >= 0))
        return served or returned

    @invariant("a ball outside a wall comes back in the next frame", rule="R24")
    def comes_back(self, state: Any, ctx: Context) -> bool:
        y, coming = state.ball_y, state.ball_y + state.ball_vy
        return (y >= 0 or coming >= 0) and (y <= BALL_TOP or coming <= BALL_TOP)

    @invariant("at most one score is complete, and then a round begins", rule="R25")
    def scores_bounded(self, state: Any, ctx: Context) -> bool:
        most, low, high = ctx.params.max_score, *sorted((state.left_score, state.right_score))
        return low < most and (high < most or (high == most and self._begins(state)))

    @invariant("what is shown is the state, or the frame before the point that began the round", rule="R26")
    def shown_true(self, state: Any, ctx: Context) -> bool:
        left_less, right_less = state.left_score - state.shown[6], state.right_score - state.shown[7]
        one_less = (left_less, right_less) in ((0, 1), (1, 0))
        return state.shown == tuple(state)[:8] or (self._begins(state) and one_less)

    def _begins(self, state: Any) -> bool:
        places = (state.left_y, state.right_y, state.ball_x, state.ball_y)
        return places == (PADDLE_START, PADDLE_START, SERVE_X, SERVE_Y)

    @sometimes("the first frame of a step has the point, so that the step before is shown again", rule="R12")
    def shown_again(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        before, after = state.left_score + state.right_score, outcome.state.left_score + outcome.state.right_score
        return after > before and outcome.state.shown == state.shown

    @sometimes("the paddle takes all speed from a ball, which gets a new one", rule="R11")
    def taken_and_given(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        turned = state.ball_vx > 0 and outcome.state.ball_vx < 0
        return turned and action != 0 and abs(state.ball_vy) == SPIN and outcome.state.ball_vy == SPIN


def _clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def _meets(y: int, paddle_y: int) -> bool:
    """Whether ball and paddle have a height in common."""
    return y + BALL > paddle_y and y < paddle_y + PADDLE_HEIGHT
