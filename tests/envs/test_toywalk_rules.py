"""toywalk, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

import struct
from typing import Any

import pytest


def f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


@pytest.mark.parametrize("start", [-2, -1, 0, 1, 2])
def test_r2_start_is_the_draw(toywalk: Any, start: int) -> None:
    assert toywalk.reset(start=start).state == {"position": start}


def test_r2_start_is_uniform_over_both_ends(toywalk: Any) -> None:
    starts = [toywalk.reset(seed=seed).state["position"] for seed in range(150)]
    counts = {position: starts.count(position) for position in range(-2, 3)}
    assert sum(counts.values()) == 150
    # 30 expected of each, standard deviation 4.9.
    assert all(10 <= count <= 50 for count in counts.values()), counts


@pytest.mark.parametrize(
    ("position", "action", "slip", "after"),
    [
        (0, 0, False, -1),  # R4: left
        (0, 1, False, 1),  # R4: right
        (0, 0, True, 1),  # R4: a slip turns left into right
        (0, 1, True, -1),  # R4: and right into left
        (-5, 0, False, -5),  # R5: the left end holds
        (-5, 1, True, -5),  # R5: also when a slip pushes against it
        (-5, 1, False, -4),
        (-5, 0, True, -4),
        (4, 0, False, 3),
        (4, 1, True, 3),
    ],
)
def test_r4_r5_move(toywalk: Any, position: int, action: int, slip: bool, after: int) -> None:
    seen = toywalk.step({"position": position}, action, slip=slip)
    assert seen.state == {"position": after}
    assert (seen.reward, seen.terminated) == (-1.0, False)


@pytest.mark.parametrize(("action", "slip"), [(1, False), (0, True)])
def test_r6_r7_goal_pays_and_ends_however_it_is_reached(toywalk: Any, action: int, slip: bool) -> None:
    seen = toywalk.step({"position": 4}, action, slip=slip)
    assert seen.state == {"position": 5}
    assert (seen.reward, seen.terminated) == (10.0, True)


def test_r8_the_rules_leave_time_to_the_engine(toywalk: Any) -> None:
    assert toywalk.step({"position": 0}, 1, t=59, slip=False).terminated is False
    assert toywalk.step({"position": 4}, 1, t=59, slip=False).terminated is True
    assert toywalk.schema.max_episode_steps == 60


@pytest.mark.parametrize(("slip", "after"), [(0.0, 1), (1.0, -1)])
def test_r3_param_sets_the_probability(toywalk: Any, slip: float, after: int) -> None:
    for t in range(50):
        assert toywalk.step({"position": 0}, 1, t=t, params={"slip": slip}).state["position"] == after


def test_r3_slips_one_time_in_ten(toywalk: Any) -> None:
    slips = sum(toywalk.step({"position": 0}, 1, seed=s).state["position"] < 0 for s in range(300))
    assert 8 <= slips <= 52  # 30 expected, standard deviation 5.2


@pytest.mark.parametrize(
    ("position", "t", "observation"),
    [
        (-5, 0, [-1.0, 0.0]),
        (0, 0, [0.0, 0.0]),
        (3, 7, [f32(0.6), f32(7 / 60)]),
        (-2, 59, [f32(-0.4), f32(59 / 60)]),
        (5, 60, [1.0, 1.0]),
        (1, 61, [f32(0.2), 1.0]),  # a longer limit than the usual one: the share stays at 1
    ],
)
def test_r9_observation(toywalk: Any, position: int, t: int, observation: list[float]) -> None:
    assert toywalk.look({"position": position}, t=t).observation == observation


@pytest.mark.parametrize(("position", "distance"), [(-5, 10), (0, 5), (5, 0)])
def test_r10_distance(toywalk: Any, position: int, distance: int) -> None:
    assert toywalk.look({"position": position}, t=10).info == {"distance": distance}


@pytest.mark.parametrize(
    ("position", "t", "holds"), [(2, 0, True), (3, 0, False), (3, 1, True), (-4, 1, False), (-4, 2, True)]
)
def test_r12_reach(toywalk: Any, position: int, t: int, holds: bool) -> None:
    seen = toywalk.look({"position": position}, t=t)
    assert seen.invariants == {"on_the_line": True, "within_reach": holds}
