"""minigrid_empty, rule by rule: what spec.md says, worked out by hand, in both twins."""

from __future__ import annotations

import pytest
import torch
from kit.minigrid import Row, both_start, both_step, cells, reference_twin, twin

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NAME = "minigrid_empty"
LEFT, RIGHT, FORWARD, DONE = 0, 1, 2, 6
EMPTY, WALL, GOAL = [1, 0, 0], [2, 5, 0], [8, 1, 0]


def at(x: int, y: int, direction: int, size: int = 8) -> Row:
    return {"size": size, "x": x, "y": y, "direction": direction}


@pytest.mark.parametrize("action", [3, 4, 5, 6])
def test_r1_other_actions_do_nothing(action: int) -> None:
    for state in (at(3, 4, 2), at(6, 5, 1), at(1, 1, 3)):
        seen = both_step(NAME, state, action)
        assert (seen.state, seen.reward, seen.terminated, seen.truncated) == (state, 0.0, False, False)


def test_r2_start_in_the_corner() -> None:
    assert both_start(NAME, {}, place=20, direction=3) == at(1, 1, 0)
    assert both_start(NAME, {"size": 16}) == at(1, 1, 0, 16)


@pytest.mark.parametrize(
    ("size", "place", "x", "y"),
    [(5, 0, 1, 1), (5, 2, 3, 1), (5, 3, 1, 2), (5, 7, 2, 3), (16, 194, 13, 14), (16, 14, 1, 2), (8, 34, 5, 6)],
)
def test_r3_r4_random_start(size: int, place: int, x: int, y: int) -> None:
    for direction in range(4):
        start = both_start(NAME, {"size": size, "random_start": 1}, place=place, direction=direction)
        assert start == at(x, y, direction, size)


def test_r5_turns() -> None:
    for direction, left, right in ((0, 3, 1), (1, 0, 2), (2, 1, 3), (3, 2, 0)):
        assert both_step(NAME, at(2, 2, direction), LEFT).state == at(2, 2, left)
        assert both_step(NAME, at(2, 2, direction), RIGHT).state == at(2, 2, right)


@pytest.mark.parametrize(("direction", "x", "y"), [(0, 4, 3), (1, 3, 4), (2, 2, 3), (3, 3, 2)])
def test_r6_forward(direction: int, x: int, y: int) -> None:
    assert both_step(NAME, at(3, 3, direction), FORWARD).state == at(x, y, direction)


@pytest.mark.parametrize("size", [5, 8, 16])
def test_r6_walls_are_not_entered(size: int) -> None:
    last = size - 2
    for state in (at(last, 2, 0, size), at(2, last, 1, size), at(1, 2, 2, size), at(2, 1, 3, size)):
        assert both_step(NAME, state, FORWARD).state == state


@pytest.mark.parametrize("t", [0, 9, 100, 255])
@pytest.mark.parametrize("start", [at(5, 6, 0), at(6, 5, 1)])
def test_r7_r8_goal(start: Row, t: int) -> None:
    seen = both_step(NAME, start, FORWARD, t)
    assert (seen.state["x"], seen.state["y"]) == (6, 6)
    assert seen.terminated
    assert seen.reward == 1 - 0.9 * ((t + 1) / 256)
    assert seen.truncated == (t == 255)  # R9: both at once


def test_r8_only_a_step_onto_the_goal_ends() -> None:
    for state, action in ((at(5, 6, 1), FORWARD), (at(6, 6, 0), FORWARD), (at(6, 6, 0), DONE), (at(5, 6, 0), LEFT)):
        seen = both_step(NAME, state, action)
        assert (seen.reward, seen.terminated) == (0.0, False)


@pytest.mark.parametrize(("size", "most"), [(5, 100), (6, 144), (8, 256), (16, 1024)])
def test_r9_time(size: int, most: int) -> None:
    assert not both_step(NAME, at(1, 1, 0, size), DONE, most - 2).truncated
    assert both_step(NAME, at(1, 1, 0, size), DONE, most - 1).truncated


def test_r10_the_engine_never_cuts_before_the_rules() -> None:
    assert load_package(NAME).schema.max_episode_steps == 4 * 16**2


def test_r11_r12_view_in_a_corner() -> None:
    """Looking right from the upper left corner: the wall is on the left hand, and the room's end lies ahead."""
    seen = cells(both_step(NAME, at(1, 1, 0, 5), DONE))
    row_ahead = [WALL] * 4 + [EMPTY] * 3  # from the farthest
    expected = [[WALL] * 7] * 3 + [row_ahead, row_ahead, [*row_ahead[:4], GOAL, EMPTY, EMPTY], [WALL] * 7]
    assert seen.tolist() == expected


@pytest.mark.parametrize(("direction", "column", "row"), [(0, 4, 4), (1, 1, 5)])
def test_r11_r13_goal_ahead(direction: int, column: int, row: int) -> None:
    seen = cells(both_step(NAME, at(4, 5, direction), DONE))
    assert [(i, j) for i in range(7) for j in range(7) if seen[i, j].tolist() == GOAL] == [(column, row)]


@pytest.mark.parametrize("direction", [2, 3])
def test_r11_what_is_behind_is_not_seen(direction: int) -> None:
    assert GOAL not in cells(both_step(NAME, at(4, 5, direction), DONE)).reshape(49, 3).tolist()


def test_r13_own_cell_is_empty_on_the_goal_too() -> None:
    seen = both_step(NAME, at(5, 6, 0), FORWARD)
    assert cells(seen)[3, 6].tolist() == EMPTY
    assert GOAL not in cells(seen).reshape(49, 3).tolist()


def test_r14_direction() -> None:
    assert [both_step(NAME, at(3, 3, d), DONE).direction for d in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("state", "t", "name", "holds"),
    [
        (at(6, 6, 0), 3, "in_the_room", True),
        (at(7, 2, 0), 3, "in_the_room", False),
        (at(2, 7, 0), 3, "in_the_room", False),
        (at(4, 1, 0, 5), 3, "in_the_room", False),
        (at(1, 1, 0), 256, "in_time", True),
        (at(1, 1, 0), 257, "in_time", False),
    ],
)
def test_r15_r16_invariants(state: Row, t: int, name: str, holds: bool) -> None:
    reference, fast = reference_twin(NAME), twin(NAME)
    assert getattr(reference, name)(load_state(fast.schema, state), Context(None, t, None)) is holds
    rows = load_states(fast.schema, [state])
    assert getattr(fast, name)(rows, Context(None, torch.tensor([t]), None)).tolist() == [holds]
