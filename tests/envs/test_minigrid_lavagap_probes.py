"""minigrid_lavagap's scripted policies: what the quickest way earns, and that the others earn nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from kit.minigrid import play_fast

from simulacrum.contract.package import load_package

MODULE = load_package("minigrid_lavagap").module("probes")
PROBES = {probe.name: probe for probe in MODULE.PROBES}
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def quickest(size: int, gap_x: int, gap_y: int) -> int:
    """Steps to the goal, forwards from the start: everything that is reached with one step more."""
    floor = {(x, y) for x in range(1, size - 1) for y in range(1, size - 1) if x != gap_x or y == gap_y}
    reached, steps = {(1, 1, 0)}, 0
    while not any((x, y) == (size - 2, size - 2) for x, y, _ in reached):
        turned = {(x, y, (d + by) % 4) for x, y, d in reached for by in (1, 3)}
        moved = {(x + WAYS[d][0], y + WAYS[d][1], d) for x, y, d in reached}
        reached |= turned | {node for node in moved if node[:2] in floor}
        steps += 1
    return steps


@pytest.mark.parametrize("size", [5, 6, 7])
def test_the_plan_is_the_quickest(size: int) -> None:
    for gap_x in range(2, size - 2):
        for gap_y in range(1, size - 1):
            assert MODULE.plan_of(size, gap_x, gap_y)[1, 1, 0][0] == quickest(size, gap_x, gap_y)


def test_the_interval_is_that_of_all_gaps() -> None:
    probe = PROBES["shortest"]
    paid = [1 - Fraction(9, 10) * quickest(7, x, y) / 196 for x in range(2, 5) for y in range(1, 6)]
    mean = sum(paid) / len(paid)
    spread = 5 * float(sum(one * one for one in paid) / len(paid) - mean * mean) ** 0.5 / probe.episodes**0.5
    assert f"expectation over all gaps {float(mean):.6f}," in probe.why
    assert abs(probe.low - (float(mean) - spread)) < 1e-5
    assert abs(probe.high - (float(mean) + spread)) < 1e-5


@pytest.mark.parametrize("size", [5, 6, 7])
def test_the_quickest_way_earns_what_its_plan_says(size: int) -> None:
    returns, lengths = play_fast("minigrid_lavagap", PROBES["shortest"], size=size)
    assert returns == [1 - 0.9 * (steps / (4 * size * size)) for steps in lengths]
    assert set(lengths) == {quickest(size, x, y) for x in range(2, size - 2) for y in range(1, size - 1)}


def test_lava_pays_nothing_and_ends() -> None:
    returns, lengths = play_fast("minigrid_lavagap", PROBES["into_the_lava"])
    assert set(returns) == {0.0}
    assert max(lengths) < 10


def test_spinning_runs_out_of_time() -> None:
    returns, lengths = play_fast("minigrid_lavagap", PROBES["spin"])
    assert (set(returns), set(lengths)) == ({0.0}, {196})
