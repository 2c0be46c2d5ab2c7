"""Scripted policies of minigrid_empty, in the default room: the quickest way, by map and by sight, and none at all."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

LEFT, RIGHT, FORWARD = 0, 1, 2
EAST, SOUTH = 0, 1
WAY = 11  # steps from the corner to the goal of the default room: five forward, a turn, five forward
TIME = 256  # of the default room
EXACT = 1e-12  # what rounding may do to a mean of equal numbers


def straight(observation: Any, state: Any, t: int) -> int:
    """Along the upper wall, then down the right one: no way is quicker, since every way turns at least once."""
    if state.direction == EAST:
        return FORWARD if state.x < state.size - 2 else RIGHT
    return FORWARD if state.direction == SOUTH else LEFT


def by_sight(observation: Any, state: Any, t: int) -> int:
    """The same by what is seen alone: forward, and to the right before a wall."""
    wall_ahead = observation["image"][3][5][0] == 2
    return RIGHT if wall_ahead else FORWARD


def spin(observation: Any, state: Any, t: int) -> int:
    return LEFT


def paid(steps: int) -> float:
    return 1 - 0.9 * (steps / TIME)


PROBES = [
    Probe(
        name="straight",
        act=straight,
        low=paid(WAY) - EXACT,
        high=paid(WAY) + EXACT,
        episodes=8,
        why="ten cells and a turn: 11 of 256 steps, so 1 - 0.9 * 11 / 256 = 0.961328125",
    ),
    Probe(
        name="by_sight",
        act=by_sight,
        low=paid(WAY) - EXACT,
        high=paid(WAY) + EXACT,
        episodes=8,
        why="the wall ahead turns it where the goal's column begins: the way of `straight`",
    ),
    Probe(name="spin", act=spin, low=0.0, high=0.0, episodes=4, why="it never leaves its cell, so time cuts it"),
]
