"""forager's scripted policies: what they do, and that their returns lie where the probes say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from simulacrum.contract.package import load_package
from simulacrum.twin.state import load_state

PACKAGE = load_package("forager")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3


def at(x: int, y: int, *berries: tuple[int, int]) -> Any:
    """A state with these living berries and the rest eaten."""
    cells = [*berries, *[(x, y)] * (6 - len(berries))]
    return load_state(
        PACKAGE.schema,
        {
            "x": x,
            "y": y,
            "energy": 1.0,
            "berry_x": [cell[0] for cell in cells],
            "berry_y": [cell[1] for cell in cells],
            "berry_kind": [0] * 6,
            "alive": [k < len(berries) for k in range(6)],
        },
    )


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (at(3, 3, (3, 6)), NORTH),
        (at(3, 3, (6, 3)), EAST),
        (at(3, 3, (3, 0)), SOUTH),
        (at(3, 3, (0, 3)), WEST),
        (at(3, 3, (4, 7)), EAST),  # x first, however far y is
        (at(3, 3, (7, 3), (3, 1)), SOUTH),  # the nearer one
        (at(3, 3, (1, 3), (5, 3)), WEST),  # of two equally near ones the first
        (at(3, 3, (5, 3), (1, 3)), EAST),
        (at(3, 3, (0, 0), (3, 3)), NORTH),  # underfoot: step off
        (at(3, 7, (0, 0), (3, 7)), NORTH),  # underfoot at the northern edge: bump into it
    ],
)
def test_greedy_goes_to_the_nearest(state: Any, action: int) -> None:
    assert PROBES["greedy"].act(None, state, 0) == action


def test_scatter_is_even_and_repeats_itself() -> None:
    states = [(at(x, y, (0, 0)), t) for x in range(8) for y in range(8) for t in range(10)]
    actions = [PROBES["scatter"].act(None, state, t) for state, t in states]
    assert actions == [PROBES["scatter"].act(None, state, t) for state, t in states]
    # 160 expected of each, standard deviation 11.
    assert all(110 <= actions.count(action) <= 210 for action in range(4))


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = (float(x) for x in re.findall(r"-?\d+\.\d+", probe.why))
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(mean - half, abs=0.02)
    assert probe.high == pytest.approx(mean + half, abs=0.02)


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe = PROBES[name]
    returns = play("forager", probe)
    assert probe.low <= sum(returns) / len(returns) <= probe.high
