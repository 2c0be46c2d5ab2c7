"""One policy of canary, with what it earns by hand: climbing from 0, 1 or 2, pushed half of the time."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe


def climb(observation: Any, state: Any, t: int) -> int:
    return 1


PROBES = [Probe(name="climb", act=climb, low=2.5, high=4.5, episodes=60, why="between a slow and a quick climb")]
