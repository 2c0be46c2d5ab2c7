"""minigrid_doorkey, rule by rule: what spec.md says, worked out by hand, in both twins."""

from __future__ import annotations

import pytest
import torch
from kit.minigrid import Outcome, Row, both_start, both_step, cells, reference_twin, twin

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NAME = "minigrid_doorkey"
LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
OPEN, CLOSED, LOCKED = 0, 1, 2
UNSEEN, EMPTY, WALL, KEY, GOAL = [0, 0, 0], [1, 0, 0], [2, 5, 0], [5, 4, 0], [8, 1, 0]
# Before the locked door with the key in the hand; the wall is the column 4, the door in its row 3.
HERE = {"size": 8, "split": 4, "door_y": 3, "door": 2, "key_x": -1, "key_y": -1, "x": 3, "y": 3, "direction": 0}


def at(**changes: int) -> Row:
    return HERE | changes


def letters(seen: Outcome) -> list[str]:
    """The view as text, the farthest row first: ` ` hidden, `.` empty, `#` wall, `D` door, `k` key, `G` goal."""
    names = {0: " ", 1: ".", 2: "#", 4: "D", 5: "k", 8: "G"}
    return ["".join(names[seen_cell[0]] for seen_cell in row) for row in cells(seen).swapaxes(0, 1).tolist()]


def test_r1_done_does_nothing() -> None:
    seen = both_step(NAME, HERE, DONE)
    assert (seen.state, seen.reward, seen.terminated, seen.truncated) == (HERE, 0.0, False, False)


@pytest.mark.parametrize(
    ("size", "split", "place", "key", "agent_at", "key_at"),
    [
        (5, 2, 0, 0, (1, 1), (1, 2)),
        (5, 2, 2, 1, (1, 3), (1, 2)),
        (8, 4, 7, 6, (2, 3), (1, 3)),
        (8, 4, 7, 7, (2, 3), (3, 3)),
        (8, 5, 0, 22, (1, 1), (4, 6)),
        (16, 13, 167, 166, (12, 14), (11, 14)),
    ],
)
def test_r2_to_r7_start(
    size: int, split: int, place: int, key: int, agent_at: tuple[int, int], key_at: tuple[int, int]
) -> None:
    start = both_start(NAME, {"size": size}, split=split, place=place, direction=3, door=size - 3, key=key)
    assert (start["size"], start["split"], start["door_y"], start["door"]) == (size, split, size - 3, LOCKED)
    assert (start["x"], start["y"]) == agent_at
    assert (start["key_x"], start["key_y"]) == key_at
    assert start["direction"] == 3


def test_r8_turns() -> None:
    for direction, left, right in ((0, 3, 1), (1, 0, 2), (2, 1, 3), (3, 2, 0)):
        assert both_step(NAME, at(direction=direction), LEFT).state["direction"] == left
        assert both_step(NAME, at(direction=direction), RIGHT).state["direction"] == right


def place(seen: Outcome) -> tuple[int, int]:
    return seen.state["x"], seen.state["y"]


def test_r9_what_is_in_the_way() -> None:
    assert place(both_step(NAME, at(direction=1), FORWARD)) == (3, 4)
    assert place(both_step(NAME, at(door=LOCKED), FORWARD)) == (3, 3)
    assert place(both_step(NAME, at(door=CLOSED), FORWARD)) == (3, 3)
    assert place(both_step(NAME, at(door=OPEN), FORWARD)) == (4, 3)
    assert place(both_step(NAME, at(door=OPEN, y=4), FORWARD)) == (3, 4)  # the wall beside the door
    assert place(both_step(NAME, at(key_x=3, key_y=4, direction=1), FORWARD)) == (3, 3)
    assert place(both_step(NAME, at(x=4, door=OPEN), FORWARD)) == (5, 3)
    for direction in (1, 3):  # in the doorway there are walls on both hands
        assert place(both_step(NAME, at(x=4, door=OPEN, direction=direction), FORWARD)) == (4, 3)


def test_r10_pick_up_leaves_nothing_behind() -> None:
    before = at(key_x=3, key_y=4, direction=1)
    seen = both_step(NAME, before, PICK_UP)
    assert seen.state == before | {"key_x": -1, "key_y": -1}
    assert (cells(seen) == [5, 4, 0]).all(axis=-1).sum() == 1  # the one in the hand
    assert cells(seen)[3, 6].tolist() == KEY
    assert cells(seen)[3, 5].tolist() == EMPTY
    assert both_step(NAME, before | {"direction": 2}, PICK_UP).state["key_x"] == 3
    assert both_step(NAME, HERE, PICK_UP).state == HERE  # nothing is picked up while something is carried


@pytest.mark.parametrize(
    ("where", "lies"),
    [
        ({"direction": 1}, (3, 4)),
        ({"direction": 0}, None),
        ({"direction": 0, "door": OPEN}, None),
        ({"direction": 0, "y": 4}, None),
        ({"x": 1, "direction": 2}, None),
        ({"x": 5, "y": 6, "direction": 0}, None),
        ({"x": 4, "door": OPEN, "direction": 0}, (5, 3)),
        ({"x": 6, "y": 4, "direction": 1}, (6, 5)),
        ({"x": 6, "y": 5, "direction": 1}, None),
    ],
)
def test_r11_put_down(where: dict[str, int], lies: tuple[int, int] | None) -> None:
    seen = both_step(NAME, at(**where), DROP)
    assert (seen.state["key_x"], seen.state["key_y"]) == (lies or (-1, -1))
    assert cells(seen)[3, 6].tolist() == (EMPTY if lies else KEY)


def test_r11_nothing_to_put_down() -> None:
    before = at(key_x=1, key_y=1, direction=1)
    assert both_step(NAME, before, DROP).state == before


@pytest.mark.parametrize(
    ("door", "held", "after"),
    [
        (LOCKED, True, OPEN), (LOCKED, False, LOCKED), (OPEN, True, CLOSED),
        (OPEN, False, CLOSED), (CLOSED, True, OPEN), (CLOSED, False, OPEN),
    ],
)  # fmt: skip
def test_r12_toggle(door: int, held: bool, after: int) -> None:
    before = at(door=door) if held else at(door=door, key_x=1, key_y=1)
    seen = both_step(NAME, before, TOGGLE)
    assert seen.state == before | {"door": after}  # the key stays where it is, in the hand too
    assert cells(seen)[3, 5].tolist() == [4, 4, after]
    assert both_step(NAME, before | {"direction": 1}, TOGGLE).state["door"] == door
    beyond = before | {"x": 5, "direction": 2}
    assert both_step(NAME, beyond, TOGGLE).state["door"] == after


@pytest.mark.parametrize("t", [0, 77, 639])
def test_r13_r14_goal(t: int) -> None:
    for start in (at(x=5, y=6), at(x=6, y=5, direction=1)):
        seen = both_step(NAME, start, FORWARD, t)
        assert (place(seen), seen.terminated, seen.truncated) == ((6, 6), True, t == 639)
        assert seen.reward == 1 - 0.9 * ((t + 1) / 640)
        assert cells(seen)[3, 6].tolist() == KEY  # R21, on the goal too
    assert not both_step(NAME, at(x=6, y=6), FORWARD).terminated
    assert not both_step(NAME, at(x=5, y=6), DONE).terminated


@pytest.mark.parametrize(("size", "most"), [(5, 250), (6, 360), (8, 640), (16, 2560)])
def test_r15_r16_time(size: int, most: int) -> None:
    state = at(size=size, split=2, door_y=1, x=1, y=1)
    assert not both_step(NAME, state, DONE, most - 2).truncated
    assert both_step(NAME, state, DONE, most - 1).truncated
    assert load_package(NAME).schema.max_episode_steps == 2560


BEFORE_A_DOOR = at(x=2, y=3, key_x=1, key_y=3)


@pytest.mark.parametrize("door", [LOCKED, CLOSED])
def test_r17_to_r22_nothing_is_seen_through_a_closed_door(door: int) -> None:
    assert letters(both_step(NAME, BEFORE_A_DOOR | {"door": door}, DONE)) == [
        "       ",
        "       ",
        "       ",
        "       ",
        "###D###",
        "#......",
        "#......",
    ]


def test_r19_an_open_door_shows_what_lies_beyond() -> None:
    """Sight passes the door and then spreads to the sides, row by row, as far as the floor is clear."""
    assert letters(both_step(NAME, BEFORE_A_DOOR | {"door": OPEN}, DONE)) == [
        "       ",
        "#######",
        "#.....G",
        "#......",
        "###D###",
        "#......",
        "#......",
    ]


def test_r19_in_the_doorway() -> None:
    assert letters(both_step(NAME, at(x=4, door=OPEN), DONE)) == [
        "       ",
        "       ",
        "       ",
        "#######",
        "#.....G",
        "#......",
        "  #k#  ",
    ]


def test_r20_key_and_goal_hide_nothing() -> None:
    view = letters(both_step(NAME, at(x=5, y=1, key_x=5, key_y=2, direction=1), DONE))
    assert [row[3] for row in view] == ["#", ".", ".", ".", ".", "k", "."]
    view = letters(both_step(NAME, at(x=6, y=5, direction=1), DONE))
    assert [row[3] for row in view[3:]] == [" ", "#", "G", "k"]


def test_r21_own_cell() -> None:
    assert cells(both_step(NAME, at(x=4, door=OPEN, key_x=1, key_y=1), DONE))[3, 6].tolist() == EMPTY
    assert cells(both_step(NAME, at(x=4, door=OPEN), DONE))[3, 6].tolist() == KEY


def test_r23_direction() -> None:
    assert [both_step(NAME, at(direction=d), DONE).direction for d in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "t", "broken"),
    [
        ({}, 640, set()),
        ({}, 641, {"in_time"}),
        ({"split": 6, "x": 2}, 0, {"wall_in_place"}),
        ({"door_y": 6}, 0, {"wall_in_place"}),
        ({"x": 4}, 0, {"agent_in_place"}),
        ({"x": 4, "door": OPEN}, 0, set()),
        ({"x": 4, "y": 2, "door": OPEN}, 0, {"agent_in_place"}),
        ({"y": 7}, 0, {"agent_in_place"}),
        ({"key_x": -1, "key_y": 2}, 0, {"key_in_place"}),
        ({"key_x": 3, "key_y": -1}, 0, {"key_in_place"}),
        ({"key_x": 4, "key_y": 3}, 0, {"key_in_place"}),
        ({"key_x": 3, "key_y": 3}, 0, {"key_in_place"}),
        ({"key_x": 6, "key_y": 6}, 0, {"key_in_place"}),
        ({"key_x": 0, "key_y": 6}, 0, {"key_in_place"}),
        ({"key_x": 6, "key_y": 7}, 0, {"key_in_place"}),
        ({"key_x": 6, "key_y": 5}, 0, set()),
    ],
)
def test_r24_to_r27_invariants(changes: dict[str, int], t: int, broken: set[str]) -> None:
    reference, fast, state = reference_twin(NAME), twin(NAME), at(**changes)
    names = ("wall_in_place", "agent_in_place", "key_in_place", "in_time")
    one, many = load_state(fast.schema, state), load_states(fast.schema, [state])
    times = torch.tensor([t])
    assert {name for name in names if not getattr(reference, name)(one, Context(None, t, None))} == broken
    assert {name for name in names if not getattr(fast, name)(many, Context(None, times, None)).item()} == broken
