"""mountaincarcontinuous' scripted policies: what they do, and that their returns lie where the probes say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("mountaincarcontinuous").module("probes").PROBES}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe, few = PROBES[name], 6 if name in ("pump", "gentle") else 1
    returns = play("mountaincarcontinuous", replace(probe, episodes=few))
    slack = (probe.high - probe.low) / 2 * ((probe.episodes / few) ** 0.5 - 1.0)
    assert probe.low - slack <= sum(returns) / few <= probe.high + slack


@pytest.mark.parametrize(
    ("name", "state", "t", "push"),
    [
        ("pump", (-0.5, 0.0), 0, 1.0),
        ("pump", (-0.5, -0.001), 0, -1.0),
        ("gentle", (-0.5, 0.001), 0, 0.3),
        ("gentle", (-0.5, -0.001), 0, -0.3),
        ("punctual", (-0.5, 0.001), 888, 0.0),  # not yet
        ("punctual", (-0.5, -0.001), 998, -1.0),  # too late for anything
        ("always_right", (0.4, -0.07), 0, 1.0),
        ("do_nothing", (0.4, -0.07), 0, 0.0),
    ],
)
def test_what_they_do(name: str, state: tuple[float, float], t: int, push: float) -> None:
    twin = load_package("mountaincarcontinuous").reference()
    (given,) = PROBES[name].act(None, twin.State(*state), t)
    assert float(given) == pytest.approx(push, abs=1e-7)
