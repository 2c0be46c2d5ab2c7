"""Scripted policies of pong, at 8 frames a step. What does not look at the ball has the same return in every game."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

from . import (
    BALL,
    BALL_RIGHT,
    BALL_TOP,
    HALF_BALL,
    HALF_PADDLE,
    MOST_FRAMES,
    PADDLE_HEIGHT,
    PADDLE_HIGH,
    PADDLE_LOW,
    PADDLE_SPEED,
)

STILL, UP, DOWN = 0, 1, 2
DIRECTIONS = {STILL: 0, UP: 1, DOWN: -1}


def still(observation: Any, state: Any, t: int) -> int:
    """Never moves. Every serve hits the paddle; what the opponent returns passes below or above it."""
    return STILL


def up(observation: Any, state: Any, t: int) -> int:
    """Goes to the upper wall, where no serve comes."""
    return UP


def attack(observation: Any, state: Any, t: int) -> int:
    """Meets every ball while moving the way it flies, which makes it faster, until the opponent is too slow."""
    frames, y, vy = arrival(state)
    return _meet(state.right_y, frames, y, 1 if vy >= 0 else -1)


def rally(observation: Any, state: Any, t: int) -> int:
    """Meets every ball standing still, so that it never becomes faster and nobody misses."""
    frames, y, _ = arrival(state)
    return _meet(state.right_y, frames, y, 0)


def arrival(state: Any) -> tuple[int, int, int]:
    """(frames until the ball is at the agent's edge, its height there, its vertical speed), by way of the opponent."""
    x, y, vx, vy, frames = state.ball_x, state.ball_y, state.ball_vx, state.ball_vy, 0
    while x <= BALL_RIGHT:
        x, y, frames = x + vx, y + vy, frames + 1
        vy = 0 - vy if y < 0 or y > BALL_TOP else vy
        vx = 0 - vx if x < 0 else vx
    return frames, y, vy


def _meet(paddle: int, frames: int, y: int, direction: int) -> int:
    """The action that meets a ball at height `y` after so many frames, moving in `direction` if that can be."""
    last = (frames - 1) % MOST_FRAMES + 1  # frames of the step in which the ball arrives
    if frames > MOST_FRAMES:
        goal = _inside(y + HALF_BALL - HALF_PADDLE - PADDLE_SPEED * direction * last)
        return min(DIRECTIONS, key=lambda action: abs(_moved(paddle, action, MOST_FRAMES) - goal))
    meets = [action for action in DIRECTIONS if _touches(y, _moved(paddle, action, frames))]
    wanted = [action for action in meets if DIRECTIONS[action] == direction]
    return (wanted or meets or [STILL])[0]


def _moved(paddle: int, action: int, frames: int) -> int:
    return _inside(paddle + PADDLE_SPEED * DIRECTIONS[action] * frames)


def _inside(paddle: int) -> int:
    return min(max(paddle, PADDLE_LOW), PADDLE_HIGH)


def _touches(y: int, paddle: int) -> bool:
    return y + BALL > paddle and y < paddle + PADDLE_HEIGHT


PROBES = [
    Probe(
        name="still", act=still, low=-18.901, high=-18.899, episodes=24,
        why="a paddle that stays in the middle meets every serve, straight or down, which goes on with the vertical "
        "speed 3 or -1; the opponent returns it, and 132 frames after the serve it is out of reach: 21 rounds of -1 "
        "and one return",
    ),
    Probe(
        name="up", act=up, low=-21.001, high=-20.999, episodes=16,
        why="a paddle at the upper wall is never near a serve, which is lost after 37 frames: 21 rounds of -1",
    ),
    Probe(
        name="attack", act=attack, low=27.299, high=27.301, episodes=24,
        why="played by hand for either serve: three returns, each 3 faster, and the opponent misses; "
        "21 rounds of 1 and three returns of 0.1",
    ),
    Probe(
        name="rally", act=rally, low=8.399, high=8.401, episodes=6,
        why="a serve takes 37 frames to the agent and a ball 95 frames to the opponent and back; in the 8000 frames "
        "of 1000 steps these are 84 returns of 0.1, and no point",
    ),
]  # fmt: skip
