"""acrobot's scripted policies: what they do, and that their returns lie where the probes say."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("acrobot").module("probes").PROBES}


@pytest.mark.parametrize("name", ["do_nothing", "drive", "swing"])
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe, few = PROBES[name], 1 if name == "do_nothing" else 6
    returns = play("acrobot", replace(probe, episodes=few))
    slack = (probe.high - probe.low) / 2 * ((probe.episodes / few) ** 0.5 - 1.0)
    assert probe.low - slack <= sum(returns) / few <= probe.high + slack


@pytest.mark.parametrize(
    ("name", "state", "t", "action"),
    [
        ("do_nothing", (0.1, 0.1, 1.0, -1.0), 0, 1),
        ("swing", (0.1, 0.1, 1.0, -1.0), 0, 0),
        ("swing", (0.1, 0.1, -1.0, -1.0), 0, 2),
        ("drive", (0.1, 0.1, 1.0, -1.0), 0, 0),
        ("drive", (0.1, 0.1, 1.0, 1.0), 0, 2),
        ("punctual", (0.1, 0.1, 1.0, -1.0), 394, 1),  # not yet
        ("punctual", (0.1, 0.1, 1.0, -1.0), 499, 0),  # too late for anything
    ],
)
def test_what_they_do(name: str, state: tuple[float, ...], t: int, action: int) -> None:
    twin = load_package("acrobot").reference()
    assert PROBES[name].act(None, twin.State(*state), t) == action


def test_punctual_looks_ahead_by_the_rules_themselves(acrobot: Any) -> None:
    after, draw = load_package("acrobot").module("probes")._after, random.Random(0)
    for _ in range(6):
        at = (draw.uniform(-3, 3), draw.uniform(-3, 3), draw.uniform(-2, 2), draw.uniform(-4, 4))
        names = ("theta1", "theta2", "speed1", "speed2")
        seen = acrobot.step(dict(zip(names, at, strict=True)), 2).state
        assert after(at, 1.0)[2:] == pytest.approx((seen["speed1"], seen["speed2"]), rel=1e-9)
