"""Scripted policies of forager. Each interval is a measured mean plus and minus five standard errors.

The means were measured on the reference, on the first episodes of the rows seeded from 1,000,000 on.
"""

from __future__ import annotations

import hashlib
from typing import Any

from simulacrum.twin.probe import Probe

from . import BERRIES

NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3


def scatter(observation: Any, state: Any, t: int) -> int:
    """As good as a uniformly random action, yet a function of its arguments: a hash of `t` and the state."""
    seen = (t, state.x, state.y, state.berry_x, state.berry_y, state.berry_kind, state.alive)
    return hashlib.blake2b(repr(seen).encode(), digest_size=1).digest()[0] % 4


def greedy(observation: Any, state: Any, t: int) -> int:
    """One step towards the nearest living berry: along x first, then y; of equally near ones the lowest k.

    A berry underfoot, which only the start of an episode can bring, is the nearest: the step goes north, and
    the next one back (or, at the northern edge, the first step already ends on the berry's cell).
    """
    k = min((k for k in range(BERRIES) if state.alive[k]), key=lambda k: _distance(state, k))
    if state.berry_x[k] != state.x:
        return EAST if state.berry_x[k] > state.x else WEST
    return SOUTH if state.berry_y[k] < state.y else NORTH


def _distance(state: Any, k: int) -> int:
    return abs(state.berry_x[k] - state.x) + abs(state.berry_y[k] - state.y)


PROBES = [
    Probe(
        name="scatter",
        act=scatter,
        low=-3.23,
        high=-2.15,
        episodes=400,
        why="measured -2.694 over 40,000 other episodes (standard deviation 2.139), "
        "plus and minus 5 standard errors of 400 episodes",
    ),
    Probe(
        name="greedy",
        act=greedy,
        low=8.26,
        high=8.96,
        episodes=1000,
        why="measured 8.611 over 100,000 other episodes (standard deviation 2.157), "
        "plus and minus 5 standard errors of 1000 episodes",
    ),
]
