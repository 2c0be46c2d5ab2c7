"""forager, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

import struct
from typing import Any

import pytest

NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3
FAR = [7, 7, 7, 7, 7, 7]  # berries out of the way


def f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


SMALL, MEDIUM, LARGE, COST = f32(0.1), f32(0.15), f32(0.3), f32(0.02)


def state(**changes: Any) -> dict[str, Any]:
    """A forager at (3, 3) with energy 1, six living berries in the north-east corner, two of each kind."""
    base: dict[str, Any] = {"x": 3, "y": 3, "energy": 1.0, "berry_x": FAR, "berry_y": FAR}
    return base | {"berry_kind": [0, 1, 2, 0, 1, 2], "alive": [True] * 6} | changes


def test_r2_to_r5_start(forager: Any) -> None:
    draws = {"berry_x": [0, 1, 2, 3, 4, 5], "berry_y": [5, 4, 3, 2, 1, 0], "berry_kind": [2, 2, 1, 1, 0, 0]}
    seen = forager.reset(start_x=6, start_y=1, **draws)
    assert seen.state == {"x": 6, "y": 1, "energy": 1.0, "alive": [True] * 6, **draws}
    assert seen.info == {"eaten": 0, "gain": 0.0}


def test_r2_to_r4_cover_the_grid(forager: Any) -> None:
    starts = [forager.reset(seed=seed).state for seed in range(60)]
    for name in ("x", "y"):
        assert {start[name] for start in starts} == set(range(8))
    for name in ("berry_x", "berry_y"):
        for k in range(6):
            assert {start[name][k] for start in starts} == set(range(8)), (name, k)
    for k in range(6):
        assert {start["berry_kind"][k] for start in starts} == {0, 1, 2}, k


@pytest.mark.parametrize(
    ("action", "gust", "cell"),
    [
        (NORTH, False, (3, 4)),
        (EAST, False, (4, 3)),
        (SOUTH, False, (3, 2)),
        (WEST, False, (2, 3)),
        (NORTH, True, (4, 3)),  # R7: a quarter turn clockwise
        (EAST, True, (3, 2)),
        (SOUTH, True, (2, 3)),
        (WEST, True, (3, 4)),
    ],
)
def test_r7_r8_move(forager: Any, action: int, gust: bool, cell: tuple[int, int]) -> None:
    seen = forager.step(state(), action, gust=gust)
    assert (seen.state["x"], seen.state["y"]) == cell
    assert seen.state["energy"] == f32(1.0 - COST)
    assert (seen.reward, seen.terminated) == (f32(-f32(0.1)), False)


@pytest.mark.parametrize(
    ("cell", "action", "gust", "after"),
    [
        ((0, 7), NORTH, False, (0, 7)),  # R8: the edge holds on all four sides
        ((7, 0), EAST, False, (7, 0)),
        ((7, 0), SOUTH, False, (7, 0)),
        ((0, 7), WEST, False, (0, 7)),
        ((7, 7), NORTH, True, (7, 7)),  # R7 before R8: the turned move is the one that meets the edge
        ((0, 7), NORTH, True, (1, 7)),
        ((7, 7), EAST, True, (7, 6)),
        ((0, 0), WEST, True, (0, 1)),
    ],
)
def test_r8_edges(
    forager: Any, cell: tuple[int, int], action: int, gust: bool, after: tuple[int, int]
) -> None:
    berries = {"berry_x": [4] * 6, "berry_y": [4] * 6}
    seen = forager.step(state(x=cell[0], y=cell[1], **berries), action, gust=gust)
    assert (seen.state["x"], seen.state["y"]) == after


@pytest.mark.parametrize(("gust", "cell"), [(0.0, (3, 4)), (1.0, (4, 3))])
def test_r6_param_sets_the_probability(forager: Any, gust: float, cell: tuple[int, int]) -> None:
    for t in range(30):
        seen = forager.step(state(), NORTH, t=t, params={"gust": gust})
        assert (seen.state["x"], seen.state["y"]) == cell


@pytest.mark.parametrize(("kind", "gain"), [(0, SMALL), (1, MEDIUM), (2, LARGE)])
def test_r9_to_r13_one_berry_of_each_kind(forager: Any, kind: int, gain: float) -> None:
    berries = {"berry_x": [7, 7, 3, 7, 7, 7], "berry_y": [7, 7, 4, 7, 7, 7], "berry_kind": [kind] * 6}
    seen = forager.step(state(**berries), NORTH, gust=False)
    assert seen.state["alive"] == [True, True, False, True, True, True]
    assert seen.state["energy"] == f32(f32(1.0 - COST) + gain)
    assert seen.reward == f32(f32(10.0 * gain) - f32(0.1))
    assert seen.info == {"eaten": 1, "gain": gain}
    assert seen.terminated is False


def test_r10_gains_are_added_in_the_order_of_the_berries(forager: Any) -> None:
    """All six on one cell. In float32 the sum depends on the order, so each order has its own bits."""
    sums = set()
    for kinds in ([0, 1, 2, 0, 1, 2], [2, 2, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2], [2, 1, 0, 2, 1, 0]):
        gain = 0.0
        for kind in kinds:
            gain = f32(gain + (SMALL, MEDIUM, LARGE)[kind])
        seen = forager.step(
            state(berry_x=[3] * 6, berry_y=[4] * 6, berry_kind=kinds, energy=0.5), NORTH, gust=False
        )
        assert seen.state["energy"] == f32(f32(0.5 - COST) + gain)
        assert seen.reward == f32(f32(10.0 * gain) - f32(0.1))
        assert (seen.info["gain"], seen.terminated) == (gain, True)
        sums.add(gain)
    assert len(sums) > 1, "these orders cannot tell a right sum from a wrong one"


def test_r11_cost_comes_off_before_the_gain_goes_on(forager: Any) -> None:
    berries = {"berry_x": [3] + [7] * 5, "berry_y": [4] + [7] * 5, "berry_kind": [2] * 6}
    told_apart = 0
    for step in range(1, 200):
        energy = f32(step / 200)
        seen = forager.step(state(energy=energy, **berries), NORTH, gust=False)
        right = f32(f32(energy - COST) + LARGE)
        assert seen.state["energy"] == max(right, 0.0)
        told_apart += right != f32(f32(energy + LARGE) - COST)
    assert told_apart > 0, "these energies cannot tell the right order from the wrong one"


def test_r9_a_dead_berry_is_not_eaten_again(forager: Any) -> None:
    berries = {"berry_x": [3] * 6, "berry_y": [4] * 6, "alive": [False, True, False, False, False, False]}
    seen = forager.step(state(**berries), NORTH, gust=False)
    assert seen.reward == f32(f32(10.0 * MEDIUM) - f32(0.1))
    assert (seen.state["alive"], seen.terminated) == ([False] * 6, True)


def test_r3_r9_a_berry_underfoot_waits_for_a_step_that_ends_there(forager: Any) -> None:
    under = {"berry_x": [3] + [7] * 5, "berry_y": [3] + [7] * 5}
    away = forager.step(state(**under), NORTH, gust=False)
    assert away.state["alive"][0] is True
    back = forager.step(away.state, SOUTH, t=1, gust=False)
    assert back.state["alive"][0] is False
    corner = {"x": 0, "y": 0, "berry_x": [0] + [7] * 5, "berry_y": [0] + [7] * 5}
    against_the_edge = forager.step(state(**corner), WEST, gust=False)
    assert against_the_edge.state["alive"][0] is False


@pytest.mark.parametrize(
    ("energy", "left", "terminated"),
    [
        (0.03, f32(f32(0.03) - COST), False),
        (0.02, 0.0, True),  # exactly used up
        (0.01, 0.0, True),  # R12: no debt
        (0.0, 0.0, True),
    ],
)
def test_r12_r14_energy_runs_out(forager: Any, energy: float, left: float, terminated: bool) -> None:
    seen = forager.step(state(energy=f32(energy)), NORTH, gust=False)
    assert (seen.state["energy"], seen.terminated) == (left, terminated)
    assert seen.observation[2] == left


def test_r11_a_berry_eaten_in_need_saves_the_forager(forager: Any) -> None:
    berries = {"berry_x": [3] + [7] * 5, "berry_y": [4] + [7] * 5}
    seen = forager.step(state(energy=f32(0.01), **berries), NORTH, gust=False)
    assert seen.state["energy"] == f32(f32(f32(0.01) - COST) + SMALL)
    assert seen.terminated is False


def test_r14_the_last_berry_ends_the_episode(forager: Any) -> None:
    berries = {"berry_x": [3] * 6, "berry_y": [4] * 6}
    last = state(alive=[False] * 5 + [True], **berries)
    assert forager.step(last, EAST, gust=False).terminated is False
    assert forager.step(last, NORTH, gust=False).terminated is True


def test_r15_the_rules_leave_time_to_the_engine(forager: Any) -> None:
    assert forager.step(state(), NORTH, t=79, gust=False).terminated is False
    assert forager.schema.max_episode_steps == 80


def test_r16_r17_observation(forager: Any) -> None:
    berries = {"berry_x": [0, 7, 3, 5, 1, 6], "berry_y": [6, 3, 2, 5, 0, 1], "berry_kind": [0, 1, 2, 0, 1, 2]}
    alive = [True, True, True, False, True, False]
    seen = forager.look(state(x=5, y=2, energy=f32(0.7), alive=alive, **berries), t=13).observation
    assert seen[:5] == [f32(5 / 7), f32(2 / 7), f32(0.7), f32(4 / 6), f32(13 / 80)]
    assert seen[5:11] == [f32(-5 / 7), f32(2 / 7), f32(-2 / 7), 0.0, f32(-4 / 7), 0.0]
    assert seen[11:17] == [f32(4 / 7), f32(1 / 7), 0.0, 0.0, f32(-2 / 7), 0.0]
    assert seen[17:] == [f32(SMALL / LARGE), f32(MEDIUM / LARGE), 1.0, 0.0, f32(MEDIUM / LARGE), 0.0]


@pytest.mark.parametrize(("t", "share"), [(0, 0.0), (80, 1.0), (81, 1.0)])
def test_r16_share_of_time(forager: Any, t: int, share: float) -> None:
    assert forager.look(state(), t=t).observation[4] == share


def test_r18_r19_metrics(forager: Any) -> None:
    seen = forager.look(state(alive=[True, False, False, True, False, True]), t=9)
    assert seen.info == {"eaten": 3, "gain": f32(f32(MEDIUM + LARGE) + MEDIUM)}


def test_r21_energy_bound(forager: Any) -> None:
    for energy, holds in ((0.0, True), (1.0, True), (1.001, False)):
        seen = forager.look(state(energy=f32(energy)), t=0)
        assert seen.invariants["energy_bounded"] is holds
    eaten = state(energy=f32(1.0 + LARGE), alive=[True] * 5 + [False])
    assert forager.look(eaten, t=1).invariants["energy_bounded"] is True


def test_r22_nothing_left_underfoot(forager: Any) -> None:
    on_berry = state(x=7, y=7)
    assert forager.look(on_berry, t=0).invariants["nothing_left_under_foot"] is True
    assert forager.look(on_berry, t=1).invariants["nothing_left_under_foot"] is False
    assert forager.look(on_berry | {"alive": [False] * 6}, t=1).invariants["nothing_left_under_foot"] is True


@pytest.mark.parametrize(
    ("energy", "t", "holds"),
    [(1.0, 0, True), (0.9, 5, True), (0.9, 6, False), (0.9015, 5, False), (0.9008, 5, True), (0.0, 5, True)],
)
def test_r23_energy_account(forager: Any, energy: float, t: int, holds: bool) -> None:
    assert forager.look(state(energy=f32(energy)), t=t).invariants["energy_accounted"] is holds
