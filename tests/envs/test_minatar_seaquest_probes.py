"""minatar_seaquest's scripted policies, and how it is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from minatar.gym import BaseEnv

from simulacrum.contract.package import load_package

PACKAGE = load_package("minatar_seaquest")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
STAY, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
Enemies = dict[tuple[int, int], int]  # (row, column): digit, of a fish any


def at(x: int = 4, y: int = 4, fish: Enemies | None = None, subs: Enemies | None = None, **changes: Any) -> Any:
    """Enemies that move in two steps."""

    def planes(enemies: Enemies, base: int) -> Any:
        lanes = tuple(sum(base**x * digit for (y, x), digit in enemies.items() if y == row) for row in range(1, 9))
        return tuple(lanes if m == 2 else (0,) * 8 for m in range(6))

    base: dict[str, Any] = {"player_x": x, "player_y": y, "faces_right": True, "oxygen": 100, "diver_count": 0}
    base |= {"fire_timer": 0, "spawn_timer": 9, "ramp_index": 3, "last_action": STAY, "to_right": (False,) * 8}
    base |= {"shots_left": (0,) * 9, "shots_right": (0,) * 9, "bombs_left": (0,) * 8, "bombs_right": (0,) * 8}
    base |= {"fish": planes(fish or {}, 2), "subs": planes(subs or {}, 16)}
    base |= {"diver_x": (0, 0), "diver_y": (0, 0), "diver_right": (False, False)}
    return PACKAGE.reference().State(**base | changes)


ONE_DIVER: dict[str, Any] = {"diver_x": (6, 0), "diver_y": (2, 0)}


@pytest.mark.parametrize(
    ("name", "state", "action"),
    [
        ("stay", at(), STAY),
        ("dive", at(y=0), DOWN),
        ("rescue", at(), STAY),
        ("rescue", at(x=2), RIGHT),
        ("rescue", at(**ONE_DIVER), UP),
        ("rescue", at(y=2, **ONE_DIVER), RIGHT),
        ("rescue", at(diver_count=6, **ONE_DIVER), UP),
        ("rescue", at(oxygen=30, diver_count=1), UP),
        ("rescue", at(oxygen=30), STAY),
        ("rescue", at(y=1, diver_x=(4, 0), diver_y=(1, 0)), STAY),
        ("rescue", at(fish={(4, 8): 1}), FIRE),
        ("rescue", at(fish={(4, 8): 1}, fire_timer=2), STAY),
        ("rescue", at(subs={(4, 1): 5}, fire_timer=2), STAY),  # it moves away
        ("rescue", at(subs={(4, 5): 5}), LEFT),
        ("rescue", at(bombs_left=(0, 0, 0, 1 << 6, 0, 0, 0, 0)), LEFT),
        ("deep", at(oxygen=30, diver_count=6), STAY),
        ("dip", at(y=1, diver_count=-1), UP),
        ("dip", at(y=0, diver_count=-1), DOWN),
        ("dip", at(diver_count=6), UP),
    ],
)
def test_what_they_do(name: str, state: Any, action: int) -> None:
    assert PROBES[name].act(None, state, 0) == action


@pytest.mark.parametrize("name", ["deep", "dip", "rescue"])
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = (float(x) for x in re.findall(r"\d+\.\d+", probe.why)[:2])
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(max(mean - half, 0.0), abs=0.02)
    assert probe.high == pytest.approx(mean + half, abs=0.02)


@pytest.mark.parametrize(("name", "episodes"), [("stay", 1), ("dive", 20), ("deep", 8), ("dip", 6), ("rescue", 3)])
def test_the_reference_earns_it(name: str, episodes: int, play: Callable[..., Any]) -> None:
    """On fewer episodes than the battery plays, in an interval that is wider in proportion."""
    probe = PROBES[name]
    returns = play("minatar_seaquest", replace(probe, episodes=episodes))
    middle, half = (probe.low + probe.high) / 2, (probe.high - probe.low) / 2
    assert abs(sum(returns) / episodes - middle) <= half * (probe.episodes / episodes) ** 0.5


def busy() -> Any:
    return at(
        x=5, y=3, faces_right=False, fish={(1, 2): 1, (3, 6): 1, (8, 0): 1}, subs={(5, 9): 3, (6, 1): 4},
        shots_left=(0, 0, 0, 4, 0, 0, 0, 0, 0), bombs_right=(0, 0, 0, 0, 0, 8, 0, 0),
        diver_x=(7, 1), diver_y=(7, 5), diver_right=(True, True), oxygen=150, diver_count=2,
        to_right=(False, False, False, False, False, True, False, False),
    )  # fmt: skip


def test_text() -> None:
    lines = PACKAGE.module("render").text(busy()).split("\n")
    assert lines[:4] == [". . . . . . . . . .", ". . f ' . . . . . .", ". . . . . . . . . .", ". . - . . P f ' . ."]
    assert lines[5:8] == ["' D . . . . . . . s", "' s . * . . . . . .", ". . . . . . ' D . ."]
    assert lines[8:] == ["f ' . . . . . . . .", "= = = = = = = d d .", "oxygen 150, 2 divers on board, level 3"]


def test_image_has_the_colours_of_minatar() -> None:
    env: Any = BaseEnv("seaquest", render_mode="rgb_array")
    state, game = busy(), env.game.env
    game.__dict__.update(PACKAGE.reference()._put(state, 31).env.__dict__)
    image = PACKAGE.module("render").rgb(state)
    assert (image.shape, image.dtype) == ((320, 320, 3), np.uint8)
    assert np.array_equal(image[16::32, 16::32], np.round(255 * env.render()).astype(np.uint8))
