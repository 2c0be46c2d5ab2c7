"""cliffwalking's scripted policies, and what Gymnasium's own table of transitions says is the best return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv
from kit.toytext import Both

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("cliffwalking").module("probes").PROBES}


def optimum(env: Any) -> float:
    """The best mean return, by iteration of values to their limit."""
    value = np.zeros(48)
    for _ in range(5000):
        better = np.array(
            [
                max(
                    sum(p * (r + (0.0 if ended else value[after])) for p, after, r, ended in env.P[s][a])
                    for a in range(4)
                )
                for s in range(48)
            ]
        )
        if np.abs(better - value).max() < 1e-10:
            return float(better[36])
        value = better
    raise AssertionError("values do not settle")


def test_the_shortest_way_is_the_best() -> None:
    assert optimum(CliffWalkingEnv()) == -13.0 == PROBES["along_the_edge"].low


def test_the_slippery_optimum() -> None:
    assert optimum(CliffWalkingEnv(is_slippery=True)) == pytest.approx(-64.709176, abs=1e-5)


@pytest.mark.parametrize("name", sorted(PROBES))
def test_both_twins_earn_it(name: str) -> None:
    both, probe = Both("cliffwalking"), PROBES[name]
    seen, total, t = both.reset(), 0.0, 0
    while not seen.get("terminated") and t < 200:
        state = both.reference.State(row=seen["row"], column=seen["column"])
        seen = both.step(seen, probe.act(seen["observation"], state, t), t=t)
        total, t = total + seen["reward"], t + 1
    assert probe.low == total == probe.high
