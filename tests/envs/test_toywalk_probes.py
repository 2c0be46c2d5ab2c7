"""The returns of toywalk's scripted policies, calculated from the spec and held against the probes."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import pytest

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("toywalk").module("probes").PROBES}
SLIP = struct.unpack("f", struct.pack("f", 0.1))[0]  # the parameter is a float32


def exact_return(act: Callable[[int, int], int]) -> tuple[float, float]:
    """Mean and standard deviation of the return of `act(position, t)`, backwards over t from the time limit.

    Written from spec.md alone: constants are typed again on purpose.
    """
    mean = dict.fromkeys(range(-5, 6), 0.0)
    square = dict.fromkeys(range(-5, 6), 0.0)  # mean of the squared return
    for t in reversed(range(60)):
        next_mean, next_square = mean, square
        mean, square = {5: 0.0}, {5: 0.0}
        for position in range(-5, 5):
            move = 1 if act(position, t) == 1 else -1
            mean[position] = square[position] = 0.0
            for chance, step in ((1 - SLIP, move), (SLIP, -move)):
                after = max(position + step, -5)
                reward = 10.0 if after == 5 else -1.0
                mean[position] += chance * (reward + next_mean[after])
                square[position] += chance * (
                    reward * reward + 2 * reward * next_mean[after] + next_square[after]
                )
    starts = range(-2, 3)
    total, squares = sum(mean[s] for s in starts) / 5, sum(square[s] for s in starts) / 5
    return total, math.sqrt(squares - total * total)


def test_the_calculation_on_a_walk_short_enough_for_paper() -> None:
    # Whoever always goes left and stays there loses 1 in each of 60 steps, but for the rare run of slips.
    mean, deviation = exact_return(lambda position, t: 0)
    assert -60.0 < mean < -59.9
    assert deviation < 1.5
    # Always right: were there no left end, a cell would take 1 / (1 - 2 * 0.1) = 1.25 steps on average, and 5
    # cells are to go on average. Each step but the last costs 1, the last pays 10. The left end helps.
    mean, _ = exact_return(lambda position, t: 1)
    assert 10 - (6.25 - 1) < mean < 10 - (6.25 - 1) + 1e-3


@pytest.mark.parametrize("name", sorted(PROBES))
def test_interval_is_five_standard_errors_about_the_exact_return(name: str) -> None:
    probe = PROBES[name]
    # These policies look at t only.
    mean, deviation = exact_return(lambda position, t: probe.act(None, None, t))
    half = 5 * deviation / math.sqrt(probe.episodes)
    assert probe.low == pytest.approx(mean - half, abs=0.006)  # the interval is written with two digits
    assert probe.high == pytest.approx(mean + half, abs=0.006)
    assert f"{mean:.4f}" in probe.why
    assert f"{deviation:.3f}" in probe.why


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_reference_earns_it(name: str, play: Callable[..., Any]) -> None:
    probe = PROBES[name]
    returns = play("toywalk", probe)
    assert probe.low <= sum(returns) / len(returns) <= probe.high
