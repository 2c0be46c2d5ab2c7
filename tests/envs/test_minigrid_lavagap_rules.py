"""minigrid_lavagap, rule by rule: what spec.md says, worked out by hand, in both twins."""

from __future__ import annotations

import pytest
import torch
from kit.minigrid import Outcome, Row, both_start, both_step, cells, reference_twin, twin

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NAME = "minigrid_lavagap"
LEFT, RIGHT, FORWARD, DONE = 0, 1, 2, 6
EMPTY = [1, 0, 0]


def at(x: int, y: int, direction: int, size: int = 7, gap_x: int = 3, gap_y: int = 3) -> Row:
    return {"size": size, "gap_x": gap_x, "gap_y": gap_y, "x": x, "y": y, "direction": direction}


def letters(seen: Outcome) -> list[str]:
    """The view as text, the farthest row first: ` ` hidden, `.` empty, `#` wall, `G` goal, `~` lava."""
    names = {(0, 0, 0): " ", (1, 0, 0): ".", (2, 5, 0): "#", (8, 1, 0): "G", (9, 0, 0): "~"}
    return ["".join(names[tuple(cell)] for cell in row) for row in cells(seen).swapaxes(0, 1).tolist()]


@pytest.mark.parametrize("action", [3, 4, 5, 6])
def test_r1_other_actions_do_nothing(action: int) -> None:
    for state in (at(2, 4, 0), at(5, 4, 1), at(1, 1, 3)):
        seen = both_step(NAME, state, action)
        assert (seen.state, seen.reward, seen.terminated, seen.truncated) == (state, 0.0, False, False)


@pytest.mark.parametrize(("size", "gap_x", "gap_y"), [(5, 2, 1), (5, 2, 3), (6, 3, 4), (7, 4, 5)])
def test_r2_r3_start(size: int, gap_x: int, gap_y: int) -> None:
    assert both_start(NAME, {"size": size}, gap_x=gap_x, gap_y=gap_y) == at(1, 1, 0, size, gap_x, gap_y)


def test_r4_turns() -> None:
    for direction, left, right in ((0, 3, 1), (1, 0, 2), (2, 1, 3), (3, 2, 0)):
        assert both_step(NAME, at(2, 2, direction), LEFT).state == at(2, 2, left)
        assert both_step(NAME, at(2, 2, direction), RIGHT).state == at(2, 2, right)


@pytest.mark.parametrize(("direction", "x", "y"), [(0, 5, 3), (1, 4, 4), (2, 3, 3), (3, 4, 2)])
def test_r5_forward(direction: int, x: int, y: int) -> None:
    seen = both_step(NAME, at(4, 3, direction), FORWARD)
    assert (seen.state, seen.terminated) == (at(x, y, direction), False)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_r5_walls_are_not_entered(size: int) -> None:
    last = size - 2
    for state in ((last, 2, 0), (1, last, 1), (1, 2, 2), (1, 1, 3)):
        before = at(*state, size=size, gap_x=2, gap_y=1)
        seen = both_step(NAME, before, FORWARD)
        assert (seen.state, seen.terminated) == (before, False)


@pytest.mark.parametrize("t", [0, 9, 100, 195])
@pytest.mark.parametrize("start", [at(4, 5, 0), at(5, 4, 1)])
def test_r6_r7_goal(start: Row, t: int) -> None:
    seen = both_step(NAME, start, FORWARD, t)
    assert (seen.state["x"], seen.state["y"]) == (5, 5)
    assert seen.terminated
    assert seen.reward == 1 - 0.9 * ((t + 1) / 196)
    assert seen.truncated == (t == 195)  # R8: both at once


@pytest.mark.parametrize("t", [0, 195])
@pytest.mark.parametrize(("start", "x", "y"), [(at(2, 2, 0), 3, 2), (at(4, 5, 2), 3, 5), (at(3, 3, 1), 3, 4)])
def test_r6_r7_lava(start: Row, x: int, y: int, t: int) -> None:
    seen = both_step(NAME, start, FORWARD, t)
    assert (seen.state["x"], seen.state["y"]) == (x, y)
    assert (seen.reward, seen.terminated, seen.truncated) == (0.0, True, t == 195)


def test_r7_only_a_step_ends() -> None:
    for state, action in ((at(3, 2, 0), DONE), (at(3, 2, 0), FORWARD), (at(5, 5, 0), FORWARD), (at(2, 2, 0), LEFT)):
        seen = both_step(NAME, state, action)
        assert (seen.reward, seen.terminated) == (0.0, False)


@pytest.mark.parametrize(("size", "most"), [(5, 100), (6, 144), (7, 196)])
def test_r8_time(size: int, most: int) -> None:
    state = at(1, 1, 0, size, 2, 1)
    assert not both_step(NAME, state, DONE, most - 2).truncated
    assert both_step(NAME, state, DONE, most - 1).truncated


def test_r9_the_engine_never_cuts_before_the_rules() -> None:
    assert load_package(NAME).schema.max_episode_steps == 4 * 7**2


def test_r10_to_r13_view_of_the_strip() -> None:
    """Looking right: the gap is straight ahead, the goal on the right hand beyond."""
    assert letters(both_step(NAME, at(1, 3, 0), DONE)) == [
        "       ",
        "#######",
        "#....G#",
        "#.....#",
        "#~~.~~#",
        "#.....#",
        "#.....#",
    ]


def test_r11_nothing_is_seen_beyond_a_wall() -> None:
    assert letters(both_step(NAME, at(1, 1, 3, 5, 2, 2), DONE)) == [
        "       ",
        "       ",
        "       ",
        "       ",
        "       ",
        "  #####",
        "  #.~.#",
    ]


def test_r13_own_cell_is_empty_in_lava_and_on_the_goal_too() -> None:
    for state in (at(2, 2, 0), at(5, 4, 1)):
        seen = both_step(NAME, state, FORWARD)
        assert seen.terminated
        assert cells(seen)[3, 6].tolist() == EMPTY


def test_r14_direction() -> None:
    assert [both_step(NAME, at(2, 3, d), DONE).direction for d in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("state", "t", "broken"),
    [
        (at(5, 5, 0), 196, set()),
        (at(1, 1, 0), 197, {"in_time"}),
        (at(1, 1, 0, 5, 2, 3), 101, {"in_time"}),
        (at(4, 1, 0, 5, 2, 3), 0, {"in_the_room"}),
        (at(1, 5, 0, 6, 2, 3), 0, {"in_the_room"}),
        (at(1, 1, 0, 5, 3, 3), 0, {"gap_in_place"}),
        (at(1, 1, 0, 6, 3, 5), 0, {"gap_in_place"}),
    ],
)
def test_r15_to_r17_invariants(state: Row, t: int, broken: set[str]) -> None:
    reference, fast = reference_twin(NAME), twin(NAME)
    names = ("in_the_room", "gap_in_place", "in_time")
    one, many = load_state(fast.schema, state), load_states(fast.schema, [state])
    times = torch.tensor([t])
    assert {name for name in names if not getattr(reference, name)(one, Context(None, t, None))} == broken
    assert {name for name in names if not getattr(fast, name)(many, Context(None, times, None)).item()} == broken
