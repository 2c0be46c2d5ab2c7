"""minigrid_dynamicobstacles's scripted policies, and what they earn in minigrid itself, which drew for itself."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from kit.minigrid import original, play_fast

from simulacrum.contract.package import load_package

MODULE = load_package("minigrid_dynamicobstacles").module("probes")
PROBES = {probe.name: probe for probe in MODULE.PROBES}


def in_minigrid(act: Any, episodes: int) -> list[float]:
    """Returns of a policy in the untouched room, under NumPy's generator."""
    env, returns = original("MiniGrid-Dynamic-Obstacles-6x6-v0"), []
    for seed in range(episodes):
        env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            balls = list(zip(*(ball.cur_pos for ball in env.obstacles), strict=True))
            state = SimpleNamespace(
                size=6, ball_x=balls[0], ball_y=balls[1],
                x=env.agent_pos[0], y=env.agent_pos[1], direction=env.agent_dir,
            )  # fmt: skip
            _, reward, terminated, truncated, _ = env.step(act(None, state, env.step_count))
            total, ended = total + reward, terminated or truncated
        returns.append(total)
    return returns


def mean_and_deviation(returns: list[float]) -> tuple[float, float]:
    mean = sum(returns) / len(returns)
    return mean, (sum((one - mean) ** 2 for one in returns) / len(returns)) ** 0.5


def test_careful_earns_as_much_in_minigrid() -> None:
    """A part of the episodes that the interval comes from; the bounds are 5 standard errors of these."""
    probe = PROBES["careful"]
    mean, deviation = mean_and_deviation(in_minigrid(probe.act, 60))
    assert abs(mean - (probe.low + probe.high) / 2) < 5 * deviation / 60**0.5
    assert min(probe.low, probe.high) > 0.8


def test_careful_never_collides() -> None:
    returns, lengths = play_fast("minigrid_dynamicobstacles", PROBES["careful"])
    assert returns == [1 - 0.9 * (steps / 144) for steps in lengths]
    assert PROBES["careful"].low <= sum(returns) / len(returns) <= PROBES["careful"].high
    assert min(lengths) >= 7  # six cells and a turn
    assert len(set(lengths)) > 5


@pytest.mark.parametrize("size", [5, 6, 8])
def test_charging_always_ends_in_a_collision(size: int) -> None:
    returns, lengths = play_fast("minigrid_dynamicobstacles", PROBES["charge"], size=size)
    assert set(returns) == {-1.0}
    assert max(lengths) < 40
    if size == 6:
        assert set(in_minigrid(PROBES["charge"].act, 10)) == {-1}


def test_spinning_never_collides() -> None:
    returns, lengths = play_fast("minigrid_dynamicobstacles", PROBES["spin"])
    assert (Counter(returns), set(lengths)) == (Counter({0.0: 2}), {144})
