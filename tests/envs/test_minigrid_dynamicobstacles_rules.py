"""minigrid_dynamicobstacles, rule by rule: what spec.md says, worked out by hand, in both twins."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from kit.minigrid import Outcome, Row, both_start, both_step, cells, reference_twin, twin

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NAME = "minigrid_dynamicobstacles"
LEFT, RIGHT, FORWARD = 0, 1, 2
EMPTY = [1, 0, 0]


def at(x: int, y: int, direction: int, *balls: tuple[int, int], size: int = 6) -> Row:
    absent = [-1] * (4 - len(balls))
    return {
        "size": size, "ball_x": [one[0] for one in balls] + absent, "ball_y": [one[1] for one in balls] + absent,
        "x": x, "y": y, "direction": direction,
    }  # fmt: skip


def stepped(state: Row, action: int, *moves: int, t: int = 0) -> Outcome:
    return both_step(NAME, state, action, t, moves=[*moves, *[0] * (4 - len(moves))])


def balls(seen: Any) -> list[tuple[int, int]]:
    state = seen.state if isinstance(seen, Outcome) else seen
    return [place for place in zip(state["ball_x"], state["ball_y"], strict=True) if place != (-1, -1)]


def letters(seen: Outcome) -> list[str]:
    """The view as text, the farthest row first: `.` empty, `#` wall, `G` goal, `o` ball."""
    names = {(1, 0, 0): ".", (2, 5, 0): "#", (8, 1, 0): "G", (6, 2, 0): "o"}
    return ["".join(names[tuple(cell)] for cell in row) for row in cells(seen).swapaxes(0, 1).tolist()]


def test_r1_there_are_three_actions() -> None:
    assert load_package(NAME).schema.action.leaf.high == 2


@pytest.mark.parametrize(("size", "asked", "there"), [(5, 3, 3), (5, 4, 2), (6, 4, 4), (7, 4, 4), (8, 2, 2)])
def test_r2_how_many(size: int, asked: int, there: int) -> None:
    start = both_start(NAME, {"size": size, "obstacles": asked}, place=3, direction=2, balls=[0, 0, 0, 0])
    # In the corner whatever was drawn; the balls in the first row after it, then in the next.
    assert start == at(1, 1, 0, *[(2, 1), (3, 1), (4, 1), (5, 1)][: min(there, size - 3)],
                       *[(1, 2), (2, 2)][: there - min(there, size - 3)], size=size)  # fmt: skip


@pytest.mark.parametrize(
    ("place", "x", "y", "drawn", "there"),
    [
        (0, 1, 1, (13, 12, 11), [(3, 4), (2, 4), (1, 4)]),
        (14, 3, 4, (13, 12, 11), [(2, 4), (1, 4), (4, 3)]),
        (14, 3, 4, (0, 0, 0), [(1, 1), (2, 1), (3, 1)]),
        (5, 2, 2, (5, 5, 5), [(3, 2), (4, 2), (1, 3)]),
        (5, 2, 2, (6, 4, 4), [(4, 2), (1, 2), (3, 2)]),
        (5, 2, 2, (4, 3, 4), [(1, 2), (4, 1), (4, 2)]),
    ],
)
def test_r3_to_r5_places(place: int, x: int, y: int, drawn: tuple[int, ...], there: list[tuple[int, int]]) -> None:
    """Numbers of free cells: those that are taken, before or after in the row, are left out."""
    start = both_start(NAME, {"random_start": 1}, place=place, direction=3, balls=[*drawn, 0])
    assert start == at(x, y, 3, *there)


@pytest.mark.parametrize(("direction", "x", "y"), [(0, 5, 3), (1, 3, 5), (2, 1, 3), (3, 3, 1)])
def test_r6_r10_walls_collide(direction: int, x: int, y: int) -> None:
    ahead = {0: (4, 3), 1: (3, 4), 2: (1, 3), 3: (3, 1)}[direction]  # the last cell before the wall
    seen = stepped(at(*ahead, direction), FORWARD)
    assert (seen.state, seen.reward, seen.terminated, seen.truncated) == (at(*ahead, direction), -1.0, True, False)
    assert not stepped(at(*ahead, direction), LEFT).terminated


def test_r6_r9_r10_a_ball_ahead() -> None:
    before = at(2, 2, 0, (3, 2))
    # Free around it, row by row: (2, 1), (3, 1), (4, 1), (4, 2), (2, 3), (3, 3), (4, 3).
    seen = stepped(before, FORWARD, 3)
    assert (balls(seen), seen.state["x"]) == ([(4, 2)], 3)  # it went out of the way, and the agent after it
    assert (seen.reward, seen.terminated) == (-1.0, True)
    shut = at(4, 2, 3, (4, 1), (3, 1), (3, 2), size=6)
    seen = stepped(shut, FORWARD)
    assert (balls(seen)[0], seen.state["y"]) == ((4, 1), 2)  # it could not, and the agent stays
    assert (seen.reward, seen.terminated) == (-1.0, True)
    for action in (LEFT, RIGHT):
        seen = stepped(before, action, 3)
        assert (seen.reward, seen.terminated) == (0.0, False)


def test_r9_a_ball_that_comes_in_the_way() -> None:
    seen = stepped(at(2, 2, 0, (4, 2)), FORWARD, 2)
    assert (balls(seen), seen.state["x"]) == ([(3, 2)], 2)
    assert (seen.reward, seen.terminated) == (0.0, False)


@pytest.mark.parametrize(
    ("number", "place"), [(0, (2, 1)), (1, (3, 1)), (2, (4, 1)), (3, (4, 2)), (4, (2, 3)), (5, (3, 3)), (6, (4, 3))]
)
def test_r7_places_around(number: int, place: tuple[int, int]) -> None:
    assert balls(stepped(at(2, 2, 3, (3, 2)), LEFT, number)) == [place]


def test_r7_neither_walls_nor_the_goal_nor_the_agent() -> None:
    """Below the ball is a wall, to its right the goal, and the agent stands to its upper left: three cells are left."""
    before = at(2, 3, 3, (3, 4))
    assert [balls(stepped(before, LEFT, number)) for number in range(3)] == [[(3, 3)], [(4, 3)], [(2, 4)]]


def test_r7_one_after_the_other() -> None:
    """The second may go where the first has gone from, and not where it has gone to."""
    before = at(4, 1, 1, (1, 1), (2, 1))
    # First (1, 1): free (1, 2), (2, 2). Then (2, 1): free (1, 1), (3, 1), and of the row below what is left.
    assert balls(stepped(before, LEFT, 0, 0)) == [(1, 2), (1, 1)]
    assert balls(stepped(before, LEFT, 0, 2)) == [(1, 2), (2, 2)]
    assert balls(stepped(before, LEFT, 1, 2)) == [(2, 2), (1, 2)]
    assert balls(stepped(before, LEFT, 1, 3)) == [(2, 2), (3, 2)]


def test_r7_the_agent_is_where_it_was() -> None:
    """Balls move before the agent: not onto the cell that it leaves."""
    before = at(1, 1, 0, (1, 2))
    seen = stepped(before, FORWARD, 0)
    assert (balls(seen), seen.state["x"]) == ([(2, 1)], 1)  # the first that is free, and in its way
    assert not seen.terminated
    seen = stepped(before, FORWARD, 1)
    assert (balls(seen), seen.state["x"]) == ([(2, 2)], 2)


def test_r7_shut_in() -> None:
    """The first cannot move and its draw is not looked at; those after it have their own all the same."""
    before = at(2, 2, 0, (1, 1), (2, 1), (1, 2))
    assert balls(stepped(before, LEFT, 5, 0, 0)) == [(1, 1), (3, 1), (2, 1)]
    assert balls(stepped(before, LEFT, 0, 0, 2)) == [(1, 1), (3, 1), (2, 3)]


def test_r8_turns() -> None:
    for direction, left, right in ((0, 3, 1), (1, 0, 2), (2, 1, 3), (3, 2, 0)):
        assert stepped(at(2, 2, direction), LEFT).state == at(2, 2, left)
        assert stepped(at(2, 2, direction), RIGHT).state == at(2, 2, right)


@pytest.mark.parametrize("t", [0, 77, 143])
def test_r11_to_r14_goal_and_time(t: int) -> None:
    for start in (at(3, 4, 0, (4, 3)), at(4, 3, 1, (3, 4))):
        seen = stepped(start, FORWARD, t=t)
        assert ((seen.state["x"], seen.state["y"]), seen.terminated, seen.truncated) == ((4, 4), True, t == 143)
        assert seen.reward == 1 - 0.9 * ((t + 1) / 144)
        assert cells(seen)[3, 6].tolist() == EMPTY  # R18
    assert not stepped(at(4, 4, 2), FORWARD).terminated
    assert not stepped(at(3, 4, 0), LEFT, t=t).terminated


@pytest.mark.parametrize(("size", "most"), [(5, 100), (6, 144), (7, 196), (8, 256)])
def test_r13_r15_time(size: int, most: int) -> None:
    assert not stepped(at(1, 1, 0, size=size), LEFT, t=most - 2).truncated
    assert stepped(at(1, 1, 0, size=size), LEFT, t=most - 1).truncated
    assert load_package(NAME).schema.max_episode_steps == 256


def test_r16_to_r18_view() -> None:
    """Looking right: two balls in the next column, the goal three ahead; outside the room all is wall."""
    seen = stepped(at(1, 3, 3, (3, 3), (3, 1)), RIGHT)
    assert balls(seen) == [(2, 2), (2, 1)]
    assert letters(seen) == [
        "#######",
        "#######",
        "#######",
        "#...G##",
        "#....##",
        "#oo..##",
        "#....##",
    ]


def test_r16_what_is_behind_is_not_seen() -> None:
    seen = stepped(at(1, 3, 2, (2, 2), (3, 1)), LEFT)
    assert balls(seen) == [(1, 1), (2, 1)]
    assert letters(seen)[5:] == ["G...###", "....###"]
    assert "o" not in "".join(letters(seen))


def test_r19_direction() -> None:
    assert [stepped(at(3, 3, d), LEFT).direction for d in range(4)] == [3, 0, 1, 2]


@pytest.mark.parametrize(
    ("state", "t", "broken"),
    [
        (at(4, 4, 0, (1, 1), (2, 1), (3, 1), (4, 1)), 144, set()),
        (at(1, 1, 0), 145, {"in_time"}),
        (at(5, 1, 0), 0, {"in_the_room"}),
        (at(1, 5, 0), 0, {"in_the_room"}),
        (at(1, 1, 0, (4, 4)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (1, 1)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (5, 1)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (0, 1)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (2, -1)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (2, 2), (2, 2)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (3, 2), (2, 2), (3, 2)), 0, {"balls_in_place"}),
        (at(1, 1, 0, (-1, -1), (2, 2)), 0, {"balls_in_place"}),
    ],
)
def test_r20_to_r22_invariants(state: Row, t: int, broken: set[str]) -> None:
    reference, fast = reference_twin(NAME), twin(NAME)
    names = ("in_the_room", "balls_in_place", "in_time")
    one, many = load_state(fast.schema, state), load_states(fast.schema, [state])
    times = torch.tensor([t])
    assert {name for name in names if not getattr(reference, name)(one, Context(None, t, None))} == broken
    assert {name for name in names if not getattr(fast, name)(many, Context(None, times, None)).item()} == broken
