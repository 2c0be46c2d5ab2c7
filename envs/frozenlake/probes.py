"""Scripted policies of frozenlake on Gymnasium's map "4x4", which is slippery.

What each earns within 100 steps is computed from Gymnasium's table of transitions, exactly but for float64 rounding;
tests/envs/test_frozenlake_probes.py does it.
"""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

LEFT, DOWN, RIGHT, UP = 0, 1, 2, 3
# The action in each cell that leads to the goal most often if there is all the time in the world.
BEST = (LEFT, UP, UP, UP, LEFT, LEFT, LEFT, LEFT, UP, DOWN, LEFT, LEFT, LEFT, RIGHT, DOWN, LEFT)


def best(observation: Any, state: Any, t: int) -> int:
    return BEST[observation % len(BEST)]  # on larger maps, where it is not the best, something all the same


def down_and_right(observation: Any, state: Any, t: int) -> int:
    """The way along the ice as if it were not slippery: down, down, right, down, right, right."""
    return DOWN if observation in (0, 4, 9) else RIGHT


def left(observation: Any, state: Any, t: int) -> int:
    """Against the wall: it slides up and down the first column, which has a hole and no goal."""
    return LEFT


PROBES = [
    Probe(
        name="best", act=best, low=0.6708, high=0.8095, episodes=1000,
        why="exact expectation 0.7402, plus and minus 5 standard errors of 0.4386 / sqrt(1000)",
    ),
    Probe(
        name="down_and_right", act=down_and_right, low=0.0078, high=0.0682, episodes=1000,
        why="exact expectation 0.0380, plus and minus 5 standard errors of 0.1911 / sqrt(1000)",
    ),
    Probe(name="left", act=left, low=0.0, high=0.0, episodes=200, why="exact expectation 0.0: no goal is there"),
]  # fmt: skip
