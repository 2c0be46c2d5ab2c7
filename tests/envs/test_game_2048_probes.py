"""game_2048's scripted policies, and how it is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulacrum.contract.package import load_package

PACKAGE = load_package("game_2048")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
UP, RIGHT, DOWN, LEFT = range(4)
Rows = dict[int, tuple[int, ...]]


def at(rows: Rows, score: int = 0) -> Any:
    return PACKAGE.reference().State(tuple(rows.get(row, (0, 0, 0, 0)) for row in range(4)), score)


def measured(probe: Any) -> tuple[float, float]:
    """Mean and standard deviation that a probe's sentence tells."""
    told = re.search(r"measured (\S+) over .* deviation ([\d,.]+)\)", probe.why)
    assert told is not None
    mean, deviation = (float(number.replace(",", "")) for number in told.groups())
    return mean, deviation


@pytest.mark.parametrize(
    ("name", "state", "t", "action"),
    [
        ("turn", at({0: (1, 2, 0, 0)}), 5, RIGHT),
        ("corner", at({0: (0, 2, 0, 0)}), 0, LEFT),
        ("corner", at({0: (1, 2, 0, 0)}), 0, DOWN),
        ("corner", at({3: (1, 2, 0, 0)}), 0, RIGHT),
        ("corner", at({3: (1, 2, 2, 0)}), 0, LEFT),
        ("corner", at({3: (1, 2, 1, 2)}), 0, UP),
    ],
)
def test_what_they_do(name: str, state: Any, t: int, action: int) -> None:
    assert PROBES[name].act(None, state, t) == action


@pytest.mark.parametrize(
    "state", [at({0: (1, 2, 0, 0)}), at({3: (1, 2, 1, 2)}), at({0: (2, 1, -1, -1), 1: (0, 2, -1, -1)})]
)
def test_any_move_takes_each_that_does_something(state: Any) -> None:
    taken = [PROBES["any_move"].act(None, state, t) for t in range(200)]
    able = {action for action, able in enumerate(PACKAGE.reference().action_mask(state, None)) if able}
    assert set(taken) == able
    assert all(taken.count(action) > 200 / len(able) / 2 for action in able)
    assert taken == [PROBES["any_move"].act(None, state, t) for t in range(200)]


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = measured(probe)
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(max(mean - half, 0.0), abs=0.2)
    assert probe.high == pytest.approx(mean + half, abs=0.2)


@pytest.mark.parametrize(("name", "episodes"), [("turn", 10), ("any_move", 10), ("corner", 4)])
def test_the_reference_earns_it(name: str, episodes: int, play: Callable[..., Any]) -> None:
    """On fewer episodes than the battery plays, in an interval that is wider in proportion."""
    probe = PROBES[name]
    returns = play("game_2048", replace(probe, episodes=episodes))
    mean, deviation = measured(probe)
    assert abs(sum(returns) / episodes - mean) <= 5 * deviation / episodes**0.5


def test_text() -> None:
    text = PACKAGE.module("render").text
    assert text(at({0: (1, 0, 0, 11), 3: (0, 15, 3, 0)}, score=12345)).split("\n") == [
        "    2     .     .  2048",
        "    .     .     .     .",
        "    .     .     .     .",
        "    . 32768     8     .",
        "score 12,345",
    ]
    outside = (-1,) * 4
    small = at({0: (1, 0, -1, -1), 1: (0, 5, -1, -1), 2: outside, 3: outside})
    assert text(small).split("\n") == ["   2    .", "   .   32", "score 0"]


def test_every_tile_looks_different() -> None:
    images = [PACKAGE.module("render").rgb(at({1: (0, power, 0, 0)})) for power in range(16)]
    for image in images:
        assert (image.shape, image.dtype) == ((328, 328, 3), np.uint8)
        assert np.array_equal(image[:80], images[0][:80])  # the row above
    assert len({image.tobytes() for image in images}) == 16
