"""minatar_breakout's scripted policies, and how it is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from minatar.gym import BaseEnv

from simulacrum.contract.package import load_package

PACKAGE = load_package("minatar_breakout")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
NOTHING, LEFT, RIGHT, FIRE = 0, 1, 3, 5


def at(**changes: Any) -> Any:
    base: dict[str, Any] = {"ball_x": 4, "ball_y": 5, "ball_dir": 2, "last_x": 3, "last_y": 4, "pos": 4}
    return PACKAGE.reference().State(**base | {"bricks": (1023, 6, 0), "strike": False, "last_action": 0} | changes)


@pytest.mark.parametrize(
    ("name", "changes", "action"),
    [
        ("idle", {}, FIRE),
        ("under", {}, NOTHING),
        ("under", {"pos": 5}, LEFT),
        ("under", {"pos": 3}, RIGHT),
        ("ahead", {}, RIGHT),
        ("ahead", {"ball_dir": 3}, LEFT),
        ("ahead", {"ball_dir": 0, "pos": 3}, NOTHING),
        ("ahead", {"ball_x": 9, "pos": 9}, NOTHING),
        ("ahead", {"ball_x": 0, "pos": 0, "ball_dir": 3}, NOTHING),
    ],
)
def test_what_they_do(name: str, changes: dict[str, Any], action: int) -> None:
    assert PROBES[name].act(None, at(**changes), 0) == action


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = (float(x) for x in re.findall(r"\d+\.\d+", probe.why)[:2])
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(mean - half, abs=0.02)
    assert probe.high == pytest.approx(mean + half, abs=0.02)


@pytest.mark.parametrize(("name", "episodes"), [("idle", 100), ("under", 12), ("ahead", 3)])
def test_the_reference_earns_it(name: str, episodes: int, play: Callable[..., Any]) -> None:
    """On fewer episodes than the battery plays, in an interval that is wider in proportion."""
    probe = PROBES[name]
    returns = play("minatar_breakout", replace(probe, episodes=episodes))
    middle, half = (probe.low + probe.high) / 2, (probe.high - probe.low) / 2
    assert abs(sum(returns) / episodes - middle) <= half * (probe.episodes / episodes) ** 0.5


def test_text() -> None:
    assert PACKAGE.module("render").text(at()).split("\n") == [
        ". . . . . . . . . .",
        "# # # # # # # # # #",
        ". # # . . . . . . .",
        ". . . . . . . . . .",
        ". . . ' . . . . . .",
        ". . . . o . . . . .",
        *[". . . . . . . . . ."] * 3,
        ". . . . = . . . . .",
        "12 bricks, the ball goes down and right",
    ]


def test_image_has_the_colours_of_minatar() -> None:
    """Each cell's middle beside MinAtar's own picture of the same state, ball on its trail included."""
    env: Any = BaseEnv("breakout", render_mode="rgb_array")
    game, state = env.game.env, at(last_x=4, last_y=5)
    for name in ("ball_x", "ball_y", "last_x", "last_y", "pos"):
        setattr(game, name, getattr(state, name))
    game.brick_map[2, [0, *range(3, 10)]] = game.brick_map[3] = 0
    image = PACKAGE.module("render").rgb(state)
    assert (image.shape, image.dtype) == ((320, 320, 3), np.uint8)
    assert np.array_equal(image[16::32, 16::32], np.round(255 * env.render()).astype(np.uint8))
