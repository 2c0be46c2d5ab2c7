"""minigrid_doorkey's scripted policies: what the quickest way earns, and that the others earn nothing."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from kit.minigrid import play_fast

from simulacrum.contract.package import load_package

MODULE = load_package("minigrid_doorkey").module("probes")
PROBES = {probe.name: probe for probe in MODULE.PROBES}


def exact(size: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of the quickest way's return over all starts, each counted with its chance."""
    mean, square = Fraction(0), Fraction(0)
    for split in range(2, size - 2):
        cells = [(x, y) for x in range(1, split) for y in range(1, size - 1)]
        chance = Fraction(1, (size - 4) * (size - 3) * len(cells) * (len(cells) - 1) * 4)
        for door in range(1, size - 2):
            for key in cells:
                plan = MODULE.plan_of(size, split, door, *key)
                for agent in cells:
                    for d in range(4 if agent != key else 0):
                        steps = plan[(*agent, d, False, False)][0]
                        paid = 1 - Fraction(9, 10) * Fraction(steps, 10 * size * size)
                        mean, square = mean + chance * paid, square + chance * paid * paid
    return mean, square - mean * mean


def test_the_interval_is_that_of_all_starts() -> None:
    probe, (mean, variance) = PROBES["shortest"], exact(8)
    spread = 5 * float(variance) ** 0.5 / probe.episodes**0.5
    assert f"expectation over all starts {float(mean):.6f}," in probe.why
    assert abs(probe.low - (float(mean) - spread)) < 1e-5
    assert abs(probe.high - (float(mean) + spread)) < 1e-5


def test_the_quickest_way_earns_what_its_plan_says() -> None:
    probe = dataclasses.replace(PROBES["shortest"], episodes=24)
    returns, lengths = play_fast("minigrid_doorkey", probe)
    assert returns == [1 - 0.9 * (steps / 640) for steps in lengths]
    assert len(set(lengths)) > 5
    assert max(lengths) <= 29


@pytest.mark.parametrize("name", ["doorkeeper", "juggler", "knocker"])
def test_the_others_run_out_of_time(name: str) -> None:
    returns, lengths = play_fast("minigrid_doorkey", dataclasses.replace(PROBES[name], episodes=1), size=5)
    assert (returns, lengths) == ([0.0], [250])
