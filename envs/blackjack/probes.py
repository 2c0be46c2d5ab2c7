"""Scripted policies of blackjack."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

STICK, HIT = 0, 1


def basic(observation: Any, state: Any, t: int) -> int:
    """The best policy under R9, as tests/envs/test_blackjack_probes.py computes it."""
    worth, dealer, usable = observation
    if usable:
        return STICK if worth >= 19 or (worth == 18 and dealer not in (9, 10, 1)) else HIT
    if worth >= 17:
        return STICK
    if worth == 12:
        return STICK if 4 <= dealer <= 6 else HIT
    return STICK if worth >= 13 and 2 <= dealer <= 6 else HIT


def from_20(observation: Any, state: Any, t: int) -> int:
    """Sutton and Barto's example: stick on 20 and 21 only."""
    return STICK if observation[0] >= 20 else HIT


def as_the_dealer(observation: Any, state: Any, t: int) -> int:
    return STICK if observation[0] >= 17 else HIT


def stick(observation: Any, state: Any, t: int) -> int:
    return STICK


def hit(observation: Any, state: Any, t: int) -> int:
    return HIT


PROBES = [
    Probe(name="basic", act=basic, low=-0.1301, high=0.0438, episodes=3000,
          why="exact expectation -0.0431, plus and minus 5 standard errors of 0.9524 / sqrt(3000)"),
    Probe(name="from_20", act=from_20, low=-0.4935, high=-0.2067, episodes=1000,
          why="exact expectation -0.3501, plus and minus 5 standard errors of 0.9067 / sqrt(1000)"),
    Probe(name="as_the_dealer", act=as_the_dealer, low=-0.2252, high=0.0735, episodes=1000,
          why="exact expectation -0.0759, plus and minus 5 standard errors of 0.9447 / sqrt(1000)"),
    Probe(name="stick", act=stick, low=-0.3344, high=-0.0314, episodes=1000,
          why="exact expectation -0.1829, plus and minus 5 standard errors of 0.9580 / sqrt(1000)"),
    Probe(name="hit", act=hit, low=-1.0, high=-1.0, episodes=100, why="who never sticks is bust in the end: -1.0"),
]  # fmt: skip
