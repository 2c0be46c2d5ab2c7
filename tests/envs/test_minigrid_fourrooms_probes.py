"""minigrid_fourrooms's scripted policies: what the quickest way earns, and that turning on the spot earns nothing."""

from __future__ import annotations

import dataclasses
import random

from kit.minigrid import play_fast

from simulacrum.contract.package import load_package

MODULE = load_package("minigrid_fourrooms").module("probes")
PROBES = {probe.name: probe for probe in MODULE.PROBES}
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
Start = tuple[tuple[int, int, int, int], tuple[int, int], tuple[int, int], int]  # gaps, agent, goal, direction


def starts(count: int) -> list[Start]:
    """So many starts as spec.md has them, by Python's own generator."""
    pick, made = random.Random(0), []
    for _ in range(count):
        gaps = (pick.randint(1, 8), pick.randint(1, 8), pick.randint(10, 17), pick.randint(10, 17))
        agent, goal = pick.sample(sorted(MODULE.floor_of(gaps)), 2)
        made.append((gaps, agent, goal, pick.randrange(4)))
    return made


def quickest(start: Start) -> int:
    """Steps to the goal, forwards from the start: everything that is reached with one step more."""
    gaps, agent, goal, direction = start
    floor, reached, steps = MODULE.floor_of(gaps), {(*agent, direction)}, 0
    edge = reached
    while not any((x, y) == goal for x, y, _ in edge):
        turned = {(x, y, (d + by) % 4) for x, y, d in edge for by in (1, 3)}
        moved = {(x + WAYS[d][0], y + WAYS[d][1], d) for x, y, d in edge}
        edge = (turned | {node for node in moved if node[:2] in floor}) - reached
        reached, steps = reached | edge, steps + 1
    return steps


def test_the_plan_is_the_quickest() -> None:
    for start in starts(20):
        gaps, agent, goal, direction = start
        assert MODULE.plan_of(gaps, *goal)[0][MODULE.number(*agent, direction)] == quickest(start)


def test_the_interval_is_that_of_many_starts() -> None:
    """500 starts of the 4,000 that probes.py speaks of lie around the middle of its interval, as wide as it says."""
    probe, paid = PROBES["shortest"], []
    for gaps, agent, goal, direction in starts(500):
        paid.append(1 - 0.9 * MODULE.plan_of(gaps, *goal)[0][MODULE.number(*agent, direction)] / 100)
    mean = sum(paid) / len(paid)
    deviation = (sum((one - mean) ** 2 for one in paid) / len(paid)) ** 0.5
    assert abs(mean - (probe.low + probe.high) / 2) < 4 * deviation / len(paid) ** 0.5
    half = 5 * 0.0662 * (probe.episodes**-0.5 + 4000**-0.5)
    assert abs((probe.high - probe.low) / 2 - half) < 1e-4
    assert abs(deviation - 0.0662) < 0.007


def test_the_quickest_way_earns_what_its_plan_says() -> None:
    returns, lengths = play_fast("minigrid_fourrooms", dataclasses.replace(PROBES["shortest"], episodes=24))
    assert returns == [1 - 0.9 * (steps / 100) for steps in lengths]
    assert len(set(lengths)) > 5
    assert max(lengths) < 50


def test_spinning_runs_out_of_time() -> None:
    returns, lengths = play_fast("minigrid_fourrooms", dataclasses.replace(PROBES["spin"], episodes=2))
    assert (returns, lengths) == ([0.0] * 2, [100] * 2)
