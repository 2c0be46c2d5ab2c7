"""Scripted policies of minatar_breakout, and what they break before the ball is missed."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

from . import LEFT, RIGHT, SIZE

STAY, FIRE = 0, 5


def idle(observation: Any, state: Any, t: int) -> int:
    """Fire in vain: the ball comes down beside the paddle."""
    return FIRE


def under(observation: Any, state: Any, t: int) -> int:
    """Follow the ball: be in its column."""
    return towards(state, state.ball_x)


def ahead(observation: Any, state: Any, t: int) -> int:
    """Be where the ball will be next, unless it meets a brick. Whoever is late is then still in its column."""
    to_the_right = state.ball_dir in (1, 2)
    return towards(state, min(max(state.ball_x + (1 if to_the_right else -1), 0), SIZE - 1))


def towards(state: Any, column: int) -> int:
    return LEFT if column < state.pos else RIGHT if column > state.pos else STAY


PROBES = [
    Probe(
        name="idle",
        act=idle,
        low=0.37,
        high=0.63,
        episodes=400,
        why="exact: the ball that starts at one side breaks a brick before it is missed, the other none; "
        "0.500 (standard deviation 0.500), plus and minus 5 standard errors of 400 episodes",
    ),
    Probe(
        name="under",
        act=under,
        low=3.94,
        high=13.45,
        episodes=100,
        why="measured 8.695 over 10,000 episodes of MinAtar's own program (standard deviation 9.504), "
        "plus and minus 5 standard errors of 100 episodes",
    ),
    Probe(
        name="ahead",
        act=ahead,
        low=13.70,
        high=55.29,
        episodes=24,
        why="measured 34.496 over 3,000 episodes of MinAtar's own program (standard deviation 20.375), "
        "plus and minus 5 standard errors of 24 episodes",
    ),
]
