"""Probes of a new package: the mean return of doing one thing, measured on the untouched program."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from dataclasses import dataclass
from typing import Any

import gymnasium

from simulacrum.scaffold.gym_source import Source
from simulacrum.scaffold.gym_spaces import Space

EPISODES, SECONDS, LONGEST, PLAYED = 400, 1.0, 2000, 200


@dataclass(frozen=True)
class Measured:
    """One scripted policy: always the same action, and where its mean return lies."""

    name: str
    action: str
    low: float
    high: float
    episodes: int
    why: str


def measure_constant_actions(source: Source, action: Space) -> list[Measured]:
    """The first and the last choice of a Discrete action, as far as episodes end within a bearable time."""
    space = source.env.action_space
    if not isinstance(space, gymnasium.spaces.Discrete):
        return []
    first, last = int(space.start), int(space.start) + int(space.n) - 1
    found = [_measured(source, choice) for choice in dict.fromkeys((first, last))]
    return [one for one in found if one is not None]


def _measured(source: Source, choice: int) -> Measured | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(source.id)
        returns: list[float] = []
        began = time.process_time()
        for seed in range(EPISODES):
            total = _played(env, choice, seed)
            if total is None:
                return None
            returns.append(total)
            if len(returns) >= 50 and time.process_time() - began > SECONDS:
                break
    mean, deviation = statistics.fmean(returns), statistics.pstdev(returns)
    episodes = PLAYED if deviation else 20
    reach = 5 * deviation * math.sqrt(1 / episodes + 1 / len(returns))
    why = (
        f"measured {mean:.5g} over {len(returns)} episodes of the program itself (standard deviation {deviation:.3g}), "
        "5 standard errors of both means to either side"
    )
    low, high = math.floor((mean - reach) * 1e4) / 1e4, math.ceil((mean + reach) * 1e4) / 1e4
    return Measured(f"always_{choice}", str(choice), low, high, episodes, why)


def _played(env: Any, choice: int, seed: int) -> float | None:
    env.reset(seed=seed)
    total = 0.0
    for _ in range(LONGEST):
        _, reward, terminated, truncated, _ = env.step(choice)
        total += float(reward)
        if terminated or truncated:
            return total
    return None
