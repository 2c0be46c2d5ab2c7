"""minatar_asterix, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import pytest

from simulacrum.contract.package import load_package

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
ENEMY, GOLD = 1, 2
MOVES = {LEFT: (-1, 0), UP: (0, -1), RIGHT: (1, 0), DOWN: (0, 1)}
Things = dict[int, tuple[int, int, bool]]  # by slot: kind, column, whether to the right


@pytest.fixture(scope="module")
def asterix(toywalk: Any) -> Any:
    return type(toywalk)(load_package("minatar_asterix"))


def state(things: Things | None = None, **changes: Any) -> dict[str, Any]:
    """A player at (5, 5), timers that are not up."""
    kind, x, to_right = zip(*((things or {}).get(k, (0, 0, False)) for k in range(8)), strict=True)
    base: dict[str, Any] = {"player_x": 5, "player_y": 5, "kind": list(kind), "x": list(x)}
    base |= {"to_right": list(to_right), "spawn_timer": 3, "move_timer": 2, "last_action": NOTHING}
    return base | changes


def moved(table: Any, action: int = NOTHING, things: Things | None = None, **changes: Any) -> Any:
    return table.step(state(things, **changes), action, sticky=False)


def things_of(seen: Any) -> Things:
    row = zip(seen.state["kind"], seen.state["x"], seen.state["to_right"], strict=True)
    return {k: thing for k, thing in enumerate(row) if thing[0]}


def test_r2_start(asterix: Any) -> None:
    assert asterix.reset().state == state(spawn_timer=10, move_timer=5)


@pytest.mark.parametrize(
    ("t", "ramping", "spawn", "move"),
    [
        (0, True, 10, 5),
        (101, True, 10, 5),
        (102, True, 9, 5),
        (203, True, 9, 5),
        (204, True, 8, 4),
        (408, True, 6, 3),
        (815, True, 3, 2),
        (816, True, 2, 1),
        (917, True, 2, 1),
        (918, True, 1, 1),
        (5000, True, 1, 1),
        (5000, False, 10, 5),
    ],
)
def test_r3_difficulty(asterix: Any, t: int, ramping: bool, spawn: int, move: int) -> None:
    before = state(spawn_timer=0, move_timer=0)
    seen = asterix.step(before, NOTHING, t=t, sticky=False, place=0, params={"difficulty_ramping": ramping})
    assert (seen.state["spawn_timer"], seen.state["move_timer"]) == (spawn - 1, move - 1)


@pytest.mark.parametrize("action", range(6))
def test_r4_r7_sticky_and_moves(asterix: Any, action: int) -> None:
    stuck = asterix.step(state(last_action=LEFT), action, sticky=True)
    assert (stuck.state["player_x"], stuck.state["player_y"], stuck.state["last_action"]) == (4, 5, LEFT)
    right, down = MOVES.get(action, (0, 0))
    free = moved(asterix, action, last_action=LEFT)
    assert (free.state["player_x"], free.state["player_y"]) == (5 + right, 5 + down)
    assert (free.state["last_action"], free.reward, free.terminated) == (action, 0.0, False)


@pytest.mark.parametrize(("action", "x", "y"), [(LEFT, 0, 5), (RIGHT, 9, 5), (UP, 5, 1), (DOWN, 5, 8)])
def test_r7_edges(asterix: Any, action: int, x: int, y: int) -> None:
    seen = moved(asterix, action, player_x=x, player_y=y)
    assert (seen.state["player_x"], seen.state["player_y"]) == (x, y)


@pytest.mark.parametrize(("to_right", "x"), [(True, 0), (False, 9)])
@pytest.mark.parametrize(("gold", "kind"), [(True, GOLD), (False, ENEMY)])
def test_r5_a_new_thing(asterix: Any, to_right: bool, x: int, gold: bool, kind: int) -> None:
    before = state({0: (ENEMY, 3, True)}, spawn_timer=0)
    seen = asterix.step(before, NOTHING, sticky=False, to_right=to_right, gold=gold, place=4)
    assert things_of(seen) == {0: (ENEMY, 3, True), 5: (kind, x, to_right)}  # the fifth that is empty
    assert seen.state["spawn_timer"] == 9


@pytest.mark.parametrize(("place", "slot"), [(0, 1), (1, 4), (2, 7)])
def test_r6_empty_slots_are_counted(asterix: Any, place: int, slot: int) -> None:
    taken = {k: (ENEMY, 2, True) for k in range(8) if k not in (1, 4, 7)}
    before = state(taken, spawn_timer=0, player_x=7)
    seen = asterix.step(before, NOTHING, sticky=False, to_right=True, gold=True, place=place)
    assert things_of(seen) == taken | {slot: (GOLD, 0, True)}


def test_r6_no_empty_slot(asterix: Any) -> None:
    taken = dict.fromkeys(range(8), (ENEMY, 2, True))
    seen = asterix.step(state(taken, spawn_timer=0, player_x=7), NOTHING, sticky=False)
    assert (things_of(seen), seen.state["spawn_timer"]) == (taken, 9)


def test_r5_r8_r10_a_new_thing_is_met_and_driven_at_once(asterix: Any) -> None:
    """It comes before the player moves and before things do."""
    before = state(spawn_timer=0, move_timer=0, player_x=1, player_y=3)
    draws: dict[str, Any] = {"sticky": False, "to_right": True, "gold": True, "place": 2}
    assert asterix.step(before, LEFT, **draws).reward == 1.0  # R8: at column 0
    assert asterix.step(before, NOTHING, **draws).reward == 1.0  # R10: it drives to column 1
    away = asterix.step(before, RIGHT, **draws)
    assert (away.reward, things_of(away)) == (0.0, {2: (GOLD, 1, True)})


@pytest.mark.parametrize(("kind", "reward", "terminated"), [(GOLD, 1.0, False), (ENEMY, 0.0, True)])
def test_r8_r12_r13_a_meeting(asterix: Any, kind: int, reward: float, terminated: bool) -> None:
    """Where the player steps on it, on a row of things that do not move."""
    before: Things = {4: (kind, 6, True), 5: (kind, 6, True)}
    seen = moved(asterix, RIGHT, before)
    assert (seen.reward, seen.terminated) == (reward, terminated)
    assert things_of(seen) == {5: (kind, 6, True)} | ({} if kind == GOLD else {4: (kind, 6, True)})


@pytest.mark.parametrize(("kind", "reward", "terminated"), [(GOLD, 1.0, False), (ENEMY, 0.0, True)])
@pytest.mark.parametrize(("x", "to_right"), [(4, True), (6, False)])
def test_r9_r10_it_comes(asterix: Any, kind: int, reward: float, terminated: bool, x: int, to_right: bool) -> None:
    seen = moved(asterix, NOTHING, {4: (kind, x, to_right)}, move_timer=0)
    assert (seen.reward, seen.terminated) == (reward, terminated)
    assert things_of(seen) == ({} if kind == GOLD else {4: (kind, 5, to_right)})


def test_r8_before_r9_an_enemy_is_met_that_then_goes_on(asterix: Any) -> None:
    seen = moved(asterix, RIGHT, {4: (ENEMY, 6, True)}, move_timer=0)
    assert (seen.terminated, things_of(seen)) == (True, {4: (ENEMY, 7, True)})
    passed = moved(asterix, NOTHING, {4: (ENEMY, 6, True)}, move_timer=0)
    assert passed.terminated is False


@pytest.mark.parametrize("timer", [0, 1])
def test_r9_out_of_the_screen(asterix: Any, timer: int) -> None:
    before: Things = {0: (ENEMY, 9, True), 1: (GOLD, 0, False), 2: (GOLD, 8, True), 7: (ENEMY, 0, True)}
    seen = moved(asterix, NOTHING, before, move_timer=timer)
    assert things_of(seen) == (before if timer else {2: (GOLD, 9, True), 7: (ENEMY, 1, True)})
    assert seen.state["move_timer"] == (0 if timer else 4)


def test_r14_the_rules_leave_time_to_the_engine(asterix: Any) -> None:
    assert asterix.step(state(), NOTHING, t=999, sticky=False).terminated is False
    assert asterix.schema.max_episode_steps == 1000


def test_r15_observation(asterix: Any) -> None:
    before: Things = {0: (ENEMY, 0, True), 3: (GOLD, 9, False), 4: (ENEMY, 4, False), 7: (GOLD, 4, True)}
    shown = asterix.look(state(before), t=0).observation
    ones = {(y, x, c) for y in range(10) for x in range(10) for c in range(4) if shown[y][x][c]}
    assert ones == {(5, 5, 0), (1, 0, 1), (4, 9, 3), (5, 4, 1), (5, 5, 2), (8, 4, 3), (8, 3, 2)}


@pytest.mark.parametrize(
    ("changes", "t", "broken"),
    [
        ({}, 0, set()),
        ({"x": [0, 0, 3, 0, 0, 0, 0, 0]}, 0, {"empty_slots"}),
        ({"to_right": [False] * 7 + [True]}, 0, {"empty_slots"}),
        ({"spawn_timer": 10, "move_timer": 5}, 101, set()),
        ({"spawn_timer": 10}, 102, {"timers_bounded"}),
        ({"move_timer": 5}, 203, set()),
        ({"move_timer": 5}, 204, {"timers_bounded"}),
    ],
)
def test_r16_r17_invariants(asterix: Any, changes: dict[str, Any], t: int, broken: set[str]) -> None:
    holds = asterix.look(state(**changes), t=t).invariants
    assert {name for name, value in holds.items() if not value} == broken
