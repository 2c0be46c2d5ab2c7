"""cartpole's scripted policies: how their episodes end, and that their returns lie where the probes say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("cartpole").module("probes").PROBES}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe = PROBES[name]
    few = 12 if name in ("run", "balance") else probe.episodes
    returns = play("cartpole", probe if few == probe.episodes else _shortened(probe, few))
    mean = sum(returns) / len(returns)
    slack = 0.0 if few == probe.episodes else (probe.high - probe.low) * (probe.episodes / few) ** 0.5
    assert probe.low - slack <= mean <= probe.high + slack


def _shortened(probe: Any, episodes: int) -> Any:
    from dataclasses import replace

    return replace(probe, episodes=episodes)


@pytest.mark.parametrize(
    ("name", "state", "action"),
    [
        ("always_right", (0.0, 0.0, -0.2, 0.0), 1),
        ("lean", (0.0, 0.0, 0.01, -3.0), 1),
        ("lean", (0.0, 0.0, -0.01, 3.0), 0),
        ("run", (1.0, 0.0, 0.04, 0.0), 0),
        ("run", (1.0, 0.0, 0.06, 0.0), 1),
        ("run", (-1.0, 0.0, -0.04, 0.0), 1),
        ("run", (-1.0, 0.0, -0.06, 0.0), 0),
        ("balance", (0.0, 0.0, 0.01, -0.02), 1),
        ("balance", (-2.0, 0.0, 0.01, 0.0), 0),
    ],
)
def test_what_they_do(name: str, state: tuple[float, ...], action: int) -> None:
    twin = load_package("cartpole").reference()
    assert PROBES[name].act(None, twin.State(*state), 0) == action
