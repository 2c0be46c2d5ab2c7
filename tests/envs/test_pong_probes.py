"""pong's scripted policies: returns that are known exactly, and what they do on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simulacrum.contract.package import load_package
from simulacrum.twin.state import load_state

PACKAGE = load_package("pong")
MODULE = PACKAGE.module("probes")
PROBES = {probe.name: probe for probe in MODULE.PROBES}
STILL, UP, DOWN = 0, 1, 2


def at(**changes: int) -> Any:
    values = {"left_y": 285, "right_y": 285, "ball_x": 408, "ball_y": 304, "ball_vx": 10, "ball_vy": 0}
    values = {**values, "left_score": 0, "right_score": 0, **changes}
    return load_state(PACKAGE.schema, {**values, "shown": list(values.values())})


# Each return: 21 rounds of -1 and one bounce; 21 of -1; 21 of 1 and three bounces; 84 bounces.
@pytest.mark.parametrize(
    ("name", "episodes", "value"), [("still", 4, -18.9), ("up", 4, -21.0), ("attack", 4, 27.3), ("rally", 1, 8.4)]
)
def test_the_reference_earns_it(name: str, episodes: int, value: float, play: Callable[..., Any]) -> None:
    probe = replace(PROBES[name], episodes=episodes)
    returns = play("pong", probe)
    assert returns == pytest.approx([value] * episodes, abs=1e-4)
    assert probe.low <= value <= probe.high


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (at(), (7, 304, 0)),
        (at(ball_x=468), (1, 304, 0)),
        (at(ball_vy=-2), (7, 290, -2)),
        (at(ball_y=3, ball_vy=-2), (7, 9, 2)),  # -1 after two frames, then up again
        (at(ball_x=8, ball_vx=-10), (49, 304, 0)),  # beyond the left edge in the first frame, then to the right
    ],
)
def test_arrival(state: Any, expected: tuple[int, int, int]) -> None:
    assert MODULE.arrival(state) == expected


@pytest.mark.parametrize(
    ("name", "state", "action"),
    [
        ("attack", at(ball_vy=5, right_y=285), UP),
        ("attack", at(ball_vy=-5, right_y=285), DOWN),
        ("attack", at(ball_vy=5, right_y=330), STILL),  # moving up it would be missed
        ("rally", at(ball_vy=5, right_y=330), STILL),
        ("rally", at(ball_x=228, right_y=100), UP),
        ("rally", at(ball_x=228, right_y=500), DOWN),
    ],
)
def test_choices(name: str, state: Any, action: int) -> None:
    assert PROBES[name].act(None, state, 0) == action
