"""minatar_spaceinvaders, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import pytest

from simulacrum.contract.package import load_package

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
WAVE = {0: 252, 1: 252, 2: 252, 3: 252}


@pytest.fixture(scope="module")
def invaders(toywalk: Any) -> Any:
    return type(toywalk)(load_package("minatar_spaceinvaders"))


def rows(bits: dict[int, int]) -> list[int]:
    return [bits.get(row, 0) for row in range(10)]


def state(
    aliens: dict[int, int] | None = None,
    shots: dict[int, int] | None = None,
    bombs: dict[int, int] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """One alien at the top left unless told otherwise, the cannon at column 5, no timer up but that of the cannon."""
    maps = {"shots": rows(shots or {}), "bombs": rows(bombs or {}), "aliens": rows(aliens or {0: 1})}
    base: dict[str, Any] = {"pos": 5, **maps, "to_right": False, "fire_timer": 0, "move_timer": 3, "shot_timer": 4}
    return base | {"ramp_index": 0, "last_action": NOTHING} | changes


def moved(table: Any, action: int = NOTHING, params: dict[str, Any] | None = None, **changes: Any) -> Any:
    return table.step(state(**changes), action, sticky=False, params=params)


def test_r2_start(invaders: Any) -> None:
    assert invaders.reset().state == state(aliens=WAVE, move_timer=12, shot_timer=10)


@pytest.mark.parametrize("action", range(6))
def test_r3_r4_sticky_and_moves(invaders: Any, action: int) -> None:
    stuck = invaders.step(state(last_action=LEFT), action, sticky=True)
    assert (stuck.state["pos"], stuck.state["last_action"]) == (4, LEFT)
    free = moved(invaders, action, last_action=LEFT)
    assert (free.state["pos"], free.state["last_action"]) == ({LEFT: 4, RIGHT: 6}.get(action, 5), action)
    assert free.state["shots"] == rows({8: 32} if action == FIRE else {})
    assert free.state["fire_timer"] == (4 if action == FIRE else 0)


@pytest.mark.parametrize(("action", "pos"), [(LEFT, 0), (RIGHT, 9)])
def test_r4_edges(invaders: Any, action: int, pos: int) -> None:
    assert moved(invaders, action, pos=pos).state["pos"] == pos


def test_r4_no_shot_too_soon(invaders: Any) -> None:
    seen = moved(invaders, FIRE, fire_timer=1)
    assert (seen.state["shots"], seen.state["fire_timer"]) == (rows({}), 0)


def test_r5_r6_bullets_fly(invaders: Any) -> None:
    seen = moved(invaders, FIRE, shots={0: 8, 1: 16, 8: 1}, bombs={0: 2, 8: 1, 9: 32})
    assert seen.state["shots"] == rows({0: 16, 7: 1, 8: 32})
    assert seen.state["bombs"] == rows({1: 2, 9: 1})
    assert seen.terminated is False


@pytest.mark.parametrize(("action", "hit"), [(NOTHING, True), (LEFT, False), (RIGHT, False)])
def test_r6_r16_a_bullet_hits_where_the_cannon_has_gone(invaders: Any, action: int, hit: bool) -> None:
    assert moved(invaders, action, bombs={8: 32}).terminated is hit


@pytest.mark.parametrize(("timer", "aliens", "hit"), [(1, 32, True), (1, 16, False), (0, 32, True), (0, 64, True)])
def test_r7_r11_an_alien_at_the_cannon(invaders: Any, timer: int, aliens: int, hit: bool) -> None:
    """One that stands there, marches away from there, or marches there; to the left."""
    assert moved(invaders, aliens={9: aliens}, move_timer=timer).terminated is hit


@pytest.mark.parametrize(("to_right", "after"), [(False, 6), (True, 24)])
def test_r8_r10_sideways(invaders: Any, to_right: bool, after: int) -> None:
    seen = moved(invaders, aliens={3: 12}, to_right=to_right, move_timer=0)
    assert (seen.state["aliens"], seen.state["to_right"]) == (rows({3: after}), to_right)
    still = moved(invaders, aliens={3: 12}, to_right=to_right, move_timer=1)
    assert still.state["aliens"] == rows({3: 12})


@pytest.mark.parametrize(("to_right", "edge"), [(False, 1), (True, 512)])
def test_r10_down(invaders: Any, to_right: bool, edge: int) -> None:
    seen = moved(invaders, aliens={2: 24, 4: edge}, to_right=to_right, move_timer=0)
    assert (seen.state["aliens"], seen.state["to_right"]) == (rows({3: 24, 5: edge}), not to_right)
    assert seen.terminated is False
    back = moved(invaders, aliens={2: 24, 4: edge}, to_right=not to_right, move_timer=0)
    assert back.state["to_right"] is not to_right


def test_r10_down_from_the_last_row_ends_it_and_comes_back_at_the_top(invaders: Any) -> None:
    seen = moved(invaders, aliens={9: 1, 8: 2}, move_timer=0)
    assert (seen.terminated, seen.state["aliens"]) == (True, rows({0: 1, 9: 2}))
    assert moved(invaders, aliens={9: 2, 8: 2}, move_timer=0).terminated is False


@pytest.mark.parametrize(
    ("aliens", "ramp", "timer"),
    [({1: 4}, 0, 0), ({1: 4, 5: 6}, 0, 2), (WAVE, 0, 11), (WAVE, 6, 5), ({2: 1022, 3: 12}, 1, 10)],
)
def test_r9_the_fewer_the_faster(invaders: Any, aliens: dict[int, int], ramp: int, timer: int) -> None:
    seen = moved(invaders, aliens=aliens, ramp_index=ramp, move_timer=0, to_right=True)
    assert seen.state["move_timer"] == timer


@pytest.mark.parametrize(
    ("aliens", "pos", "bombs"),
    [
        ({0: 1}, 5, {0: 1}),  # the only one, however far
        ({1: 36, 3: 32, 7: 4}, 5, {3: 32}),  # the lowest of the nearest column
        ({2: 16, 4: 64}, 5, {2: 16}),  # of two equally near columns the left one
        ({2: 8, 4: 64}, 5, {4: 64}),
        ({2: 512}, 0, {2: 512}),
        ({2: 513}, 9, {2: 512}),
    ],
)
def test_r12_which_alien_shoots(invaders: Any, aliens: dict[int, int], pos: int, bombs: dict[int, int]) -> None:
    seen = moved(invaders, aliens=aliens, pos=pos, shot_timer=0)
    assert (seen.state["bombs"], seen.state["shot_timer"]) == (rows(bombs), 9)
    assert moved(invaders, aliens=aliens, pos=pos, shot_timer=1).state["bombs"] == rows({})


def test_r12_r13_an_alien_shoots_before_it_is_shot(invaders: Any) -> None:
    seen = moved(invaders, aliens={4: 32, 0: 1}, shots={5: 32}, shot_timer=0)
    assert (seen.state["bombs"], seen.state["aliens"], seen.reward) == (rows({4: 32}), rows({0: 1}), 1.0)
    assert seen.state["shots"] == rows({})


def test_r13_r15_several_at_once_and_after_they_have_marched(invaders: Any) -> None:
    seen = moved(invaders, aliens={4: 96, 2: 2, 0: 2}, shots={5: 48, 3: 3}, move_timer=0)
    # Marched to the left: 48 on row 4, 1 on rows 2 and 0. The bullets are on rows 4 and 2.
    assert (seen.state["aliens"], seen.state["shots"], seen.reward) == (rows({0: 1}), rows({2: 2}), 3.0)


@pytest.mark.parametrize(("ramp", "ramping", "after"), [(0, True, 1), (5, True, 6), (6, True, 6), (0, False, 0)])
def test_r14_the_next_wave(invaders: Any, ramp: int, ramping: bool, after: int) -> None:
    last = {"aliens": {4: 32}, "shots": {5: 32, 3: 32}, "ramp_index": ramp}
    seen = moved(invaders, params={"difficulty_ramping": ramping}, **last)
    assert (seen.state["aliens"], seen.state["ramp_index"], seen.reward) == (rows(WAVE), after, 1.0)
    assert seen.state["shots"] == rows({2: 32})  # a bullet in the new block meets nobody in this step


def test_r17_the_rules_leave_time_to_the_engine(invaders: Any) -> None:
    assert invaders.step(state(), NOTHING, t=999, sticky=False).terminated is False
    assert invaders.schema.max_episode_steps == 1000


@pytest.mark.parametrize("to_right", [True, False])
def test_r18_observation(invaders: Any, to_right: bool) -> None:
    before = state(aliens={1: 513}, shots={2: 4}, bombs={0: 2, 9: 256}, to_right=to_right)
    shown = invaders.look(before, t=0).observation
    ones = {(y, x, c) for y in range(10) for x in range(10) for c in range(6) if shown[y][x][c]}
    side = 3 if to_right else 2
    aliens = {(1, x, c) for x in (0, 9) for c in (1, side)}
    assert ones == {(9, 5, 0), (2, 2, 4), (0, 1, 5), (9, 8, 5)} | aliens


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"aliens": {1: 0}}, {"aliens_left"}),
        ({"shots": {9: 1}}, {"shots_on_their_way"}),
        ({"ramp_index": 3, "move_timer": 9}, set()),
        ({"ramp_index": 3, "move_timer": 10}, {"moves_in_time"}),
    ],
)
def test_r19_to_r21_invariants(invaders: Any, changes: dict[str, Any], broken: set[str]) -> None:
    holds = invaders.look(state(**changes), t=1).invariants
    assert {name for name, value in holds.items() if not value} == broken
