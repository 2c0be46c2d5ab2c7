"""mountaincar's scripted policies: what they do, and that their returns lie where the probes say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("mountaincar").module("probes").PROBES}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe, few = PROBES[name], 4 if name == "punctual" else 16
    returns = play("mountaincar", replace(probe, episodes=few))
    slack = (probe.high - probe.low) / 2 * ((probe.episodes / few) ** 0.5 - 1.0)
    assert probe.low - slack <= sum(returns) / few <= probe.high + slack


@pytest.mark.parametrize(
    ("name", "state", "t", "action"),
    [
        ("pump", (-0.5, 0.0), 0, 2),
        ("pump", (-0.5, 0.001), 0, 2),
        ("pump", (-0.5, -0.001), 0, 0),
        ("rest_and_pump", (-0.5, -0.001), 39, 1),
        ("rest_and_pump", (-0.5, -0.001), 40, 0),
        ("curves", (-0.5, 0.0), 0, 2),
        ("curves", (-0.5, -0.01), 0, 0),
        ("curves", (-1.1, 0.0), 0, 2),
        ("punctual", (-0.5, 0.0), 199, 2),  # too late for anything
        ("always_right", (0.4, -0.07), 0, 2),
        ("do_nothing", (0.4, -0.07), 0, 1),
    ],
)
def test_what_they_do(name: str, state: tuple[float, float], t: int, action: int) -> None:
    twin = load_package("mountaincar").reference()
    assert PROBES[name].act(None, twin.State(*state), t) == action


def test_punctual_counts_the_steps_that_are_left() -> None:
    steps = load_package("mountaincar").module("probes")._steps_to_the_flag
    assert steps(0.49, 0.02, 2) == 1
    assert steps(0.4, 0.06, 2) == 2
    assert steps(-0.5, 0.0, 1) > 100
