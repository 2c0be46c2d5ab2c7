"""minatar_spaceinvaders' batched twin beside MinAtar's program as it is installed, with its own random numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from kit.minatar import Asked, Pair
from minatar.environments import space_invaders

from simulacrum.contract.package import load_package


def pair(**options: Any) -> Pair:
    return Pair("minatar_spaceinvaders", "space_invaders", at_reset, at_step, **options)


def at_reset(asked: Asked) -> dict[str, Any]:
    assert asked == []
    return {}


at_step = at_reset
GUNNER = load_package("minatar_spaceinvaders").module("probes").PROBES[-1]


def gunner(program: Any) -> int:
    """The package's scripted policy, in MinAtar's program."""
    game, bits = program.env, 1 << np.arange(10)
    maps = {"aliens": (game.alien_map @ bits).astype(int), "bombs": (game.e_bullet_map @ bits).astype(int)}
    clocks = {"fire_timer": game.shot_timer, "move_timer": game.alien_move_timer, "ramp_index": game.ramp_index}
    rows = {name: [int(row) for row in value] for name, value in maps.items()}
    view = SimpleNamespace(pos=game.pos, to_right=game.alien_dir > 0, **clocks, **rows)
    return GUNNER.act(None, view, 0)


@pytest.mark.parametrize("sticky", [0.1, 0.5])
def test_random_actions(sticky: float) -> None:
    counts = pair(rows=24, seed=1, sticky=sticky).play(200)
    assert counts.episodes > 20
    assert counts.rewards > 100
    assert abs(counts.stuck / counts.steps - sticky) < 0.03


@pytest.mark.parametrize("ramping", [True, False])
def test_long_games(ramping: bool) -> None:
    """From the last two aliens of a block into the next one."""
    both = pair(rows=8, seed=3, params={"difficulty_ramping": ramping})
    for program in both.programs:
        program.env.alien_map[:, :4] = program.env.alien_map[:, 6:] = program.env.alien_map[:3] = 0
    both.state.aliens[:] = torch.tensor([0, 0, 0, 48, 0, 0, 0, 0, 0, 0])
    rewards, faster = 0.0, False
    for _ in range(6):
        rewards += both.play(40, gunner, limit=1_000).rewards
        faster = faster or any(program.env.ramp_index for program in both.programs)
    assert rewards > 8 * 8
    assert faster is ramping


def test_who_never_moves_is_shot_or_landed_on() -> None:
    """Without a shot of its own the whole block comes down; at the left edge no bullet is near."""
    counts = pair(rows=6, seed=2, sticky=0.0).play(160, lambda program: 1)
    assert counts.episodes >= 6


def test_the_comparison_sees_an_alien_too_few() -> None:
    both = pair(rows=4, seed=1)
    both.programs[2].env.alien_map[0, 2] = 0
    with pytest.raises(AssertionError):
        both.play(1)


def test_constants_are_those_of_minatar() -> None:
    ours, theirs = load_package("minatar_spaceinvaders").module("__init__"), space_invaders.Env()
    assert [theirs.action_map[getattr(ours, name)] for name in ("LEFT", "RIGHT", "FIRE")] == ["l", "r", "f"]
    assert theirs.minimal_action_set() == [0, ours.LEFT, ours.RIGHT, ours.FIRE]
    assert (theirs.pos, theirs.alien_dir, theirs.shot_timer, theirs.ramp_index) == (ours.START_POS, -1, 0, 0)
    assert (theirs.enemy_move_interval, theirs.alien_move_timer) == (ours.MOVE_WAIT, ours.MOVE_WAIT)
    assert (space_invaders.shot_cool_down, space_invaders.enemy_shot_interval) == (ours.FIRE_WAIT, ours.SHOT_WAIT)
    block = np.zeros((10, 10))
    block[: ours.WAVE_ROWS] = [ours.WAVE_ROW >> x & 1 for x in range(10)]
    assert np.array_equal(theirs.alien_map, block)
