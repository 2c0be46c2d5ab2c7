"""Scripted policies of minigrid_lavagap in the default room: the quickest way, and ways that come to nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from simulacrum.twin.probe import Probe

LEFT, RIGHT, FORWARD, DONE = 0, 1, 2, 6
SOUTH = 1
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
Node = tuple[int, int, int]  # x, y, direction


def shortest(observation: Any, state: Any, t: int) -> int:
    """A quickest way to the goal that keeps out of the lava, by a map of everything."""
    return plan_of(state.size, state.gap_x, state.gap_y)[state.x, state.y, state.direction][1]


@lru_cache
def plan_of(size: int, gap_x: int, gap_y: int) -> dict[Node, tuple[int, int]]:
    """How many steps it is to the goal from everywhere, and the next of them: backwards from the goal."""
    inside = range(1, size - 1)
    floor = {(x, y) for x in inside for y in inside if x != gap_x or y == gap_y}
    plan = {(size - 2, size - 2, d): (0, DONE) for d in range(4)}
    edge = list(plan)
    while edge:
        found: list[Node] = []
        for x, y, d in edge:
            before = [((x, y, (d + 1) % 4), LEFT), ((x, y, (d + 3) % 4), RIGHT)]
            before.append(((x - WAYS[d][0], y - WAYS[d][1], d), FORWARD))
            for node, action in before:
                if node[:2] in floor and node not in plan:
                    plan[node] = (plan[x, y, d][0] + 1, action)
                    found.append(node)
        edge = found
    return plan


def into_the_lava(observation: Any, state: Any, t: int) -> int:
    """Straight ahead where that is lava; else down a row first, and then ahead."""
    if state.direction == SOUTH:
        return FORWARD if state.y == state.gap_y else LEFT
    return RIGHT if state.y == state.gap_y else FORWARD


def spin(observation: Any, state: Any, t: int) -> int:
    return LEFT


PROBES = [
    Probe(
        name="shortest",
        act=shortest,
        low=0.95040,
        high=0.95409,
        episodes=100,
        why="exact expectation over all gaps 0.952245, plus and minus 5 standard errors of 0.003673 / sqrt(100)",
    ),
    Probe(name="into_the_lava", act=into_the_lava, low=0.0, high=0.0, episodes=8, why="lava ends it, and pays nothing"),
    Probe(name="spin", act=spin, low=0.0, high=0.0, episodes=4, why="it never leaves its cell, so time cuts it"),
]
