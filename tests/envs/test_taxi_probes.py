"""taxi's scripted policies, and what Gymnasium's own table of transitions says of the best return."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gymnasium.envs.registration import registry
from gymnasium.envs.toy_text.taxi import TaxiEnv

from simulacrum.contract.package import load_package

PACKAGE = load_package("taxi")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}


def tables(env: Any) -> tuple[Any, Any]:
    """Expected reward `[S, A]` of a step, and the probability `[S, A, S]` of going on in each state."""
    reward, onward = np.zeros((500, 6)), np.zeros((500, 6, 500))
    for s, actions in env.P.items():
        for a, outcomes in actions.items():
            for p, after, r, ended in outcomes:
                reward[s, a] += p * r
                onward[s, a, after] += 0.0 if ended else p
    return reward, onward


def optimum(env: Any) -> Any:
    """The best return from each state `[S]` within 200 steps."""
    reward, onward = tables(env)
    value = np.zeros(500)
    for _ in range(200):
        value = (reward + onward @ value).max(axis=1)
    return value


def returns(name: str) -> Any:
    """The return of a probe from each of the 300 starts, by the table alone."""
    env, act, make = TaxiEnv(), PROBES[name].act, PACKAGE.reference().State
    earned = []
    for start in np.flatnonzero(env.initial_state_distrib):
        s, total, ended, t = int(start), 0.0, False, 0
        while not ended and t < 200:
            state = make(*env.decode(s), False)
            ((_, s, reward, ended),) = env.P[s][act(s, state, t)]
            total, t = total + reward, t + 1
        earned.append(total)
    return np.array(earned)


def test_the_optimum_is_below_what_gymnasium_states() -> None:
    """A difference: beside Taxi-v4 stands `optimum = 8.46`, and its threshold of 8 is above what can be earned."""
    env = TaxiEnv()
    best = optimum(env)
    mean = float(best @ env.initial_state_distrib)
    assert mean == pytest.approx(7.93, abs=1e-9)
    assert registry["Taxi-v4"].reward_threshold == 8
    assert np.array_equal(best[np.flatnonzero(env.initial_state_distrib)], returns("deliver"))


def test_the_rainy_optimum() -> None:
    env = TaxiEnv(is_rainy=True)
    assert float(optimum(env) @ env.initial_state_distrib) == pytest.approx(3.954575, abs=1e-5)


@pytest.mark.parametrize("name", ["deliver", "hurry"])
def test_interval_follows_from_the_exact_expectation(name: str) -> None:
    probe, earned = PROBES[name], returns(name)
    mean, deviation = (float(x) for x in re.findall(r"-?\d+\.\d+", probe.why))
    assert mean == pytest.approx(earned.mean(), abs=6e-5)
    assert deviation == pytest.approx(earned.std(), abs=6e-5)
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(mean - half, abs=1e-3)
    assert probe.high == pytest.approx(mean + half, abs=1e-3)


def test_the_reference_earns_it(play: Any) -> None:
    from dataclasses import replace

    assert play("taxi", replace(PROBES["drive_north"], episodes=1)) == [-200.0]
    assert np.mean(play("taxi", replace(PROBES["deliver"], episodes=100))) == pytest.approx(7.93, abs=1.3)
