"""minatar_asterix's scripted policies, and how it is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from minatar.gym import BaseEnv

from simulacrum.contract.package import load_package

PACKAGE = load_package("minatar_asterix")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
STAY, LEFT, UP, RIGHT, DOWN = range(5)
ENEMY, GOLD = 1, 2
Things = dict[int, tuple[int, int, bool]]  # by slot: kind, column, whether to the right


def at(things: Things, x: int = 5, y: int = 5) -> Any:
    kind, columns, to_right = zip(*(things.get(k, (0, 0, False)) for k in range(8)), strict=True)
    return PACKAGE.reference().State(x, y, kind, columns, to_right, 3, 2, STAY)


@pytest.mark.parametrize(
    ("name", "state", "action"),
    [
        ("stay", at({}), STAY),
        ("gather", at({}), UP),  # towards the middle
        ("gather", at({}, y=4), STAY),
        ("gather", at({4: (GOLD, 9, False)}), RIGHT),
        ("gather", at({4: (GOLD, 1, False)}), LEFT),
        ("gather", at({6: (GOLD, 5, False)}), DOWN),
        ("gather", at({4: (ENEMY, 4, True)}, y=5), UP),
        ("gather", at({4: (ENEMY, 4, False)}, y=4), STAY),
        ("gather", at({3: (ENEMY, 4, True), 4: (GOLD, 6, True), 5: (ENEMY, 6, False)}), RIGHT),
        ("gather", at({3: (ENEMY, 3, True), 4: (ENEMY, 4, True), 6: (GOLD, 5, True)}), DOWN),
    ],
)
def test_what_they_do(name: str, state: Any, action: int) -> None:
    assert PROBES[name].act(None, state, 0) == action


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = (float(x) for x in re.findall(r"\d+\.\d+", probe.why)[:2])
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(max(mean - half, 0.0), abs=0.02)
    assert probe.high == pytest.approx(mean + half, abs=0.02)


@pytest.mark.parametrize(("name", "episodes"), [("stay", 20), ("gather", 4)])
def test_the_reference_earns_it(name: str, episodes: int, play: Callable[..., Any]) -> None:
    """On fewer episodes than the battery plays, in an interval that is wider in proportion."""
    probe = PROBES[name]
    returns = play("minatar_asterix", replace(probe, episodes=episodes))
    middle, half = (probe.low + probe.high) / 2, (probe.high - probe.low) / 2
    assert abs(sum(returns) / episodes - middle) <= half * (probe.episodes / episodes) ** 0.5


def test_text() -> None:
    things: Things = {0: (ENEMY, 0, True), 3: (GOLD, 9, False), 4: (ENEMY, 4, False), 7: (GOLD, 4, True)}
    lines = PACKAGE.module("render").text(at(things)).split("\n")
    assert lines[1] == "x . . . . . . . . ."
    assert lines[4] == ". . . . . . . . . $"
    assert lines[5] == ". . . . x ' . . . ."  # the player is under the trail, as in MinAtar
    assert lines[8:] == [". . . ' $ . . . . .", ". . . . . . . . . .", "moves in 2 steps, something new in 3"]


def test_image_has_the_colours_of_minatar() -> None:
    env: Any = BaseEnv("asterix", render_mode="rgb_array")
    things: Things = {0: (ENEMY, 0, True), 3: (GOLD, 9, False), 4: (ENEMY, 5, False), 7: (GOLD, 4, True)}
    state = at(things, x=5, y=5)
    game = env.game.env
    game.entities = [
        [things[k][1], k + 1, things[k][2], things[k][0] == GOLD] if k in things else None for k in range(8)
    ]
    image = PACKAGE.module("render").rgb(state)
    assert (image.shape, image.dtype) == ((320, 320, 3), np.uint8)
    assert np.array_equal(image[16::32, 16::32], np.round(255 * env.render()).astype(np.uint8))
