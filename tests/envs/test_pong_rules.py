"""pong's rules worked out by hand, in both twins; and the whole of it upside down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from simulacrum.contract.package import load_package
from simulacrum.rng.batched import BatchedDraw, episode_key, split_seed
from simulacrum.rng.layout import Layout, Slot
from simulacrum.twin.batched import Context
from simulacrum.twin.state import params_type

STILL, UP, DOWN = 0, 1, 2
NAMES = ("left_y", "right_y", "ball_x", "ball_y", "ball_vx", "ball_vy", "left_score", "right_score")
SERVED = {"left_y": 285, "right_y": 285, "ball_x": 100, "ball_y": 304, "ball_vx": 10, "ball_vy": -1}
CLEAN = {"symmetric_serve": True, "aim_middle": True, "clamp_walls": True, "stale_view": False, "whole_scores": False}
ONE = {"frame_skip": 1}
Given = dict[str, Any]


def f32(value: float) -> float:
    return float(np.float32(value))


def game(**changes: int) -> Given:
    """A ball in the middle of the field, flying to the right, and what it shows."""
    values = {**SERVED, "ball_x": 308, "ball_vy": 2, "left_score": 3, "right_score": 5, **changes}
    return {**values, "shown": [values[name] for name in NAMES]}


def near_right(**changes: int) -> Given:
    """In the next frame the ball is beyond the agent's edge; the paddle reaches from 285 to 355."""
    return game(**{"ball_x": 468, **changes})


def near_left(**changes: int) -> Given:
    """In the next frame the ball is beyond the opponent's edge."""
    return game(**{"ball_x": 8, "ball_vx": -10, **changes})


@pytest.fixture(scope="module")
def pong(request: pytest.FixtureRequest) -> Any:
    table = type(request.getfixturevalue("toywalk"))
    return table(load_package("pong"))


@pytest.mark.parametrize(("serve", "symmetric", "speed"), [(0, False, -1), (1, False, 0), (0, True, -1), (1, True, 1)])
def test_r3_serves(pong: Any, serve: int, symmetric: bool, speed: int) -> None:
    lost = pong.step(
        near_right(right_y=0), STILL, params={"symmetric_serve": symmetric, "stale_view": False}, next_serve=serve
    )
    state = {name: lost.state[name] for name in NAMES}
    assert state == {**SERVED, "ball_vy": speed, "left_score": 4, "right_score": 5}
    assert (lost.reward, lost.terminated) == (-1.0, False)
    assert lost.state["shown"] == list(state.values())


@pytest.mark.parametrize(("serve", "speed"), [(0, -1), (1, 0)])
def test_r2_an_episode_begins_with_a_serve(pong: Any, serve: int, speed: int) -> None:
    seen = pong.reset(serve=serve)
    start = {**SERVED, "ball_vy": speed, "left_score": 0, "right_score": 0}
    assert seen.state == {**start, "shown": list(start.values())}
    assert seen.info == {"lead": 0}


@pytest.mark.parametrize("frames", range(1, 9))
def test_r4_r5_r8_frames_of_a_step(pong: Any, frames: int) -> None:
    seen = pong.step(game(ball_x=308, ball_vx=-10), UP, params={"frame_skip": frames})
    assert seen.state["ball_x"] == 308 - 10 * frames
    assert seen.state["ball_y"] == 304 + 2 * frames
    assert seen.state["right_y"] == 285 + 8 * frames


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [(STILL, 100, 100), (UP, 100, 108), (DOWN, 100, 92), (UP, 600, 605), (DOWN, -30, -35), (UP, 605, 605)],
)
def test_r6_the_agents_paddle(pong: Any, action: int, before: int, after: int) -> None:
    assert pong.step(game(right_y=before), action, params=ONE).state["right_y"] == after


@pytest.mark.parametrize(
    ("ball_y", "left_y", "middle", "after"),
    [
        (300, 265, False, 265),  # the ball's lower edge is at the middle of the paddle
        (300, 260, False, 265),
        (300, 250, False, 258),
        (300, 290, False, 282),
        (300, 281, True, 281),
        (300, 265, True, 273),
        (0, -33, False, -35),
        (608, 573, True, 581),
        (608, 604, True, 596),
    ],
)
def test_r7_the_opponent_follows(pong: Any, ball_y: int, left_y: int, middle: bool, after: int) -> None:
    seen = pong.step(game(ball_y=ball_y, left_y=left_y), STILL, params={**ONE, "aim_middle": middle})
    assert seen.state["left_y"] == after


@pytest.mark.parametrize(
    ("y", "vy", "clamp", "after"),
    [
        (5, -5, False, (0, -5)),
        (5, -6, False, (-1, 6)),
        (5, -6, True, (0, 6)),
        (0, -13, False, (-13, 13)),
        (603, 5, False, (608, 5)),
        (603, 6, False, (609, -6)),
        (603, 6, True, (608, -6)),
        (-4, 9, False, (5, 9)),
    ],
)
def test_r9_walls(pong: Any, y: int, vy: int, clamp: bool, after: tuple[int, int]) -> None:
    seen = pong.step(game(ball_y=y, ball_vy=vy), STILL, params={**ONE, "clamp_walls": clamp})
    assert (seen.state["ball_y"], seen.state["ball_vy"]) == after


@pytest.mark.parametrize(
    ("y", "left_y", "reward"),
    [(300, 265, 0.0), (300, 324, 0.0), (300, 325, 0.0), (300, 339, 0.0), (300, 340, 1.0), (300, 241, 0.0),
     (300, 238, 0.0), (300, 222, 1.0), (300, 223, 0.0)],
)  # fmt: skip
def test_r10_the_opponents_edge(pong: Any, y: int, left_y: int, reward: float) -> None:
    """The paddle moves 8 towards the ball first, so it may be that much farther away."""
    moved = left_y + max(-8, min(8, y - left_y - 35))
    assert (reward == 0.0) == (y + 32 > moved and y < moved + 70)
    seen = pong.step(near_left(ball_y=y, left_y=left_y, ball_vy=0), STILL, params=ONE)
    assert seen.reward == reward
    if reward == 0.0:
        assert (seen.state["ball_x"], seen.state["ball_vx"], seen.state["ball_vy"]) == (-2, 10, 0)
    else:
        assert (seen.state["right_score"], seen.state["left_score"], seen.info["lead"]) == (6, 3, 3)


@pytest.mark.parametrize(
    ("y", "action", "reward"),
    [(253, STILL, -1.0), (254, STILL, 0.1), (354, STILL, 0.1), (355, STILL, -1.0), (355, UP, 0.1), (362, UP, 0.1),
     (363, UP, -1.0), (246, DOWN, 0.1), (245, DOWN, -1.0)],
)  # fmt: skip
def test_r11_the_agents_edge(pong: Any, y: int, action: int, reward: float) -> None:
    seen = pong.step(near_right(ball_y=y, ball_vy=0), action, params=ONE)
    assert seen.reward == f32(reward)
    if reward > 0:
        assert (seen.state["ball_x"], seen.state["ball_vx"], seen.state["ball_y"]) == (468, -10, y)


@pytest.mark.parametrize(
    ("vy", "action", "after"),
    [
        (2, STILL, 2),
        (2, UP, 5),
        (2, DOWN, -1),
        (11, UP, 13),
        (-11, DOWN, -13),
        (3, DOWN, 3),
        (-3, UP, 3),
        (0, STILL, 3),
    ],
)
def test_r11_spin(pong: Any, vy: int, action: int, after: int) -> None:
    assert pong.step(near_right(ball_vy=vy), action, params=ONE).state["ball_vy"] == after


def test_r11_a_ball_that_meets_wall_and_paddle_at_once(pong: Any) -> None:
    seen = pong.step(near_right(ball_y=3, ball_vy=-7, right_y=-20), UP, params=ONE)
    # -7 becomes 7 at the wall and 10 at the paddle, and here the ball is put back inside.
    assert (seen.state["ball_vy"], seen.state["ball_y"], seen.state["ball_x"]) == (10, 0, 468)


def test_r12_r13_r15_what_is_shown_after_a_point(pong: Any) -> None:
    start = game(ball_x=448, right_y=0, ball_vy=0)  # lost in the third of its frames
    lost = pong.step(start, STILL, params={"frame_skip": 8}, next_serve=0)
    assert lost.state["ball_x"] == 100
    assert lost.state["shown"] == [269, 0, 468, 304, 10, 0, 3, 5]  # after the second
    fresh = pong.step(start, STILL, params={"frame_skip": 8, "stale_view": False}, next_serve=0)
    assert fresh.state["shown"] == [285, 285, 100, 304, 10, -1, 4, 5]
    for name in NAMES:
        assert lost.state[name] == fresh.state[name]
    again = pong.step({**near_right(right_y=0), "shown": [1, 2, 8, 4, -10, 6, 0, 1]}, STILL, params=ONE, next_serve=0)
    assert again.state["shown"] == [1, 2, 8, 4, -10, 6, 0, 1]  # nothing new to show in the first frame


def test_r17_a_return_and_then_a_point_in_one_step(pong: Any) -> None:
    """Only from a state that no game reaches: the reward is that of the point alone."""
    seen = pong.step(near_right(ball_vy=2), STILL, params={"frame_skip": 8})
    assert seen.reward == f32(0.1)
    assert pong.step(game(ball_x=388), STILL, params={"frame_skip": 8}).reward == 0.0


@pytest.mark.parametrize(
    ("left", "right", "most", "ends"), [(20, 20, 21, True), (19, 20, 21, False), (0, 0, 1, True), (2, 1, 4, False)]
)
def test_r18_the_last_point(pong: Any, left: int, right: int, most: int, ends: bool) -> None:
    start = near_right(right_y=0, left_score=left, right_score=right)
    lost = pong.step(start, STILL, params={"max_score": most}, next_serve=1)
    assert (lost.terminated, lost.reward, lost.state["left_score"]) == (ends, -1.0, left + 1)


def test_r20_observation(pong: Any) -> None:
    shown = game(left_y=-35, right_y=605, ball_x=-2, ball_y=621, ball_vx=10, ball_vy=-13)
    seen = pong.look(shown, t=3).observation
    assert seen == [0.0, 1.0, f32(-2 / 500), f32(621 / 640), 1.0, 0.0, 0.0, 0.0]


def test_r21_scores_as_shares(pong: Any) -> None:
    seen = pong.step(game(), STILL, params={"whole_scores": False}).observation
    assert seen[6:] == [f32(3 / 21), f32(5 / 21)]
    last = near_right(right_y=0, left_score=20)
    assert pong.step(last, STILL, params={"stale_view": False}).observation[6:] == [1.0, 0.0]
    assert pong.step(last, STILL).observation[6:] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("state", "broken"),
    [
        (game(ball_x=309), "on_track"),
        (game(ball_x=-2, ball_vx=-10), "on_track"),
        (game(ball_x=90), "on_track"),
        (game(ball_vx=9), "on_track"),
        (game(ball_y=-3, ball_vy=2), "comes_back"),
        (game(ball_y=612, ball_vy=-3), "comes_back"),
        (game(right_score=21), "scores_bounded"),
        (game(left_score=21, right_score=21, **SERVED), "scores_bounded"),
        ({**game(), "shown": [285, 285, 298, 302, 10, 2, 3, 5]}, "shown_true"),
        ({**game(**SERVED), "shown": [285, 285, 298, 302, 10, 2, 2, 4]}, "shown_true"),
    ],
)
def test_r23_to_r26_invariants(pong: Any, state: Given, broken: str) -> None:
    holds = pong.look(state, t=9).invariants
    assert [name for name, value in holds.items() if not value] == [broken]


def test_r25_r26_a_round_begins(pong: Any) -> None:
    shown = [285, 0, 468, 302, 10, 2, 20, 5]
    start = {**game(**{**SERVED, "left_score": 21, "right_score": 5}), "shown": shown}
    assert all(pong.look(start, t=9).invariants.values())


# --- upside down ------------------------------------------------------------------------------------------------------


def flipped(state: Any) -> Any:
    """The game turned upside down, exactly."""
    signs, ends = torch.tensor([-1, -1, 1, -1, 1, -1, 1, 1]), torch.tensor([570, 570, 0, 608, 0, 0, 0, 0])
    changed = {
        "left_y": 570 - state.left_y, "right_y": 570 - state.right_y,
        "ball_y": 608 - state.ball_y, "ball_vy": 0 - state.ball_vy,
        "shown": (state.shown * signs + ends).to(torch.int16),
    }  # fmt: skip
    return state.replace(**changed)


@pytest.fixture(scope="module")
def play() -> Callable[..., int]:
    """Rows and their mirror images side by side; gives how many values differed, of all states and rewards."""
    package = load_package("pong")
    schema, fast, rows = package.schema, package.fast(), 512
    layout = Layout(Slot(d.name, d.phase, d.distribution, d.dtype, d.count) for d in schema.draws)
    keys = episode_key(split_seed(list(range(rows))), torch.zeros(rows, dtype=torch.int32))

    def step_both(steps: int, **params: Any) -> int:
        generator = torch.Generator().manual_seed(5)
        values = {name: torch.full((rows,), params.get(name, one.default)) for name, one in schema.params.items()}
        columns = {name: v if v.dtype == torch.bool else v.to(torch.int16) for name, v in values.items()}

        def context(phase: Any, slot: str, bits: torch.Tensor) -> Context:
            t = torch.zeros(rows, dtype=torch.int32)
            draw = BatchedDraw(layout, phase, keys, t, override={slot: bits.tolist()})
            return Context(draw, t, params_type(schema)(**columns))

        def bits() -> torch.Tensor:
            return torch.randint(0, 2, (rows,), generator=generator)

        first = bits()
        one, other = fast.reset(context("reset", "serve", first)), fast.reset(context("reset", "serve", 1 - first))
        apart = 0
        for _ in range(steps):
            actions, serve = torch.randint(0, 3, (rows,), generator=generator), bits()
            mirrored = torch.where(actions == STILL, actions, 3 - actions)
            here = fast.step(one, actions, context("step", "next_serve", serve))
            there = fast.step(other, mirrored, context("step", "next_serve", 1 - serve))
            one, other = here.state, there.state
            apart += sum(int((a != b).sum()) for a, b in zip(flipped(one), other, strict=True))
            apart += int((here.reward != there.reward).sum()) + int((here.terminated != there.terminated).sum())
        return apart

    return step_both


def test_upside_down_it_is_the_same_game(play: Callable[..., int]) -> None:
    assert play(40, **CLEAN) == 0
    assert play(40, symmetric_serve=True, aim_middle=True, frame_skip=5) == 0  # the other three do not matter


@pytest.mark.parametrize("oddity", ["symmetric_serve", "aim_middle"])
def test_pufferlibs_is_not(play: Callable[..., int], oddity: str) -> None:
    assert play(20, **{**CLEAN, oddity: False}) > 1000
