"""minatar_seaquest, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import pytest

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
Enemies = dict[tuple[int, int], int]  # (row, column): bit or digit m is of the one that moves in m steps


@pytest.fixture(scope="module")
def seaquest(toywalk: Any) -> Any:
    return type(toywalk)(load_package("minatar_seaquest"))


def planes(enemies: Enemies, bits: int) -> list[list[int]]:
    """As the state has them: by the steps until they move, by lanes, with so many bits for each column."""
    return [[sum((value >> bits * m & 2**bits - 1) << bits * x for (y, x), value in enemies.items() if y == row)
             for row in range(1, 9)] for m in range(6)]  # fmt: skip


def rows(bits: dict[int, int], first: int = 1) -> list[int]:
    """By row of the screen."""
    return [bits.get(row, 0) for row in range(first, 9)]


def state(fish: Enemies | None = None, subs: Enemies | None = None, right: tuple[int, ...] = (), **changes: Any) -> Any:
    """The player in the middle, facing right, clocks not up; enemies move left but in the rows `right`."""
    base: dict[str, Any] = {"player_x": 5, "player_y": 4, "faces_right": True, "oxygen": 100, "diver_count": 0}
    base |= {"fire_timer": 0, "spawn_timer": 9, "ramp_index": 0, "last_action": NOTHING}
    base |= {"shots_left": rows({}, 0), "shots_right": rows({}, 0), "bombs_left": rows({}), "bombs_right": rows({})}
    base |= {
        "to_right": [row in right for row in range(1, 9)],
        "fish": planes(fish or {}, 1),
        "subs": planes(subs or {}, 4),
    }
    base |= {"diver_x": [0, 0], "diver_y": [0, 0], "diver_right": [False, False]}
    return base | changes


def enemies(seen: Any, name: str) -> Enemies:
    bits = 1 if name == "fish" else 4
    made: Enemies = {}
    for m, lanes in enumerate(seen.state[name]):
        for k, lane in enumerate(lanes):
            for x in range(10):
                if value := lane >> bits * x & 2**bits - 1:
                    made[k + 1, x] = made.get((k + 1, x), 0) | value << bits * m
    return made


def bits(seen: Any, name: str) -> dict[int, int]:
    """What is not 0, by row of the screen."""
    values = seen.state[name]
    return {9 - len(values) + number: value for number, value in enumerate(values) if value}


def moved(table: Any, action: int = NOTHING, t: int = 1, **changes: Any) -> Any:
    return table.step(state(**changes), action, t=t, sticky=False)


def test_r2_start(seaquest: Any) -> None:
    start = {"player_y": 0, "faces_right": False, "oxygen": 200, "spawn_timer": 20}
    assert seaquest.reset().state == state(**start)


@pytest.mark.parametrize(
    ("ramp", "wait", "spawn"),
    [(0, 5, 20), (1, 5, 19), (2, 4, 18), (3, 4, 17), (4, 3, 16), (5, 3, 15), (6, 2, 14), (7, 2, 13), (19, 2, 1)],
)
def test_r3_r5_speeds(seaquest: Any, ramp: int, wait: int, spawn: int) -> None:
    draws = {"sticky": False, "enemy_right": True, "enemy_sub": False, "enemy_row": 2}
    before = state(fish={(7, 5): 1}, spawn_timer=0, ramp_index=ramp)
    seen = seaquest.step(before, NOTHING, t=1, **draws)
    assert seen.state["spawn_timer"] == spawn - 1
    assert enemies(seen, "fish") == {(7, 4): 1 << wait, (2, 0): 1 << (wait - 1)}


@pytest.mark.parametrize("action", range(6))
def test_r4_r7_sticky_and_moves(seaquest: Any, action: int) -> None:
    stuck = seaquest.step(state(last_action=LEFT), action, t=1, sticky=True)
    assert (stuck.state["player_x"], stuck.state["faces_right"], stuck.state["last_action"]) == (4, False, LEFT)
    x, y = {LEFT: (4, 4), RIGHT: (6, 4), UP: (5, 3), DOWN: (5, 5)}.get(action, (5, 4))
    for faces_right in (True, False):
        free = moved(seaquest, action, last_action=LEFT, faces_right=faces_right)
        assert (free.state["player_x"], free.state["player_y"]) == (x, y)
        assert free.state["faces_right"] is {LEFT: False, RIGHT: True}.get(action, faces_right)
        assert (free.state["last_action"], free.reward, free.terminated) == (action, 0.0, False)


@pytest.mark.parametrize(
    ("action", "x", "y", "right"), [(LEFT, 0, 4, False), (RIGHT, 9, 4, True), (UP, 5, 0, True), (DOWN, 5, 8, True)]
)
def test_r7_edges(seaquest: Any, action: int, x: int, y: int, right: bool) -> None:
    seen = moved(seaquest, action, player_x=x, player_y=y, faces_right=right)
    assert (seen.state["player_x"], seen.state["player_y"]) == (x, y)


@pytest.mark.parametrize(("right", "x"), [(True, 0), (False, 9)])
def test_r5_a_new_enemy(seaquest: Any, right: bool, x: int) -> None:
    """A lane with enemies takes those alone that move the same way."""
    draws = {"sticky": False, "enemy_right": right, "enemy_row": 6}
    for beside in (True, False):
        before = state(fish={(6, 4): 8}, right=(6,) if beside else (), spawn_timer=0)
        fish = seaquest.step(before, NOTHING, t=1, enemy_sub=False, **draws)
        sub = seaquest.step(before, NOTHING, t=1, enemy_sub=True, **draws)
        same = beside is right
        assert enemies(fish, "fish") == {(6, 4): 4} | ({(6, x): 16} if same else {})
        assert enemies(sub, "subs") == ({(6, x): 0xA0000} if same else {})
        assert fish.state["spawn_timer"] == sub.state["spawn_timer"] == 19
        assert [number for number, one in enumerate(sub.state["to_right"]) if one] == ([5] if beside else [])


@pytest.mark.parametrize(("t", "count"), [(0, 0), (29, 0), (30, 1), (31, 0), (60, 1)])
def test_r6_a_new_diver(seaquest: Any, t: int, count: int) -> None:
    seen = seaquest.step(state(), NOTHING, t=t, sticky=False, diver_right=False, diver_row=3)
    assert (seen.state["diver_y"], seen.state["diver_x"]) == (([3, 0], [9, 0]) if count else ([0, 0], [0, 0]))
    one = state(diver_x=[5, 0], diver_y=[8, 0], diver_right=[True, False])
    both = seaquest.step(one, NOTHING, t=60, sticky=False, diver_right=True, diver_row=3).state
    assert (both["diver_x"], both["diver_y"], both["diver_right"]) == ([5, 0], [8, 3], [True, True])


def test_r7_r8_firing(seaquest: Any) -> None:
    right = moved(seaquest, FIRE)
    assert (bits(right, "shots_right"), bits(right, "shots_left")) == ({4: 1 << 6}, {})
    left = moved(seaquest, FIRE, faces_right=False, player_y=0)
    assert (bits(left, "shots_left"), bits(left, "shots_right")) == ({0: 1 << 4}, {})
    assert right.state["fire_timer"] == 4
    wait = moved(seaquest, FIRE, fire_timer=1)
    assert (bits(wait, "shots_right"), wait.state["fire_timer"]) == ({}, 0)


def test_r8_bullets_fly_off(seaquest: Any) -> None:
    seen = moved(seaquest, shots_left=rows({2: 1}, 0), shots_right=rows({0: 1 << 9}, 0))
    assert bits(seen, "shots_left") == bits(seen, "shots_right") == {}
    on = moved(seaquest, shots_left=rows({2: 2}, 0), shots_right=rows({0: 1 << 8}, 0))
    assert (bits(on, "shots_left"), bits(on, "shots_right")) == ({2: 1}, {0: 1 << 9})


@pytest.mark.parametrize(
    ("fish", "subs", "left_fish", "left_subs"),
    [
        (0b100010, 0, 0b010000, 0),  # the one that moves first
        (0b100000, 0x50, 0, 0x4),  # a fish before a sub
        (0, 0x506000, 0, 0x40000),
        (0, 0x500000, 0, 0),
    ],
)
def test_r9_r18_a_hit(seaquest: Any, fish: int, subs: int, left_fish: int, left_subs: int) -> None:
    seen = moved(seaquest, fish={(4, 8): fish}, subs={(4, 8): subs}, shots_right=rows({4: 1 << 7}, 0))
    assert (enemies(seen, "fish").get((4, 8), 0), enemies(seen, "subs").get((4, 8), 0)) == (left_fish, left_subs)
    assert (seen.reward, bits(seen, "shots_right")) == (1.0, {})


def test_r9_two_bullets(seaquest: Any) -> None:
    """One behind the other, where the bullet behind comes to where that in front was."""
    seen = moved(seaquest, fish={(4, 7): 8, (4, 8): 8}, shots_right=rows({4: 0b11 << 6}, 0))
    assert (seen.reward, enemies(seen, "fish"), bits(seen, "shots_right")) == (2.0, {}, {})
    one = moved(seaquest, fish={(4, 7): 8}, shots_right=rows({4: 0b11 << 6}, 0))
    assert (one.reward, bits(one, "shots_right")) == (1.0, {4: 1 << 8})


@pytest.mark.parametrize("t", [10, 11])
def test_r10_divers(seaquest: Any, t: int) -> None:
    """They move with t = 11, the twelfth step."""
    before = state(diver_x=[6, 8], diver_y=[1, 2], diver_right=[True, False])
    seen = seaquest.step(before, NOTHING, t=t, sticky=False)
    assert seen.state["diver_x"] == ([7, 7] if t == 11 else [6, 8])


@pytest.mark.parametrize(("count", "after", "left"), [(0, 2, []), (5, 6, [0]), (6, 6, [0, 1]), (-3, -1, [])])
def test_r10_aboard(seaquest: Any, count: int, after: int, left: list[int]) -> None:
    """The one that came last first."""
    before = state(diver_x=[7, 7], diver_y=[4, 4], diver_right=[True, False], player_x=7, diver_count=count)
    seen = seaquest.step(before, NOTHING, t=13, sticky=False)
    assert seen.state["diver_count"] == after
    assert seen.state["diver_right"][: len(left)] == [k == 0 for k in left]
    assert [y for y in seen.state["diver_y"] if y] == [4] * len(left)


@pytest.mark.parametrize("count", [5, 6])
def test_r10_a_diver_comes_to_the_player(seaquest: Any, count: int) -> None:
    before = state(diver_x=[6, 0], diver_y=[4, 0], diver_right=[False, False], diver_count=count)
    seen = seaquest.step(before, NOTHING, t=23, sticky=False)
    assert (seen.state["diver_count"], seen.state["diver_y"]) == (6, [0, 0] if count == 5 else [4, 0])


def test_r10_the_second_takes_the_place_of_the_first(seaquest: Any) -> None:
    before = state(diver_x=[9, 5], diver_y=[2, 3], diver_right=[True, False])
    after = seaquest.step(before, NOTHING, t=59, sticky=False).state
    assert (after["diver_x"], after["diver_y"], after["diver_right"]) == ([4, 0], [3, 0], [False, False])


@pytest.mark.parametrize("name", ["fish", "subs"])
@pytest.mark.parametrize(("right", "x", "end"), [(True, 4, True), (True, 5, True), (False, 6, True), (True, 3, False)])
def test_r11_r14_the_player_is_hit(seaquest: Any, name: str, right: bool, x: int, end: bool) -> None:
    """By what comes to it, and by what was there."""
    given: Any = {name: {(4, x): 1 if name == "fish" else 0xB}, "right": (4,) if right else ()}
    seen = moved(seaquest, **given)
    assert seen.terminated is end
    assert enemies(seen, name) == {(4, x + (1 if right else -1)): 32 if name == "fish" else 0xA00000}


def test_r11_r14_off_the_screen(seaquest: Any) -> None:
    seen = moved(seaquest, fish={(1, 9): 1, (2, 0): 1}, subs={(7, 0): 0x1, (8, 9): 0x3}, right=(1, 8))
    assert enemies(seen, "fish") == enemies(seen, "subs") == bits(seen, "bombs_left") == {}
    assert seen.state["to_right"] == [False] * 8


@pytest.mark.parametrize(("digit", "bombs"), [(1, {4: 1 << 6}), (2, {})])
def test_r11_r12_a_sub_moves_into_a_bullet(seaquest: Any, digit: int, bombs: dict[int, int]) -> None:
    """It shoots all the same."""
    seen = moved(seaquest, subs={(4, 8): digit}, shots_right=rows({4: 1 << 6}, 0))
    assert (seen.reward, enemies(seen, "subs"), bits(seen, "shots_right")) == (1.0, {}, {})
    assert bits(seen, "bombs_left") == bombs


def test_r14_a_fish_moves_into_a_bullet(seaquest: Any) -> None:
    seen = moved(seaquest, fish={(4, 8): 0b101}, shots_right=rows({4: 1 << 6}, 0))
    assert (seen.reward, enemies(seen, "fish"), bits(seen, "shots_right")) == (1.0, {(4, 8): 2}, {})


def test_r12_r13_subs_shoot(seaquest: Any) -> None:
    seen = moved(seaquest, subs={(2, 7): 0x100, (3, 2): 0x1}, right=(3,))
    assert enemies(seen, "subs") == {(2, 7): 0xB0, (3, 3): 0xB00000}
    assert (bits(seen, "bombs_left"), bits(seen, "bombs_right")) == ({2: 1 << 6}, {3: 1 << 4})


@pytest.mark.parametrize("bombs", ["left", "right"])
@pytest.mark.parametrize(("ahead", "end"), [(0, True), (1, True), (2, False)])
def test_r13_bullets_of_subs(seaquest: Any, bombs: str, ahead: int, end: bool) -> None:
    x = 5 + ahead if bombs == "left" else 5 - ahead
    seen = moved(seaquest, **{f"bombs_{bombs}": rows({4: 1 << x, 5: 1 << x, 1: 1 if bombs == "left" else 512})})
    assert seen.terminated is end
    there = 1 << (x - 1 if bombs == "left" else x + 1)
    assert bits(seen, f"bombs_{bombs}") == {4: there, 5: there}


@pytest.mark.parametrize(("oxygen", "end"), [(1, False), (0, True)])
def test_r16_oxygen(seaquest: Any, oxygen: int, end: bool) -> None:
    seen = moved(seaquest, oxygen=oxygen)
    assert (seen.terminated, seen.state["oxygen"]) == (end, oxygen - 1)
    assert moved(seaquest, player_y=0, oxygen=50).state["oxygen"] == 50


@pytest.mark.parametrize(
    ("count", "after", "reward", "end"),
    [(0, 0, 0.0, True), (1, 0, 0.0, False), (5, 4, 0.0, False), (6, -1, 4.0, False), (-1, -2, 0.0, False)],
)
def test_r17_r18_coming_up(seaquest: Any, count: int, after: int, reward: float, end: bool) -> None:
    seen = moved(seaquest, UP, t=2, player_y=1, diver_count=count, oxygen=99)
    assert (seen.state["diver_count"], seen.reward, seen.terminated) == (after, reward, end)
    assert (seen.state["oxygen"], seen.state["ramp_index"]) == ((99, 0) if end else (200, 1))
    rest = moved(seaquest, player_y=0, diver_count=count)
    assert (rest.state["diver_count"], rest.terminated) == (count, False)


@pytest.mark.parametrize(("ramp", "ramping", "after"), [(18, True, 19), (19, True, 19), (3, False, 3)])
def test_r17_harder(seaquest: Any, ramp: int, ramping: bool, after: int) -> None:
    before = state(player_y=1, diver_count=2, ramp_index=ramp)
    seen = seaquest.step(before, UP, t=1, sticky=False, params={"difficulty_ramping": ramping})
    assert seen.state["ramp_index"] == after


def test_r20_the_rules_leave_time_to_the_engine(seaquest: Any) -> None:
    assert moved(seaquest, t=999).terminated is False
    assert seaquest.schema.max_episode_steps == 1000


def test_r21_observation(seaquest: Any) -> None:
    before = state(
        fish={(1, 0): 1, (2, 3): 6}, subs={(8, 9): 0x500}, right=(1,), oxygen=59, diver_count=3,
        shots_left=rows({0: 1}, 0), shots_right=rows({8: 1 << 8}, 0),
        bombs_left=rows({7: 2}), bombs_right=rows({3: 8}),
        diver_x=[9, 1], diver_y=[5, 6], diver_right=[False, True],
    )  # fmt: skip
    shown = seaquest.look(before, t=31).observation
    ones = {(y, x, c) for y in range(10) for x in range(10) for c in range(10) if shown[y][x][c]}
    things = {(4, 5, 0), (4, 4, 1), (0, 0, 2), (8, 8, 2), (7, 1, 4), (3, 3, 4), (1, 0, 5), (2, 3, 5), (8, 9, 6)}
    trails, divers = {(2, 4, 3), (6, 0, 3)}, {(5, 9, 9), (6, 1, 9)}
    gauges = {(9, 0, 7), (9, 1, 7), (9, 6, 8), (9, 7, 8), (9, 8, 8)}
    assert ones == things | trails | divers | gauges


@pytest.mark.parametrize("changes", [{"oxygen": -1, "diver_count": -4}, {"oxygen": 19, "diver_count": 0}])
def test_r21_empty_gauges(seaquest: Any, changes: dict[str, int]) -> None:
    shown = seaquest.look(state(**changes), t=50).observation
    assert not any(shown[9][x][c] for x in range(10) for c in (7, 8))


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"fish": {(1, 9): 0b010000, (1, 6): 0b100100}, "subs": {(1, 3): 0xB0A0}}, set()),
        ({"shots_right": rows({1: 1 << 6, 8: 1 << 7}, 0)}, set()),
        ({"shots_right": rows({1: 1 << 5}, 0)}, {"shots_fly_away"}),
        ({"shots_left": rows({1: 1 << 5}, 0)}, {"shots_fly_away"}),
        ({"shots_right": rows({1: 7 << 6}, 0)}, {"shots_fly_away"}),
        ({"right": (3,)}, {"empty_places"}),
        ({"subs": {(3, 3): 0xC}}, {"empty_places"}),
        ({"diver_x": [1, 0]}, {"empty_places"}),
        ({"diver_y": [0, 4], "diver_x": [0, 9]}, {"empty_places", "divers_in_time"}),
        ({"fish": {(3, 3): 1}, "subs": {(3, 3): 3}}, {"in_file"}),
        ({"fish": {(3, 3): 1, (3, 2): 1 << 5}, "ramp_index": 2}, {"in_file"}),
        ({"fish": {(3, 9): 1 << 5}, "spawn_timer": 0}, {"in_file"}),
        ({"fish": {(3, 9): 1 << 5}}, set()),
        ({"subs": {(3, 4): 0x30, (3, 5): 0x3}}, {"shoot_apart"}),
        ({"subs": {(3, 4): 0x30, (3, 6): 0x3}}, set()),
        ({"subs": {(3, 4): 0x33}}, {"shoot_apart"}),
        ({"diver_y": [4, 3], "diver_x": [1, 6]}, set()),
        ({"diver_y": [4, 0], "diver_x": [2, 0]}, {"divers_in_time"}),
        ({"diver_y": [4, 3], "diver_x": [6, 1]}, {"divers_in_time"}),
        ({"diver_count": -25}, {"divers_owed"}),
        ({"diver_count": -24}, set()),
    ],
)
def test_r23_to_r28_invariants(seaquest: Any, changes: dict[str, Any], broken: set[str]) -> None:
    holds = seaquest.look(state(**changes), t=49).invariants
    assert {name for name, value in holds.items() if not value} == broken


@pytest.mark.parametrize(
    ("x", "right", "holds"), [(0, True, False), (0, False, True), (9, False, False), (9, True, True), (1, True, True)]
)
def test_r22_who_does_not_face_in_has_no_stern(seaquest: Any, x: int, right: bool, holds: bool) -> None:
    """MinAtar's program shows it at the other side of the screen, or not at all."""
    before = state(player_x=x, faces_right=right)
    one, many = load_state(seaquest.schema, before), load_states(seaquest.schema, [before])
    ctx = Context(None, 0, None)
    assert seaquest.reference.faces_in(one, ctx) is seaquest.fast.faces_in(many, ctx).item() is holds
