"""minatar_spaceinvaders' scripted policies, and how it is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from minatar.gym import BaseEnv

from simulacrum.contract.package import load_package

PACKAGE = load_package("minatar_spaceinvaders")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
STAY, LEFT, RIGHT, FIRE = 0, 1, 3, 5


def at(
    aliens: dict[int, int], bombs: dict[int, int] | None = None, shots: dict[int, int] | None = None, **changes: Any
) -> Any:
    maps = [tuple((bits or {}).get(row, 0) for row in range(10)) for bits in (shots, bombs, aliens)]
    state = PACKAGE.reference().State(5, *maps, False, 0, 3, 4, 0, STAY)
    return state.replace(**changes)


@pytest.mark.parametrize(
    ("name", "state", "action"),
    [
        ("wait", at({0: 32}), LEFT),
        ("fire", at({0: 32}), FIRE),
        ("gunner", at({6: 32}), FIRE),
        ("gunner", at({6: 32}, fire_timer=2), STAY),
        ("gunner", at({0: 32}), STAY),  # it will have marched on
        ("gunner", at({0: 64}, move_timer=7), RIGHT),
        ("gunner", at({3: 256, 4: 64}), FIRE),  # it will have come
        ("gunner", at({0: 1}), LEFT),
        ("gunner", at({0: 512}), RIGHT),
        ("gunner", at({0: 32}, {8: 32}), LEFT),
        ("gunner", at({0: 32}, {8: 48}), RIGHT),
        ("gunner", at({0: 32}, {8: 112, 3: 32}), STAY),  # nowhere to go
        ("gunner", at({0: 32}, {8: 32, 5: 80}), LEFT),
    ],
)
def test_what_they_do(name: str, state: Any, action: int) -> None:
    assert PROBES[name].act(None, state, 0) == action


@pytest.mark.parametrize("name", ["fire", "gunner"])
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = (float(x) for x in re.findall(r"\d+\.\d+", probe.why)[:2])
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(mean - half, abs=0.02)
    assert probe.high == pytest.approx(mean + half, abs=0.02)


@pytest.mark.parametrize(("name", "episodes"), [("wait", 2), ("fire", 30), ("gunner", 2)])
def test_the_reference_earns_it(name: str, episodes: int, play: Callable[..., Any]) -> None:
    """On fewer episodes than the battery plays, in an interval that is wider in proportion."""
    probe = PROBES[name]
    returns = play("minatar_spaceinvaders", replace(probe, episodes=episodes))
    middle, half = (probe.low + probe.high) / 2, (probe.high - probe.low) / 2
    assert abs(sum(returns) / episodes - middle) <= half * (probe.episodes / episodes) ** 0.5


def test_text() -> None:
    lines = PACKAGE.module("render").text(at({1: 3}, {0: 2, 9: 256}, {2: 4})).split("\n")
    assert lines[:3] == [". * . . . . . . . .", "< < . . . . . . . .", ". . | . . . . . . ."]
    assert lines[9:] == [". . . . . A . . * .", "2 aliens, they move in 3 steps and shoot in 4"]


@pytest.mark.parametrize("to_right", [True, False])
def test_image_has_the_colours_of_minatar(to_right: bool) -> None:
    env: Any = BaseEnv("space_invaders", render_mode="rgb_array")
    game = env.game.env
    state = at({0: 252, 4: 17}, {0: 4, 9: 256}, {2: 4, 0: 12}, to_right=to_right)
    for name, rows in (("alien_map", state.aliens), ("f_bullet_map", state.shots), ("e_bullet_map", state.bombs)):
        getattr(game, name)[:] = [[row >> x & 1 for x in range(10)] for row in rows]
    game.alien_dir = 1 if to_right else -1
    image = PACKAGE.module("render").rgb(state)
    assert (image.shape, image.dtype) == ((320, 320, 3), np.uint8)
    assert np.array_equal(image[16::32, 16::32], np.round(255 * env.render()).astype(np.uint8))
