"""frozenlake's scripted policies, and what Gymnasium's own table of transitions says they earn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("frozenlake").module("probes").PROBES}


def tables(env: Any) -> tuple[Any, Any, Any]:
    """Expected reward `[S, A]` of a step, and the probability `[S, A, S]` of going on in each cell."""
    count = len(env.P)
    reward, onward = np.zeros((count, 4)), np.zeros((count, 4, count))
    for s, actions in env.P.items():
        for a, outcomes in actions.items():
            for p, after, r, ended in outcomes:
                reward[s, a] += p * r
                onward[s, a, after] += 0.0 if ended else p
    return reward, onward, env.initial_state_distrib


def optimum(env: Any, steps: int) -> float:
    """The best mean return within so many steps (backward induction over all policies that see the clock)."""
    reward, onward, start = tables(env)
    value = np.zeros(len(start))
    for _ in range(steps):
        value = (reward + onward @ value).max(axis=1)
    return float(start @ value)


def expected(env: Any, policy: Callable[[int], int], steps: int) -> float:
    """The mean return of a policy that sees the cell."""
    reward, onward, start = tables(env)
    cells = np.arange(len(start))
    chosen = np.array([policy(s) for s in cells])
    value = np.zeros(len(start))
    for _ in range(steps):
        value = reward[cells, chosen] + onward[cells, chosen] @ value
    return float(start @ value)


def test_optima_are_those_that_gymnasium_states() -> None:
    assert optimum(FrozenLakeEnv(map_name="4x4"), 100) == pytest.approx(0.7441903, abs=1e-6)
    assert optimum(FrozenLakeEnv(map_name="8x8"), 200) == pytest.approx(0.9132202, abs=1e-6)
    assert optimum(FrozenLakeEnv(map_name="8x8", is_slippery=False), 200) == 1.0


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_follows_from_the_exact_expectation(name: str) -> None:
    probe = PROBES[name]
    mean = expected(FrozenLakeEnv(map_name="4x4"), lambda s: probe.act(s, None, 0), 100)
    assert float(re.findall(r"\d+\.\d+", probe.why)[0]) == pytest.approx(mean, abs=6e-5)
    half = 5 * (mean * (1 - mean) / probe.episodes) ** 0.5  # a return is 0 or 1
    assert probe.low == pytest.approx(mean - half, abs=1e-3)
    assert probe.high == pytest.approx(mean + half, abs=1e-3)


def test_best_is_best_without_a_clock() -> None:
    env = FrozenLakeEnv(map_name="4x4")
    earned = expected(env, lambda s: PROBES["best"].act(s, None, 0), 5000)
    assert earned == pytest.approx(optimum(env, 5000), abs=1e-9)
    assert earned == pytest.approx(14 / 17, abs=1e-9)


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe, few = PROBES[name], 150
    returns = play("frozenlake", replace(probe, episodes=few))
    slack = (probe.high - probe.low) * ((probe.episodes / few) ** 0.5 - 1) / 2
    assert probe.low - slack <= sum(returns) / few <= probe.high + slack
