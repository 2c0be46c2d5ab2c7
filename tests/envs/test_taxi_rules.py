"""taxi, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit.toytext import Both

from simulacrum.contract.package import load_package

SOUTH, NORTH, EAST, WEST, PICK_UP, DROP_OFF = range(6)
RAIN = {"rainy": True}
FICKLE = {"fickle_passenger": True}
AHEAD, TO_LEFT, TO_RIGHT = 0.4, 0.85, 0.95  # u of R6 with the default probability
PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))


@pytest.fixture(scope="module")
def both() -> Both:
    return Both("taxi")


def at(row: int, column: int, passenger: int = 0, destination: int = 3, *, fickle: bool = False) -> dict[str, Any]:
    return {"row": row, "column": column, "passenger": passenger, "destination": destination, "fickle": fickle}


@pytest.mark.parametrize(
    ("start", "state"),
    [
        (0, at(0, 0, 0, 1)), (2, at(0, 0, 0, 3)), (3, at(0, 0, 1, 0)), (4, at(0, 0, 1, 2)), (11, at(0, 0, 3, 2)),
        (12, at(0, 1, 0, 1)), (60, at(1, 0, 0, 1)), (299, at(4, 4, 3, 2)),
    ],
)  # fmt: skip
def test_r2_starts(both: Both, start: int, state: dict[str, Any]) -> None:
    seen = both.reset(start=start)
    assert {name: seen[name] for name in state} == state


def test_r2_all_starts_are_others() -> None:
    rows = Both("taxi").rows
    made = rows.reset(300, start=np.arange(300))
    assert len(set(made.observation.tolist())) == 300
    assert (made.state["passenger"] != made.state["destination"]).all()


@pytest.mark.parametrize(("u", "fickle"), [(0.0, True), (np.nextafter(0.3, 0), True), (0.3, False), (0.9, False)])
def test_r3_fickle(both: Both, u: float, fickle: bool) -> None:
    assert both.reset(FICKLE, fickle=float(u))["fickle"] is fickle
    assert both.reset(fickle=float(u))["fickle"] is False


@pytest.mark.parametrize(
    ("action", "u", "cell"),
    [
        (SOUTH, AHEAD, (3, 2)), (NORTH, AHEAD, (1, 2)), (EAST, AHEAD, (2, 3)), (WEST, AHEAD, (2, 1)),
        (SOUTH, TO_LEFT, (2, 3)), (SOUTH, TO_RIGHT, (2, 1)), (NORTH, TO_LEFT, (2, 1)), (NORTH, TO_RIGHT, (2, 3)),
        (EAST, TO_LEFT, (1, 2)), (EAST, TO_RIGHT, (3, 2)), (WEST, TO_LEFT, (3, 2)), (WEST, TO_RIGHT, (1, 2)),
    ],
)  # fmt: skip
def test_r6_r8_moves(both: Both, action: int, u: float, cell: tuple[int, int]) -> None:
    seen = both.step(at(2, 2), action, RAIN, slip=u)
    assert (seen["row"], seen["column"], seen["reward"], seen["terminated"]) == (*cell, -1.0, False)
    dry, ahead = both.step(at(2, 2), action, slip=u), both.step(at(2, 2), action, RAIN, slip=AHEAD)
    assert (dry["row"], dry["column"]) == (ahead["row"], ahead["column"])


WALLS = [(0, 1), (1, 1), (3, 0), (4, 0), (3, 2), (4, 2)]  # cells with a wall on their east


@pytest.mark.parametrize("params", [{}, RAIN])
def test_r7_walls_and_edges(both: Both, params: dict[str, Any]) -> None:
    moved = {(row, column, action) for row in range(5) for column in range(5) for action in range(4)
             if both.step(at(row, column), action, params, slip=AHEAD)["observation"]
             != (row * 5 + column) * 20 + 3}  # fmt: skip
    for row in range(5):
        for column in range(5):
            east_open = column < 4 and (row, column) not in WALLS
            assert ((row, column, EAST) in moved) is east_open
            assert ((row, column, WEST) in moved) is (column > 0 and (row, column - 1) not in WALLS)
            assert ((row, column, SOUTH) in moved) is (row < 4)
            assert ((row, column, NORTH) in moved) is (row > 0)


@pytest.mark.parametrize("u", [AHEAD, TO_LEFT, TO_RIGHT])
def test_r7_a_closed_way_keeps_the_taxi_from_slipping(both: Both, u: float) -> None:
    """The action's way is closed: nothing slips. The slip's way is closed: the taxi stays."""
    assert both.step(at(0, 1), EAST, RAIN, slip=u)["column"] == 1
    assert both.step(at(0, 1), EAST, RAIN, slip=u)["row"] == 0
    seen = both.step(at(0, 1), SOUTH, RAIN, slip=u)  # its left, east, is a wall
    assert (seen["row"], seen["column"]) == {AHEAD: (1, 1), TO_LEFT: (0, 1), TO_RIGHT: (0, 0)}[u]


@pytest.mark.parametrize("place", range(4))
def test_r9_picking_up(both: Both, place: int) -> None:
    row, column = PLACES[place]
    other = (place + 1) % 4
    seen = both.step(at(row, column, place, other), PICK_UP)
    assert (seen["passenger"], seen["reward"], seen["terminated"]) == (4, -1.0, False)
    for state in (at(row, column, other, place), at(row, column, 4, other), at(2, 2, place, other)):
        seen = both.step(state, PICK_UP)
        assert (seen["passenger"], seen["reward"]) == (state["passenger"], -10.0)


@pytest.mark.parametrize("place", range(4))
def test_r10_dropping_off(both: Both, place: int) -> None:
    row, column = PLACES[place]
    other = (place + 1) % 4
    home = both.step(at(row, column, 4, place), DROP_OFF)
    assert (home["passenger"], home["reward"], home["terminated"]) == (place, 20.0, True)
    elsewhere = both.step(at(row, column, 4, other), DROP_OFF)
    assert (elsewhere["passenger"], elsewhere["reward"], elsewhere["terminated"]) == (place, -1.0, False)
    for state in (at(row, column, place, other), at(2, 2, 4, other)):
        seen = both.step(state, DROP_OFF)
        assert (seen["passenger"], seen["reward"], seen["terminated"]) == (state["passenger"], -10.0, False)


@pytest.mark.parametrize(("whim", "destination"), [(0, 0), (1, 1), (2, 3)])
def test_r11_another_mind(both: Both, whim: int, destination: int) -> None:
    riding = at(2, 2, 4, 2, fickle=True)
    seen = both.step(riding, NORTH, FICKLE, whim=whim)
    assert (seen["destination"], seen["fickle"]) == (destination, False)


@pytest.mark.parametrize(
    ("state", "action", "params"),
    [
        (at(2, 2, 4, 2, fickle=True), NORTH, {}),  # the parameter is off
        (at(2, 2, 4, 2, fickle=False), NORTH, FICKLE),
        (at(2, 2, 0, 2, fickle=True), NORTH, FICKLE),  # not aboard
        (at(0, 2, 4, 2, fickle=True), NORTH, FICKLE),  # not moved
        (at(0, 0, 0, 2, fickle=True), PICK_UP, FICKLE),  # aboard only after the step
        (at(2, 2, 4, 2, fickle=True), DROP_OFF, FICKLE),
    ],
)
def test_r11_the_same_mind(both: Both, state: dict[str, Any], action: int, params: dict[str, Any]) -> None:
    seen = both.step(state, action, params, whim=0)
    assert (seen["destination"], seen["fickle"]) == (2, state["fickle"])


def test_r15_the_time_limit_is_the_engines() -> None:
    assert load_package("taxi").schema.max_episode_steps == 200


def test_r16_observation(both: Both) -> None:
    assert both.step(at(3, 4, 2, 1), SOUTH)["observation"] == ((4 * 5 + 4) * 5 + 2) * 4 + 1


def test_r17_the_mask_says_what_changes_in_the_dry(both: Both) -> None:
    cells = np.arange(500)
    state = {
        "row": cells // 100, "column": cells // 20 % 5, "passenger": cells // 4 % 5, "destination": cells % 4,
        "fickle": np.zeros(500, dtype=bool),
    }  # fmt: skip
    typed = {name: np.array(value, dtype=bool if name == "fickle" else np.int32) for name, value in state.items()}
    mask = both.rows.mask(typed, 500)
    for action in range(6):
        made = both.rows.step(state, np.full(500, action))
        assert np.array_equal(mask[:, action], made.observation != cells)


def test_r18_r19_invariants(both: Both) -> None:
    assert both.invariants(at(2, 2, 4, 3), "wants_to_go_elsewhere", t=1)
    assert both.invariants(at(4, 3, 3, 3), "wants_to_go_elsewhere", t=1)
    assert not both.invariants(at(4, 3, 3, 3), "wants_to_go_elsewhere", t=0)
    assert not both.invariants(at(2, 2, 3, 3), "wants_to_go_elsewhere", t=1)
    assert both.invariants(at(2, 2, 4, 3), "begins_outside", t=1)
    assert not both.invariants(at(2, 2, 4, 3), "begins_outside", t=0)


def test_drawings() -> None:
    package = load_package("taxi")
    render, make = package.module("render"), package.reference().State
    assert render.text(make(**at(2, 2))) == (
        "+---------+\n|R: | : :G|\n| : | : : |\n| : :t: : |\n| | : | : |\n|Y| : |B: |\n+---------+\n"
        "passenger at R, to B"
    )
    assert render.text(make(**at(2, 2, 4))).splitlines()[-1] == "passenger in the taxi, to B"
    states = (at(2, 2), at(2, 2, 4), at(2, 2, 1), at(2, 2, 0, 2), at(0, 0))
    images = [render.rgb(make(**state)) for state in states]
    assert len({image.tobytes() for image in images}) == len(states)
    assert {(image.shape, image.dtype.name) for image in images} == {((368, 368, 3), "uint8")}
