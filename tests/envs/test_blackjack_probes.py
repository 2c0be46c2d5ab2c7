"""blackjack's scripted policies, and their exact returns by a calculation of this test's own."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kit.toytext import Both

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("blackjack").module("probes").PROBES}
CARDS = [*((card, 1 / 13) for card in range(1, 10)), (10, 4 / 13)]
Policy = Callable[[tuple[int, int, int]], int]


def worth(total: int, ace: bool) -> int:
    return total + 10 if ace and total <= 11 else total


@functools.cache
def dealers(total: int, ace: bool, two: bool) -> dict[tuple[int, bool], float]:
    """What the dealer comes to (0 where bust, and whether it is a natural), with its probability."""
    now = worth(total, ace)
    if now >= 17:
        return {(0 if now > 21 else now, two and now == 21): 1.0}
    found: dict[tuple[int, bool], float] = {}
    for card, p in CARDS:
        for end, q in dealers(total + card, ace or card == 1, False).items():
            found[end] = found.get(end, 0.0) + p * q
    return found


@functools.cache
def stick(player: int, natural: bool, shown: int, sab: bool, pays: bool) -> tuple[float, float]:
    """Mean of the reward of sticking, and of its square."""
    first = second = 0.0
    for hole, p in CARDS:
        for (dealer, theirs), q in dealers(shown + hole, 1 in (shown, hole), True).items():
            reward = float(np.sign(player - dealer))
            if sab and natural and not theirs:
                reward = 1.0
            elif not sab and pays and natural and reward == 1.0:
                reward = 1.5
            first, second = first + p * q * reward, second + p * q * reward * reward
    return first, second


def returns(policy: Policy | None, *, sab: bool = True, pays: bool = False) -> tuple[float, float, dict[Any, float]]:
    """Mean and standard deviation of a policy's return (of the best one where it is None), and by how much sticking is
    better than hitting, by observation."""
    better: dict[Any, float] = {}

    @functools.cache
    def value(total: int, ace: bool, two: bool, shown: int) -> tuple[float, float]:
        now = worth(total, ace)
        sticks, hits = stick(now, two and ace and now == 21, shown, sab, pays), np.zeros(2)
        for card, p in CARDS:
            hits += p * np.array((-1, 1) if total + card > 21 else value(total + card, ace or card == 1, False, shown))
        seen = (now, shown, int(now != total))
        better[seen] = min(sticks[0] - hits[0], better.get(seen, 9.0))
        chosen = sticks[0] >= hits[0] if policy is None else policy(seen) == 0
        return sticks if chosen else (float(hits[0]), float(hits[1]))

    mean, square = np.sum(
        [
            p * q * r * np.array(value(one + other, 1 in (one, other), True, shown))
            for shown, p in CARDS for one, q in CARDS for other, r in CARDS
        ],
        axis=0,
    )  # fmt: skip
    return float(mean), float(max(square - mean**2, 0.0) ** 0.5), better


def test_basic_is_the_best_policy() -> None:
    probe = PROBES["basic"]
    best, _, better = returns(None)
    assert best == pytest.approx(-0.0431131, abs=1e-7)
    assert returns(lambda seen: probe.act(seen, None, 0))[0] == best
    wrong = [seen for seen, gain in better.items() if (gain >= 0) != (probe.act(seen, None, 0) == 0)]
    assert wrong == []


def test_sutton_and_bartos_figure_has_another_action_in_one_place() -> None:
    """Thorp's strategy, which their figure agrees with there, sticks on a soft 18 against an ace; hitting is better."""
    _, _, better = returns(None)
    assert better[18, 1, 1] == pytest.approx(-0.0393129, abs=1e-7)


@pytest.mark.parametrize(("pays", "best"), [(False, -0.0465560), (True, -0.0257292)])
def test_the_optima_of_the_other_rules(pays: bool, best: float) -> None:
    assert returns(None, sab=False, pays=pays)[0] == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_follows_from_the_exact_expectation(name: str) -> None:
    probe = PROBES[name]
    mean, deviation, _ = returns(lambda seen: probe.act(seen, None, 0))
    assert float(re.findall(r"-?\d+\.\d+", probe.why)[0]) == pytest.approx(mean, abs=6e-5)
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(mean - half, abs=1e-3)
    assert probe.high == pytest.approx(mean + half, abs=1e-3)


@pytest.mark.parametrize("name", sorted(PROBES))
def test_both_twins_earn_it(name: str) -> None:
    probe, both, few, total = PROBES[name], Both("blackjack"), 40, 0.0
    for seed in range(few):
        seen, t = both.reset(seed=seed), 0
        while not seen.get("terminated"):
            seen = both.step(seen, probe.act(tuple(seen["observation"]), None, t), t=t, seed=seed)
            t += 1
        total += seen["reward"]
    slack = (probe.high - probe.low) * ((probe.episodes / few) ** 0.5 - 1) / 2
    assert probe.low - slack <= total / few <= probe.high + slack
