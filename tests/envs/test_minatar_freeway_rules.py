"""minatar_freeway, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import pytest

from simulacrum.contract.package import load_package

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
SLOW = [5] * 8


@pytest.fixture(scope="module")
def freeway(toywalk: Any) -> Any:
    return type(toywalk)(load_package("minatar_freeway"))


def state(**changes: Any) -> dict[str, Any]:
    """A chicken on row 5 that may move, all cars far away and slow."""
    base: dict[str, Any] = {"pos": 5, "move_timer": 0, "car_x": [0] * 8, "car_timer": SLOW, "car_speed": SLOW}
    return base | {"last_action": NOTHING} | changes


def moved(table: Any, action: int = NOTHING, **changes: Any) -> Any:
    return table.step(state(**changes), action, sticky=False)


def one(k: int, value: int, rest: int) -> list[int]:
    return [value if number == k else rest for number in range(8)]


def test_r2_r3_start(freeway: Any) -> None:
    seen = freeway.reset(start_speeds=[9510, 4321])  # digits 0 1 5 9, 1 2 3 4
    speeds = [1, 2, -1, -5, 2, 3, 4, 5]
    assert seen.state == state(pos=9, move_timer=3, car_speed=speeds, car_timer=[abs(speed) for speed in speeds])


def test_r2_all_speeds_come(freeway: Any) -> None:
    starts = [freeway.reset(seed=seed).state["car_speed"] for seed in range(150)]
    for k in range(8):
        assert {speeds[k] for speeds in starts} == set(range(-5, 6)) - {0}


@pytest.mark.parametrize("action", range(6))
def test_r4_sticky_repeats_what_was_carried_out(freeway: Any, action: int) -> None:
    stuck = freeway.step(state(last_action=UP), action, sticky=True)
    assert (stuck.state["pos"], stuck.state["last_action"]) == (4, UP)
    free = moved(freeway, action, last_action=UP)
    assert (free.state["pos"], free.state["last_action"]) == ({UP: 4, DOWN: 6}.get(action, 5), action)


@pytest.mark.parametrize("timer", range(4))
@pytest.mark.parametrize("action", [NOTHING, UP, DOWN])
def test_r5_r10_waiting(freeway: Any, timer: int, action: int) -> None:
    seen = moved(freeway, action, move_timer=timer)
    moves = timer == 0 and action != NOTHING
    assert seen.state["pos"] == (5 + {UP: -1, DOWN: 1}[action] if moves else 5)
    assert seen.state["move_timer"] == (2 if moves else max(timer - 1, 0))


def test_r5_the_bottom(freeway: Any) -> None:
    seen = moved(freeway, DOWN, pos=9)
    assert (seen.state["pos"], seen.state["move_timer"]) == (9, 2)


def test_r6_r11_a_crossing(freeway: Any) -> None:
    before = state(pos=1, car_x=[7] * 8, car_timer=[0] * 8)
    seen = freeway.step(before, UP, sticky=False, new_speeds=[6, 9999])  # digits 6 0 0 0, 9 9 9 9
    assert (seen.state["pos"], seen.reward, seen.terminated) == (9, 1.0, False)
    assert seen.state["car_speed"] == [-2, 1, 1, 1, -5, -5, -5, -5]
    # The new timers are there before the cars drive, and none of them drives.
    assert (seen.state["car_timer"], seen.state["car_x"]) == ([1, 0, 0, 0, 4, 4, 4, 4], [7] * 8)
    assert freeway.step(state(pos=2), UP, sticky=False).reward == 0.0


@pytest.mark.parametrize("speed", [-5, -2, -1, 1, 2, 5])
def test_r8_driving(freeway: Any, speed: int) -> None:
    seen = moved(freeway, pos=9, car_x=[6] * 8, car_timer=one(2, 0, 1), car_speed=[speed] * 8)
    assert seen.state["car_x"] == one(2, 7 if speed > 0 else 5, 6)
    assert seen.state["car_timer"] == one(2, abs(speed), 0)


def test_r8_around_the_edge(freeway: Any) -> None:
    seen = moved(freeway, pos=9, car_x=[9, 0, 9, 0] * 2, car_timer=[0] * 8, car_speed=[1, -1, -1, 1] * 2)
    assert seen.state["car_x"] == [0, 9, 8, 1] * 2


@pytest.mark.parametrize("row", range(1, 9))
@pytest.mark.parametrize(
    ("x", "timer", "speed", "after"),
    [
        (4, 3, 5, 9),  # R7: a car that stands there
        (4, 0, 5, 9),  # R7: one that drives away
        (3, 0, 1, 9),  # R9: one that comes
        (5, 0, -1, 9),
        (5, 0, 1, None),  # one that goes
        (3, 1, 1, None),  # one that does not come yet
    ],
)
def test_r7_r9_hit(freeway: Any, row: int, x: int, timer: int, speed: int, after: int | None) -> None:
    """The chicken walks up to the row."""
    k = row - 1
    before = {"car_x": one(k, x, 0), "car_timer": one(k, timer, 5), "car_speed": one(k, speed, 5)}
    seen = moved(freeway, UP, pos=row + 1, **before)
    assert seen.state["pos"] == (row if after is None else after)
    assert seen.reward == 0.0


def test_r12_end(freeway: Any) -> None:
    for t, limit, ends in ((2499, 2500, False), (2500, 2500, True), (6, 7, False), (7, 7, True), (0, 0, True)):
        seen = freeway.step(state(), NOTHING, t=t, sticky=False, params={"time_limit": limit})
        assert seen.terminated is ends
    assert freeway.schema.max_episode_steps is None


def test_r13_observation(freeway: Any) -> None:
    speeds = [1, 2, 3, 4, 5, -1, -5, 5]
    before = state(pos=9, car_x=[1, 1, 1, 1, 0, 9, 3, 8], car_speed=speeds)
    shown = freeway.look(before, t=1).observation
    ones = {(y, x, c) for y in range(10) for x in range(10) for c in range(7) if shown[y][x][c]}
    cars = {(k + 1, x, 1) for k, x in enumerate([1, 1, 1, 1, 0, 9, 3, 8])}
    trails = {(1, 0, 2), (2, 0, 3), (3, 0, 4), (4, 0, 5), (5, 9, 6), (6, 0, 2), (7, 4, 6), (8, 7, 6)}
    assert ones == {(9, 4, 0)} | cars | trails


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"car_x": one(4, 4, 0)}, {"alive"}),
        ({"car_x": one(4, 0, 4)}, set()),
        ({"car_speed": one(0, 0, 5), "car_timer": one(0, 0, 5)}, {"cars_in_time"}),
        ({"car_speed": one(0, -4, 5)}, {"cars_in_time"}),
        ({"car_speed": one(0, -5, 5)}, set()),
    ],
)
def test_r14_r15_invariants(freeway: Any, changes: dict[str, Any], broken: set[str]) -> None:
    seen = freeway.look(state(**changes), t=1) if 0 not in state(**changes)["car_speed"] else None
    holds = seen.invariants if seen else _holds(freeway, state(**changes))
    assert {name for name, value in holds.items() if not value} == broken


def _holds(table: Any, before: dict[str, Any]) -> dict[str, bool]:
    """Of a state that cannot be shown: a car without a speed has no channel."""
    twin = table.reference
    return {name: getattr(twin, name)(twin.State(**before), None) for name in ("alive", "cars_in_time")}
