"""Scripted policies of minigrid_dynamicobstacles in the default room: careful, careless, and on the spot."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

LEFT, RIGHT, FORWARD = 0, 1, 2
EAST, SOUTH = 0, 1
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def careful(observation: Any, state: Any, t: int) -> int:
    """Along the upper wall, then down the right one, and never towards a ball: it turns away and back."""
    wanted = EAST if state.x < state.size - 2 else SOUTH
    if state.direction != wanted:
        return RIGHT if (wanted - state.direction) % 4 == 1 else LEFT
    ahead = (state.x + WAYS[wanted][0], state.y + WAYS[wanted][1])
    return LEFT if ahead in zip(state.ball_x, state.ball_y, strict=True) else FORWARD


def charge(observation: Any, state: Any, t: int) -> int:
    """Straight on: what is in the way is walked into, a wall at last."""
    return FORWARD


def spin(observation: Any, state: Any, t: int) -> int:
    return LEFT


PROBES = [
    Probe(
        name="careful",
        act=careful,
        low=0.8978,
        high=0.9312,
        episodes=200,
        why="mean 0.9145, deviation 0.0345 over 1,500 episodes of minigrid itself; 5 standard errors of both each way",
    ),
    Probe(name="charge", act=charge, low=-1.0, high=-1.0, episodes=8, why="a ball or the wall at last ends it with -1"),
    Probe(name="spin", act=spin, low=0.0, high=0.0, episodes=2, why="who never goes forward never collides"),
]
