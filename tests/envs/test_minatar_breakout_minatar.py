"""minatar_breakout's batched twin beside MinAtar's program as it is installed, with its own random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit.minatar import Asked, Pair
from minatar import Environment
from minatar.environments import breakout

from simulacrum.contract.package import load_package


def pair(**options: Any) -> Pair:
    return Pair("minatar_breakout", "breakout", at_reset, at_step, **options)


def at_reset(asked: Asked) -> dict[str, Any]:
    (side,) = asked
    return {"ball_start": int(side)}


def at_step(asked: Asked) -> dict[str, Any]:
    assert asked == []
    return {}


def ahead(program: Any) -> int:
    """To where the ball will be next."""
    game = program.env
    column = min(max(game.ball_x + (1 if game.ball_dir in (1, 2) else -1), 0), 9)
    return 1 if column < game.pos else 3 if column > game.pos else 0


@pytest.mark.parametrize("sticky", [0.1, 0.0, 0.5])
def test_random_actions(sticky: float) -> None:
    counts = pair(rows=32, seed=1, sticky=sticky).play(250)
    assert counts.steps == 8_000
    assert counts.episodes > 500
    assert counts.rewards > 200
    assert abs(counts.stuck / counts.steps - sticky) < 0.02


def test_long_games() -> None:
    """Through all bricks and the next ones; a time limit ends what the rules do not."""
    both = pair(rows=12, seed=7)
    counts = both.play(800, ahead, limit=700)
    assert counts.episodes >= 12
    assert counts.rewards / counts.episodes > 15


def test_the_wall_comes_back_in_both() -> None:
    both = pair(rows=8, seed=3, sticky=0.0)
    for program in both.programs:
        program.env.brick_map[:] = 0
    both.state = both.state.replace(bricks=both.state.bricks * 0)
    assert both.play(5, ahead).episodes == 0
    assert [program.env.brick_map.sum() for program in both.programs] == [0] * 8
    assert both.play(1, ahead).episodes == 0
    assert [program.env.brick_map.sum() for program in both.programs] == [30] * 8
    both.play(50, ahead)


def test_the_comparison_sees_a_paddle_one_column_off() -> None:
    both = pair(rows=4, seed=1)
    both.programs[2].env.pos = 5
    with pytest.raises(AssertionError):
        both.play(1)


def test_constants_are_those_of_minatar() -> None:
    ours, theirs = load_package("minatar_breakout").module("__init__"), breakout.Env()
    assert (theirs.action_map[ours.LEFT], theirs.action_map[ours.RIGHT]) == ("l", "r")
    assert (theirs.pos, theirs.ball_y) == (ours.START_POS, ours.START_ROW)
    bricks = np.zeros((10, 10))
    bricks[ours.TOP_BRICKS : ours.TOP_BRICKS + ours.BRICK_ROWS] = 1
    assert np.array_equal(theirs.brick_map, bricks)
    assert theirs.state_shape() == [ours.SIZE, ours.SIZE, 4]
    assert theirs.minimal_action_set() == [0, ours.LEFT, ours.RIGHT]


def test_minatar_repeats_the_last_action_of_the_episode_before() -> None:
    """What the spec tells as a difference: its wrapper's `reset` leaves the action before where it was."""
    program: Any = Environment("breakout", sticky_action_prob=1.0)
    program.last_action = 3
    program.reset()
    program.act(0)
    assert program.env.pos == 5
