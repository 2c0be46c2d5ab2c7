"""Scripted policies of game_2048, and what they earn.

Their means were measured on the package gymnasium-2048 itself, with its own random numbers and no twin of ours.
"""

from __future__ import annotations

import random
from typing import Any

from simulacrum.twin.probe import Probe

from . import DOWN, LEFT, RIGHT, SIZE, UP

WAYS = {UP: (-1, 0), RIGHT: (0, 1), DOWN: (1, 0), LEFT: (0, -1)}
CORNER = (LEFT, DOWN, RIGHT, UP)  # the first that does something keeps high tiles in one corner


def turn(observation: Any, state: Any, t: int) -> int:
    """One after the other, whether it does anything or not."""
    return t % 4


def any_move(observation: Any, state: Any, t: int) -> int:
    """Any that does something, each equally likely. What it takes is drawn from the state and `t`."""
    able = [action for action in WAYS if does_something(state.board, action)]
    return random.Random(f"{state.board} {t}").choice(able)


def corner(observation: Any, state: Any, t: int) -> int:
    """The first of `CORNER` that does something."""
    return next(action for action in CORNER if does_something(state.board, action))


def does_something(board: Any, action: int) -> bool:
    """Whether a tile has a gap or an equal tile before it."""
    down, right = WAYS[action]
    cells = [(row, column) for row in range(SIZE) for column in range(SIZE)]
    steps = [(board[row][column], board[row + down][column + right]) for row, column in cells
             if 0 <= row + down < SIZE and 0 <= column + right < SIZE]  # fmt: skip
    return any(tile > 0 and before in (0, tile) for tile, before in steps)


PROBES = [
    Probe(name="turn", act=turn, low=1477.7, high=3216.1, episodes=40,
          why="measured 2,346.9 over 583 games of gymnasium-2048 0.1.2 (standard deviation 1,099.4), plus and "
              "minus 5 standard errors of 40 episodes"),
    Probe(name="any_move", act=any_move, low=682.6, high=1506.2, episodes=40,
          why="measured 1,094.4 over 444 games of gymnasium-2048 0.1.2 (standard deviation 520.9), plus and "
              "minus 5 standard errors of 40 episodes"),
    Probe(name="corner", act=corner, low=1474.5, high=3173.6, episodes=40,
          why="measured 2,324.1 over 366 games of gymnasium-2048 0.1.2 (standard deviation 1,074.6), plus and "
              "minus 5 standard errors of 40 episodes"),
]  # fmt: skip
