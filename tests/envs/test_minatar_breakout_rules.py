"""minatar_breakout, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import pytest

from simulacrum.contract.package import load_package

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
UP_LEFT, UP_RIGHT, DOWN_RIGHT, DOWN_LEFT = range(4)
FULL = [1023, 1023, 1023]


@pytest.fixture(scope="module")
def breakout(toywalk: Any) -> Any:
    return type(toywalk)(load_package("minatar_breakout"))


def state(**changes: Any) -> dict[str, Any]:
    """A ball in the middle of the screen that goes down and right, all bricks, the paddle at its start."""
    base: dict[str, Any] = {"ball_x": 4, "ball_y": 5, "ball_dir": DOWN_RIGHT, "last_x": 3, "last_y": 4, "pos": 4}
    return base | {"bricks": FULL, "strike": False, "last_action": NOTHING} | changes


def moved(table: Any, action: int = NOTHING, **changes: Any) -> Any:
    return table.step(state(**changes), action, sticky=False)


def ball(seen: Any) -> tuple[int, int, int]:
    return seen.state["ball_x"], seen.state["ball_y"], seen.state["ball_dir"]


@pytest.mark.parametrize(("side", "x", "direction"), [(0, 0, DOWN_RIGHT), (1, 9, DOWN_LEFT)])
def test_r2_r3_start(breakout: Any, side: int, x: int, direction: int) -> None:
    place = {"ball_x": x, "ball_y": 3, "ball_dir": direction, "last_x": x, "last_y": 3}
    assert breakout.reset(ball_start=side).state == state(**place)
    assert {breakout.reset(seed=seed).state["ball_x"] for seed in range(40)} == {0, 9}


@pytest.mark.parametrize("action", range(6))
def test_r4_sticky_repeats_what_was_carried_out(breakout: Any, action: int) -> None:
    stuck = breakout.step(state(last_action=LEFT), action, sticky=True)
    assert (stuck.state["pos"], stuck.state["last_action"]) == (3, LEFT)
    free = moved(breakout, action, last_action=LEFT)
    assert (free.state["pos"], free.state["last_action"]) == ({LEFT: 3, RIGHT: 5}.get(action, 4), action)


@pytest.mark.parametrize(("chance", "pos"), [(0.0, 4), (1.0, 5)])
def test_r4_param_sets_the_probability(breakout: Any, chance: float, pos: int) -> None:
    for seed in range(20):
        seen = breakout.step(state(last_action=RIGHT), NOTHING, seed=seed, params={"sticky_action_prob": chance})
        assert seen.state["pos"] == pos


@pytest.mark.parametrize(("pos", "action", "after"), [(0, LEFT, 0), (9, RIGHT, 9), (1, LEFT, 0), (8, RIGHT, 9)])
def test_r5_edges(breakout: Any, pos: int, action: int, after: int) -> None:
    assert moved(breakout, action, pos=pos).state["pos"] == after


@pytest.mark.parametrize(
    ("direction", "x", "y"), [(UP_LEFT, 3, 5), (UP_RIGHT, 5, 5), (DOWN_RIGHT, 5, 7), (DOWN_LEFT, 3, 7)]
)
def test_r6_r7_flight(breakout: Any, direction: int, x: int, y: int) -> None:
    seen = moved(breakout, ball_y=6, ball_dir=direction, last_y=6)
    assert ball(seen) == (x, y, direction)
    assert (seen.state["last_x"], seen.state["last_y"]) == (4, 6)
    assert (seen.reward, seen.terminated) == (0.0, False)


@pytest.mark.parametrize(
    ("x", "direction", "after"),
    [
        (0, UP_LEFT, (0, 5, UP_RIGHT)),
        (9, UP_RIGHT, (9, 5, UP_LEFT)),
        (9, DOWN_RIGHT, (9, 7, DOWN_LEFT)),
        (0, DOWN_LEFT, (0, 7, DOWN_RIGHT)),
    ],
)
def test_r8_side_walls(breakout: Any, x: int, direction: int, after: tuple[int, int, int]) -> None:
    assert ball(moved(breakout, ball_x=x, ball_y=6, ball_dir=direction, last_x=x, last_y=6)) == after


def test_r9_the_top(breakout: Any) -> None:
    top = {"ball_y": 0, "last_y": 1, "last_x": 4}
    assert ball(moved(breakout, ball_dir=UP_LEFT, **top)) == (3, 0, DOWN_LEFT)
    assert ball(moved(breakout, ball_dir=UP_RIGHT, **top)) == (5, 0, DOWN_RIGHT)
    # In the corner both turn.
    assert ball(moved(breakout, **top | {"ball_x": 0, "last_x": 0}, ball_dir=UP_LEFT)) == (0, 0, DOWN_RIGHT)
    assert moved(breakout, ball_dir=UP_LEFT, strike=True, **top).state["strike"] is False


@pytest.mark.parametrize("row", [1, 2, 3])
@pytest.mark.parametrize("direction", [UP_LEFT, UP_RIGHT])
def test_r10_a_brick(breakout: Any, row: int, direction: int) -> None:
    x = 3 if direction == UP_LEFT else 5
    seen = moved(breakout, ball_y=row + 1, last_y=row + 1, ball_dir=direction)
    assert ball(seen) == (x, row + 1, DOWN_LEFT if direction == UP_LEFT else DOWN_RIGHT)
    assert seen.state["bricks"] == [1023 - (2**x if k == row - 1 else 0) for k in range(3)]
    assert (seen.reward, seen.terminated, seen.state["strike"]) == (1.0, False, True)


def test_r10_after_a_strike_the_ball_flies_into_the_next_brick(breakout: Any) -> None:
    into = moved(breakout, ball_y=4, last_y=4, ball_dir=UP_LEFT, strike=True)
    assert ball(into) == (3, 3, UP_LEFT)
    assert (into.state["bricks"], into.state["strike"], into.reward) == (FULL, True, 0.0)
    onward = breakout.step(into.state, NOTHING, sticky=False)  # and through all of them
    assert (ball(onward), onward.state["strike"]) == ((2, 2, UP_LEFT), True)


def test_r10_the_wall_turns_before_the_brick_is_met(breakout: Any) -> None:
    seen = moved(breakout, ball_x=0, ball_y=4, last_x=0, last_y=4, ball_dir=UP_LEFT)
    assert ball(seen) == (0, 4, DOWN_RIGHT)
    assert seen.state["bricks"] == [1023, 1023, 1022]


@pytest.mark.parametrize(
    ("pos", "action", "after", "terminated"),
    [
        (4, NOTHING, (5, 8, UP_RIGHT), False),  # the column that the ball comes from
        (5, NOTHING, (5, 8, UP_LEFT), False),  # the column that it goes to
        (3, NOTHING, (5, 9, DOWN_RIGHT), True),
        (6, NOTHING, (5, 9, DOWN_RIGHT), True),
        (3, RIGHT, (5, 8, UP_RIGHT), False),  # the paddle moves first
        (5, RIGHT, (5, 9, DOWN_RIGHT), True),
        (6, LEFT, (5, 8, UP_LEFT), False),
    ],
)
def test_r11_r14_paddle(breakout: Any, pos: int, action: int, after: tuple[int, int, int], terminated: bool) -> None:
    seen = moved(breakout, action, ball_y=8, last_y=7, pos=pos)
    assert (ball(seen), seen.terminated, seen.reward) == (after, terminated, 0.0)


def test_r11_in_the_corner_both_columns_are_one(breakout: Any) -> None:
    seen = moved(breakout, ball_x=9, last_x=8, ball_y=8, last_y=7, pos=9)
    assert ball(seen) == (9, 8, UP_LEFT)  # turned sideways by the wall, up by the paddle


def test_r11_bricks_come_back_at_the_paddles_row(breakout: Any) -> None:
    gone = [0, 0, 0]
    assert moved(breakout, bricks=gone).state["bricks"] == gone
    for pos in (4, 5, 8):  # whether the ball is caught or missed
        assert moved(breakout, ball_y=8, last_y=7, bricks=gone, pos=pos).state["bricks"] == FULL
    one = [0, 0, 1]
    assert moved(breakout, ball_y=8, last_y=7, bricks=one).state["bricks"] == one


def test_r15_the_rules_leave_time_to_the_engine(breakout: Any) -> None:
    assert breakout.step(state(), NOTHING, t=999, sticky=False).terminated is False
    assert breakout.schema.max_episode_steps == 1000


def test_r16_observation(breakout: Any) -> None:
    before = state(bricks=[1, 512, 0], pos=7, ball_x=0, ball_y=1, last_x=1, last_y=2)
    cells = {(9, 7): 0, (1, 0): 1, (2, 1): 2}
    shown = breakout.reference.observe(breakout.reference.State(**before), None)
    ones = {(y, x, c) for y in range(10) for x in range(10) for c in range(4) if shown[y][x][c]}
    assert ones == {(*cell, c) for cell, c in cells.items()} | {(1, 0, 3), (2, 9, 3)}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"last_x": 2}, {"in_steps"}),
        ({"last_y": 7}, {"in_steps"}),
        ({"ball_y": 9, "last_y": 8, "pos": 5}, set()),
        ({"ball_y": 9, "last_y": 8}, {"missed"}),
        ({"ball_y": 9, "last_y": 8, "pos": 5, "ball_dir": UP_LEFT}, {"missed"}),
        ({"ball_y": 9, "last_y": 9, "pos": 5}, {"missed"}),
        ({"strike": True}, {"near_bricks"}),
        ({"strike": True, "ball_y": 4}, set()),
        ({"strike": True, "ball_y": 4, "last_y": 5}, {"near_bricks"}),
    ],
)
def test_r17_to_r19_invariants(breakout: Any, changes: dict[str, Any], broken: set[str]) -> None:
    before = state(**changes)
    twin = breakout.reference
    names = ("in_steps", "missed", "near_bricks")
    assert {name for name in names if not getattr(twin, name)(twin.State(**before), None)} == broken
