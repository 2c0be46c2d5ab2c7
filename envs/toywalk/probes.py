"""Scripted policies of toywalk. Each interval is the exact expectation plus and minus 5 standard errors.

Expectation and standard deviation follow from the spec by dynamic programming over `t` and `position`. They
are computed in tests/envs/test_toywalk_probes.py, which holds the intervals to them.
"""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

LEFT, RIGHT = 0, 1


def always_right(observation: Any, state: Any, t: int) -> int:
    return RIGHT


def dither(observation: Any, state: Any, t: int) -> int:
    """Right and left in turn: goes nowhere but for slips, so that most episodes run into the time limit."""
    return LEFT if t % 2 else RIGHT


PROBES = [
    Probe(
        name="always_right",
        act=always_right,
        low=4.34,
        high=5.16,
        episodes=1000,
        why="exact expectation 4.7500, plus and minus 5 standard errors of 2.577 / sqrt(1000)",
    ),
    Probe(
        name="dither",
        act=dither,
        low=-49.43,
        high=-38.98,
        episodes=500,
        why="exact expectation -44.2041, plus and minus 5 standard errors of 23.350 / sqrt(500)",
    ),
]
