"""minigrid_keycorridor, rule by rule: what spec.md says, worked out by hand, in both twins."""

from __future__ import annotations

import pytest
import torch
from kit.minigrid import Outcome, Row, both_start, both_step, cells, reference_twin, twin

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state

NAME = "minigrid_keycorridor"
LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
OPEN, CLOSED, LOCKED = 0, 1, 2
EMPTY = [1, 0, 0]
# Before the locked door with the key in the hand.
HERE = {
    "left_colour": 1, "right_colour": 4, "ball_colour": 2, "left_door": 1, "right_door": 2, "key_x": -1, "ball_x": 5,
    "x": 3, "direction": 0,
}  # fmt: skip


def at(**changes: int) -> Row:
    return HERE | changes


def letters(seen: Outcome) -> list[str]:
    """The view as text, the farthest row first: ` ` hidden, `.` empty, `#` wall, `_dD` doors, `k` key, `o` ball."""
    names = {0: " ", 1: ".", 2: "#", 5: "k", 6: "o"}
    rows = cells(seen).swapaxes(0, 1).tolist()
    return ["".join("_dD"[cell[2]] if cell[0] == 4 else names[cell[0]] for cell in row) for row in rows]


def own(seen: Outcome) -> list[int]:
    return cells(seen)[3, 6].tolist()


def test_r1_done_does_nothing() -> None:
    seen = both_step(NAME, HERE, DONE)
    assert (seen.state, seen.reward, seen.terminated, seen.truncated) == (HERE, 0.0, False, False)


@pytest.mark.parametrize(("number", "colour"), [(0, 2), (1, 1), (2, 5), (3, 3), (4, 0), (5, 4)])
def test_r2_to_r5_start(number: int, colour: int) -> None:
    rest = {"left_door": CLOSED, "right_door": LOCKED, "key_x": 1, "ball_x": 5, "x": 3}
    for name in ("left_colour", "right_colour", "ball_colour"):
        for direction in (1, 2, 3):
            drawn = {"left_colour": 0, "right_colour": 0, "ball_colour": 0} | {name: number}
            start = both_start(NAME, {}, **drawn, direction=direction)
            colours = {"left_colour": 2, "right_colour": 2, "ball_colour": 2} | {name: colour}
            assert start == colours | rest | {"direction": direction}


def test_r6_turns() -> None:
    for direction, left, right in ((0, 3, 1), (1, 0, 2), (2, 1, 3), (3, 2, 0)):
        assert both_step(NAME, at(direction=direction), LEFT).state["direction"] == left
        assert both_step(NAME, at(direction=direction), RIGHT).state["direction"] == right


@pytest.mark.parametrize(
    ("before", "x"),
    [
        ({}, 3), ({"right_door": CLOSED}, 3), ({"right_door": OPEN}, 4), ({"direction": 1}, 3), ({"direction": 3}, 3),
        ({"direction": 2}, 3), ({"direction": 2, "left_door": OPEN}, 2), ({"x": 2, "left_door": OPEN}, 3),
        ({"x": 2, "left_door": OPEN, "direction": 2}, 1), ({"x": 1, "direction": 2}, 1), ({"x": 1}, 1),
        ({"x": 2, "left_door": OPEN, "key_x": 3}, 2), ({"x": 2, "left_door": OPEN, "key_x": 1, "direction": 2}, 2),
        ({"x": 4, "right_door": OPEN}, 4), ({"x": 4, "right_door": OPEN, "ball_x": 1}, 5),
        ({"x": 5, "right_door": OPEN, "ball_x": 1}, 5),
        ({"x": 5, "right_door": CLOSED, "ball_x": 1, "direction": 2}, 5),
    ],
)  # fmt: skip
def test_r7_what_is_in_the_way(before: dict[str, int], x: int) -> None:
    assert both_step(NAME, at(**before), FORWARD).state == at(**before) | {"x": x}


def test_r8_the_key() -> None:
    before = at(key_x=1, x=2, left_door=OPEN, direction=2)
    seen = both_step(NAME, before, PICK_UP)
    assert seen.state == before | {"key_x": -1}
    assert own(seen) == [5, 4, 0]  # R19
    assert letters(seen)[5][3] == "."
    assert not seen.terminated
    assert both_step(NAME, before | {"direction": 0}, PICK_UP).state["key_x"] == 1
    assert both_step(NAME, at(key_x=3, x=3, direction=1) | {"x": 1}, PICK_UP).state["key_x"] == 3


@pytest.mark.parametrize("t", [0, 77, 269])
def test_r8_r11_to_r13_the_ball(t: int) -> None:
    before = at(key_x=3, x=4, right_door=OPEN)
    seen = both_step(NAME, before, PICK_UP, t)
    assert seen.state == before | {"ball_x": -1}
    assert (seen.reward, seen.terminated, seen.truncated) == (1 - 0.9 * ((t + 1) / 270), True, t == 269)
    assert own(seen) == [6, 2, 0]  # R19
    full = both_step(NAME, before | {"key_x": -1}, PICK_UP, t)
    assert (full.state["ball_x"], full.reward, full.terminated) == (5, 0.0, False)  # a hand holds one thing


def test_r12_picking_up_ends_it_while_the_ball_is_carried() -> None:
    """Whether or not something lies ahead: where no episode goes on, but rules are rules."""
    held = at(key_x=3, ball_x=-1, x=4, right_door=OPEN)
    assert both_step(NAME, held, PICK_UP).terminated
    assert both_step(NAME, held | {"direction": 2}, PICK_UP).state["key_x"] == 3
    assert not both_step(NAME, held, DONE).terminated


@pytest.mark.parametrize(
    ("where", "lies"),
    [
        ({}, None), ({"direction": 1}, None), ({"direction": 2}, None), ({"direction": 2, "left_door": OPEN}, None),
        ({"right_door": OPEN}, None), ({"x": 2, "left_door": OPEN}, 3),
        ({"x": 2, "left_door": OPEN, "direction": 2}, 1),
        ({"x": 1, "direction": 2}, None), ({"x": 4, "right_door": OPEN}, None),
        ({"x": 4, "right_door": OPEN, "ball_x": 1}, 5), ({"x": 4, "right_door": OPEN, "direction": 2}, 3),
        ({"x": 4, "right_door": OPEN, "direction": 2, "ball_x": 3}, None),
    ],
)  # fmt: skip
def test_r9_put_down(where: dict[str, int], lies: int | None) -> None:
    seen = both_step(NAME, at(**where), DROP)
    assert seen.state == at(**where) | {"key_x": lies or -1}
    assert own(seen) == (EMPTY if lies else [5, 4, 0])


def test_r9_the_ball_and_nothing() -> None:
    before = at(key_x=1, ball_x=-1, x=4, right_door=OPEN, direction=2)
    assert both_step(NAME, before, DROP).state == before | {"ball_x": 3}
    assert both_step(NAME, before | {"ball_x": 5}, DROP).state == before | {"ball_x": 5}


@pytest.mark.parametrize(
    ("door", "held", "after"),
    [(LOCKED, True, OPEN), (LOCKED, False, LOCKED), (OPEN, True, CLOSED), (OPEN, False, CLOSED),
     (CLOSED, True, OPEN), (CLOSED, False, OPEN)],
)  # fmt: skip
def test_r10_right_door(door: int, held: bool, after: int) -> None:
    before = at(right_door=door) if held else at(right_door=door, key_x=1)
    seen = both_step(NAME, before, TOGGLE)
    assert seen.state == before | {"right_door": after}  # the key stays where it is, in the hand too
    assert cells(seen)[3, 5].tolist() == [4, 4, after]
    assert both_step(NAME, before | {"direction": 1}, TOGGLE).state["right_door"] == door


def test_r10_left_door_needs_no_key() -> None:
    for key_x in (-1, 1):
        before = at(direction=2, key_x=key_x)
        seen = both_step(NAME, before, TOGGLE)
        assert seen.state == before | {"left_door": OPEN}
        assert cells(seen)[3, 5].tolist() == [4, 1, OPEN]
        assert both_step(NAME, seen.state, TOGGLE).state == before
    from_within = at(x=1, direction=0)
    assert both_step(NAME, from_within, TOGGLE).state == from_within | {"left_door": OPEN}


def test_r13_r14_time() -> None:
    assert not both_step(NAME, HERE, DONE, 268).truncated
    assert both_step(NAME, HERE, DONE, 269).truncated
    assert load_package(NAME).schema.max_episode_steps == 270


BLANK = " " * 7


@pytest.mark.parametrize(
    ("state", "view"),
    [
        (HERE, [*[BLANK] * 5, "  #D#  ", "  #k#  "]),
        (at(right_door=OPEN), [*[BLANK] * 3, "  ###  ", "  #o#  ", "  #_#  ", "  #k#  "]),
        (at(direction=2, key_x=1), [*[BLANK] * 5, "  #d#  ", "  #.#  "]),
        (at(direction=2, key_x=1, left_door=OPEN), [*[BLANK] * 3, "  ###  ", "  #k#  ", "  #_#  ", "  #.#  "]),
        (at(direction=3, key_x=1, left_door=OPEN), [*[BLANK] * 5, "#####  ", "#k_.D  "]),
        (at(direction=1, key_x=1, left_door=OPEN), [*[BLANK] * 5, "  #####", "  D._k#"]),
        (at(x=2, left_door=OPEN, right_door=OPEN, direction=0),
         [BLANK, BLANK, "  ###  ", "  #o#  ", "  #_#  ", "  #.#  ", "  #k#  "]),
    ],
)  # fmt: skip
def test_r15_to_r20_view(state: Row, view: list[str]) -> None:
    assert letters(both_step(NAME, state, DONE)) == view


def test_r18_r19_colours() -> None:
    seen = cells(both_step(NAME, at(x=2, left_door=OPEN, right_door=OPEN, key_x=3), DONE))
    assert seen[3, 6].tolist() == EMPTY
    assert [seen[3, j].tolist() for j in (5, 4, 3, 2)] == [[5, 4, 0], [4, 4, 0], [6, 2, 0], [2, 5, 0]]


def test_r21_direction() -> None:
    assert [both_step(NAME, at(direction=d), DONE).direction for d in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "t", "broken"),
    [
        ({}, 270, set()),
        ({}, 271, {"in_time"}),
        ({"x": 2}, 0, {"agent_in_place"}),
        ({"x": 2, "left_door": OPEN}, 0, set()),
        ({"x": 4, "right_door": CLOSED}, 0, {"agent_in_place"}),
        ({"x": 4, "right_door": OPEN}, 0, set()),
        ({"key_x": 3}, 0, {"agent_in_place"}),
        ({"x": 5, "right_door": OPEN}, 0, {"agent_in_place"}),
        ({"key_x": 2}, 0, {"things_in_place"}),
        ({"key_x": 0}, 0, {"things_in_place"}),
        ({"right_door": OPEN, "ball_x": 4}, 0, {"things_in_place"}),
        ({"right_door": OPEN, "ball_x": -1}, 0, {"things_in_place"}),
        ({"right_door": OPEN, "ball_x": 1, "key_x": 1}, 0, {"things_in_place"}),
        ({"ball_x": 1}, 0, {"behind_the_lock"}),
        ({"x": 5, "ball_x": 1}, 0, {"behind_the_lock"}),
        ({"key_x": 5, "right_door": CLOSED, "ball_x": 1}, 0, set()),
        ({"key_x": 5, "ball_x": 1}, 0, {"behind_the_lock"}),
    ],
)
def test_r22_to_r25_invariants(changes: dict[str, int], t: int, broken: set[str]) -> None:
    reference, fast, state = reference_twin(NAME), twin(NAME), at(**changes)
    names = ("agent_in_place", "things_in_place", "behind_the_lock", "in_time")
    one, many = load_state(fast.schema, state), load_states(fast.schema, [state])
    times = torch.tensor([t])
    assert {name for name in names if not getattr(reference, name)(one, Context(None, t, None))} == broken
    assert {name for name in names if not getattr(fast, name)(many, Context(None, times, None)).item()} == broken
