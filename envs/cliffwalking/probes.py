"""Scripted policies of cliffwalking where it is not slippery: each has one return."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3


def along_the_edge(observation: Any, state: Any, t: int) -> int:
    """The shortest way: up, eleven cells along the cliff, down."""
    if state.row == 3:
        return UP
    return RIGHT if state.column < 11 else DOWN


def at_the_top(observation: Any, state: Any, t: int) -> int:
    """As far from the cliff as there is room, as Sutton and Barto's Sarsa does."""
    if state.column == 11:
        return DOWN
    return UP if state.row > 0 else RIGHT


def stay_at_the_start(observation: Any, state: Any, t: int) -> int:
    return LEFT


def fall_first(observation: Any, state: Any, t: int) -> int:
    """Into the cliff from the start and from above, then the shortest way."""
    if t == 0:
        return RIGHT
    if t < 5:
        return (UP, RIGHT, RIGHT, DOWN)[t - 1]
    return along_the_edge(observation, state, t)


PROBES = [
    Probe(name="along_the_edge", act=along_the_edge, low=-13.0, high=-13.0, episodes=8,
          why="13 steps of -1: no way is shorter"),
    Probe(name="at_the_top", act=at_the_top, low=-17.0, high=-17.0, episodes=8, why="17 steps of -1"),
    Probe(name="stay_at_the_start", act=stay_at_the_start, low=-200.0, high=-200.0, episodes=8,
          why="200 steps of -1, the time limit"),
    Probe(name="fall_first", act=fall_first, low=-216.0, high=-216.0, episodes=8,
          why="two falls of -100, three steps of -1 between them, and the 13 of the shortest way"),
]  # fmt: skip
