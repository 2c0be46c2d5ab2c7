"""minigrid_fourrooms, rule by rule: what spec.md says, worked out by hand, in both twins."""

from __future__ import annotations

import pytest
import torch
from kit.minigrid import Outcome, Row, both_start, both_step, cells, reference_twin, twin

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NAME = "minigrid_fourrooms"
LEFT, RIGHT, FORWARD, DONE = 0, 1, 2, 6
EMPTY, WALL, GOAL = [1, 0, 0], [2, 5, 0], [8, 1, 0]
HERE = {
    "gap_top": 4, "gap_left": 3, "gap_right": 15, "gap_bottom": 12, "goal_x": 10, "goal_y": 4,
    "x": 8, "y": 4, "direction": 0,
}  # fmt: skip


def at(**changes: int) -> Row:
    return HERE | changes


def letters(seen: Outcome) -> list[str]:
    """The view as text, the farthest row first: ` ` hidden, `.` empty, `#` wall, `G` goal."""
    names = {(0, 0, 0): " ", (1, 0, 0): ".", (2, 5, 0): "#", (8, 1, 0): "G"}
    return ["".join(names[tuple(cell)] for cell in row) for row in cells(seen).swapaxes(0, 1).tolist()]


def place(seen: Outcome) -> tuple[int, int]:
    return seen.state["x"], seen.state["y"]


@pytest.mark.parametrize("action", [3, 4, 5, 6])
def test_r1_other_actions_do_nothing(action: int) -> None:
    for state in (HERE, at(x=9), at(x=1, y=1, direction=3)):
        seen = both_step(NAME, state, action)
        assert (seen.state, seen.reward, seen.terminated, seen.truncated) == (state, 0.0, False, False)


@pytest.mark.parametrize(
    ("number", "x", "y"),
    [
        (0, 1, 1), (7, 8, 1), (8, 10, 1), (15, 17, 1), (16, 1, 2),
        (48, 1, 4), (55, 8, 4), (56, 9, 4), (57, 10, 4), (64, 17, 4), (65, 1, 5),  # the row of the upper gap
        (128, 17, 8), (129, 3, 9), (130, 15, 9), (131, 1, 10),  # the two gaps of the row in the middle
        (163, 1, 12), (170, 8, 12), (171, 9, 12), (172, 10, 12), (179, 17, 12), (180, 1, 13), (259, 17, 17),
    ],
)  # fmt: skip
def test_r2_to_r6_start(number: int, x: int, y: int) -> None:
    gaps = {name: HERE[name] for name in ("gap_top", "gap_left", "gap_right", "gap_bottom")}
    for goal, goal_at in ((number, (17, 17)) if number < 259 else (0, (1, 1)), (number - 1, None)):
        if 0 <= goal < 259:
            # The agent there: goals before it keep their number, those after it have one less.
            start = both_start(NAME, {}, **gaps, place=number, direction=2, goal=258 if goal_at == (17, 17) else goal)
            assert {name: start[name] for name in gaps} == gaps
            assert (start["x"], start["y"], start["direction"]) == (x, y, 2)
            if goal_at:
                assert (start["goal_x"], start["goal_y"]) == goal_at
    # The goal there, with the agent before it or after it.
    for agent, goal in ((0, number - 1), (259, number)):
        if agent != number:
            start = both_start(NAME, {}, **gaps, place=agent, direction=0, goal=goal)
            assert (start["goal_x"], start["goal_y"]) == (x, y)


def test_r7_turns() -> None:
    for direction, left, right in ((0, 3, 1), (1, 0, 2), (2, 1, 3), (3, 2, 0)):
        assert both_step(NAME, at(direction=direction), LEFT).state == at(direction=left)
        assert both_step(NAME, at(direction=direction), RIGHT).state == at(direction=right)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((8, 4, 0), (9, 4)), ((8, 5, 0), (8, 5)), ((9, 4, 1), (9, 4)), ((9, 4, 3), (9, 4)), ((9, 4, 2), (8, 4)),
        ((3, 8, 1), (3, 9)), ((4, 8, 1), (4, 8)), ((3, 9, 0), (3, 9)), ((3, 9, 1), (3, 10)), ((3, 10, 3), (3, 9)),
        ((15, 8, 1), (15, 9)), ((16, 8, 1), (16, 8)), ((8, 12, 0), (9, 12)), ((10, 12, 2), (9, 12)),
        ((8, 15, 0), (8, 15)), ((3, 8, 0), (4, 8)), ((1, 3, 2), (1, 3)), ((3, 1, 3), (3, 1)), ((17, 3, 0), (17, 3)),
        ((3, 17, 1), (3, 17)),
    ],
)  # fmt: skip
def test_r8_walls_and_gaps(before: tuple[int, int, int], after: tuple[int, int]) -> None:
    x, y, direction = before
    seen = both_step(NAME, at(x=x, y=y, direction=direction), FORWARD)
    assert (place(seen), seen.terminated) == (after, False)


@pytest.mark.parametrize("t", [0, 41, 99])
def test_r9_to_r11_goal(t: int) -> None:
    seen = both_step(NAME, at(x=9), FORWARD, t)
    assert (place(seen), seen.terminated, seen.truncated) == ((10, 4), True, t == 99)
    assert seen.reward == 1 - 0.9 * ((t + 1) / 100)
    assert cells(seen)[3, 6].tolist() == EMPTY  # R17
    assert GOAL not in cells(seen).reshape(49, 3).tolist()


def test_r10_only_a_step_onto_the_goal_ends() -> None:
    for state, action in ((at(x=10), DONE), (at(x=10), FORWARD), (at(x=9), DONE), (at(x=9), LEFT)):
        seen = both_step(NAME, state, action)
        assert (seen.reward, seen.terminated) == (0.0, False)


def test_r11_r12_time() -> None:
    assert not both_step(NAME, HERE, DONE, 98).truncated
    assert both_step(NAME, HERE, DONE, 99).truncated
    assert load_package(NAME).schema.max_episode_steps == 100


def test_r13_to_r18_before_a_gap() -> None:
    """Sight passes the gap and spreads to the sides at once, as far as the floor is clear."""
    assert letters(both_step(NAME, at(x=7, y=4), DONE)) == [
        ".......",
        ".......",
        ".......",
        "...G...",
        "###.###",
        ".......",
        ".......",
    ]


def test_r15_in_a_gap() -> None:
    assert letters(both_step(NAME, at(x=9), DONE)) == [
        ".......",
        ".......",
        ".......",
        ".......",
        ".......",
        "...G...",
        "  #.#  ",
    ]


def test_r15_a_gap_on_the_left_hand() -> None:
    """Along the wall in the middle: through its gap, two cells ahead, the room behind it is seen from there on."""
    assert letters(both_step(NAME, at(x=5, y=8, direction=2), DONE)) == [
        "       ",
        "#######",
        "..#....",
        "..#....",
        ".......",
        "  #....",
        "  #....",
    ]


def test_r16_outside_is_wall_where_it_is_seen() -> None:
    assert letters(both_step(NAME, at(x=1, y=1, direction=3), DONE)) == [
        "       ",
        "       ",
        "       ",
        "       ",
        "       ",
        "  #####",
        "  #....",
    ]


def test_r19_direction() -> None:
    assert [both_step(NAME, at(direction=d), DONE).direction for d in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "t", "broken"),
    [
        ({}, 100, set()),
        ({}, 101, {"in_time"}),
        ({"x": 9}, 0, set()),
        ({"x": 9, "y": 5}, 0, {"out_of_walls"}),
        ({"x": 3, "y": 9}, 0, set()),
        ({"x": 15, "y": 9}, 0, set()),
        ({"x": 9, "y": 12}, 0, set()),
        ({"x": 4, "y": 9}, 0, {"out_of_walls"}),
        ({"x": 9, "y": 9}, 0, {"out_of_walls"}),
        ({"goal_x": 9, "goal_y": 4}, 0, set()),
        ({"goal_x": 9, "goal_y": 5}, 0, {"out_of_walls"}),
        ({"goal_x": 2, "goal_y": 9}, 0, {"out_of_walls"}),
    ],
)
def test_r20_r21_invariants(changes: dict[str, int], t: int, broken: set[str]) -> None:
    reference, fast, state = reference_twin(NAME), twin(NAME), at(**changes)
    names = ("out_of_walls", "in_time")
    one, many = load_state(fast.schema, state), load_states(fast.schema, [state])
    times = torch.tensor([t])
    assert {name for name in names if not getattr(reference, name)(one, Context(None, t, None))} == broken
    assert {name for name in names if not getattr(fast, name)(many, Context(None, times, None)).item()} == broken
