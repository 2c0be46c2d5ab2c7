"""Scripted policies of taxi, dry and with a passenger that knows its mind.

What the two that end episodes earn is computed from Gymnasium's table of transitions, over all starts, exactly but for
float64 rounding; tests/envs/test_taxi_probes.py does it.
"""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

SOUTH, NORTH, EAST, WEST, PICK_UP, DROP_OFF = range(6)
PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))


def deliver(observation: Any, state: Any, t: int) -> int:
    """The shortest way, since every wall leaves the middle row free."""
    wanted = state.destination if state.passenger == 4 else state.passenger
    row, column = PLACES[wanted]
    if (state.row, state.column) == (row, column):
        return DROP_OFF if state.passenger == 4 else PICK_UP
    if state.column == column:
        return SOUTH if state.row < row else NORTH
    return _across(state, column)


def _across(state: Any, column: int) -> int:
    """Towards the column, along the row where no wall is in the way, else towards the middle row."""
    step = 1 if column > state.column else -1
    walls = {0: (1,), 1: (1,), 2: (), 3: (0, 2), 4: (0, 2)}[state.row]  # columns with a wall on their east
    if (state.column if step == 1 else state.column - 1) in walls:
        return SOUTH if state.row < 2 else NORTH
    return EAST if step == 1 else WEST


def hurry(observation: Any, state: Any, t: int) -> int:
    """As `deliver`, but first of all it picks up and drops off, wherever it is."""
    if t < 2:
        return (PICK_UP, DROP_OFF)[t]
    return deliver(observation, state, t)


def drive_north(observation: Any, state: Any, t: int) -> int:
    return NORTH


PROBES = [
    Probe(name="deliver", act=deliver, low=7.459, high=8.401, episodes=756,
          why="exact expectation 7.9300, plus and minus 5 standard errors of 2.5894 / sqrt(756)"),
    Probe(name="hurry", act=hurry, low=-12.618, high=-10.082, episodes=400,
          why="exact expectation -11.3500, plus and minus 5 standard errors of 5.0722 / sqrt(400)"),
    Probe(name="drive_north", act=drive_north, low=-200.0, high=-200.0, episodes=8,
          why="200 steps of -1, the time limit"),
]  # fmt: skip
