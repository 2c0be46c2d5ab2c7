"""Scripted policies of minigrid_fourrooms: the quickest way, and none at all."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from simulacrum.twin.probe import Probe

from . import SIZE

LEFT, RIGHT, FORWARD, DONE = 0, 1, 2, 6
MIDDLE = SIZE // 2
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
UNREACHED = 255
Gaps = tuple[int, int, int, int]  # top, left, right, bottom


def shortest(observation: Any, state: Any, t: int) -> int:
    """A quickest way to the goal, by a map of everything."""
    gaps = (state.gap_top, state.gap_left, state.gap_right, state.gap_bottom)
    return plan_of(gaps, state.goal_x, state.goal_y)[1][number(state.x, state.y, state.direction)]


def number(x: int, y: int, direction: int) -> int:
    """Of a place and direction in a plan."""
    return (y * SIZE + x) * 4 + direction


@lru_cache(maxsize=4096)
def plan_of(gaps: Gaps, goal_x: int, goal_y: int) -> tuple[bytes, bytes]:
    """How many steps it is to the goal from everywhere, and the next of them, by `number`: backwards from the goal."""
    floor = floor_of(gaps)
    steps, actions = bytearray([UNREACHED]) * (4 * SIZE * SIZE), bytearray([DONE]) * (4 * SIZE * SIZE)
    edge = [(goal_x, goal_y, d) for d in range(4)]
    for node in edge:
        steps[number(*node)] = 0
    taken = 0
    while edge:
        found: list[tuple[int, int, int]] = []
        taken += 1
        for x, y, d in edge:
            before = [((x, y, (d + 1) % 4), LEFT), ((x, y, (d + 3) % 4), RIGHT)]
            before.append(((x - WAYS[d][0], y - WAYS[d][1], d), FORWARD))
            for node, action in before:
                if node[:2] in floor and steps[number(*node)] == UNREACHED:
                    steps[number(*node)], actions[number(*node)] = taken, action
                    found.append(node)
        edge = found
    return bytes(steps), bytes(actions)


@lru_cache(maxsize=64)
def floor_of(gaps: Gaps) -> set[tuple[int, int]]:
    """All places that are no walls."""
    top, left, right, bottom = gaps
    rooms = {(x, y) for x in range(1, SIZE - 1) for y in range(1, SIZE - 1) if MIDDLE not in (x, y)}
    return rooms | {(MIDDLE, top), (left, MIDDLE), (right, MIDDLE), (MIDDLE, bottom)}


def spin(observation: Any, state: Any, t: int) -> int:
    return LEFT


PROBES = [
    Probe(
        name="shortest",
        act=shortest,
        low=0.8236,
        high=0.8809,
        episodes=200,
        why="mean 0.8522, deviation 0.0662 over 4,000 starts of Python's generator; 5 standard errors of both each way",
    ),
    Probe(name="spin", act=spin, low=0.0, high=0.0, episodes=4, why="it never leaves its cell, so time cuts it"),
]
