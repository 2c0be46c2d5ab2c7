"""pendulum's scripted policies: what they do, and that their returns lie where the probes say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("pendulum").module("probes").PROBES}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe, few = PROBES[name], 12
    returns = play("pendulum", replace(probe, episodes=few))
    slack = (probe.high - probe.low) / 2 * ((probe.episodes / few) ** 0.5 - 1.0)
    assert probe.low - slack <= sum(returns) / few <= probe.high + slack


@pytest.mark.parametrize(
    ("name", "seen", "torque"),
    [
        ("do_nothing", (1.0, 0.0, 0.5), 0.0),
        ("push_on", (1.0, 0.0, 0.5), 2.0),
        ("swing_up", (1.0, 0.0, 0.5), -1.25),  # upright and moving on: hold
        ("swing_up", (-1.0, 0.0, 0.5), 2.0),  # hanging: more energy
        ("swing_up", (-1.0, 0.0, -0.5), -2.0),
        ("swing_up", (0.0, 1.0, 7.0), -2.0),  # too much of it
        ("swing_up", (-0.5, 0.8, 0.0), 2.0),  # at the end of a swing
        ("swing_up", (-0.5, -0.8, 0.0), -2.0),
    ],
)
def test_what_they_do(name: str, seen: tuple[float, ...], torque: float) -> None:
    (given,) = PROBES[name].act(seen, None, 0)
    assert float(given) == torque
