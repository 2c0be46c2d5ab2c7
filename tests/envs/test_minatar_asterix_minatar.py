"""minatar_asterix's batched twin beside MinAtar's program as it is installed, with its own random numbers."""

from __future__ import annotations

from typing import Any

import pytest
from kit.minatar import Asked, Pair
from minatar.environments import asterix

from simulacrum.contract.package import load_package


def pair(**options: Any) -> Pair:
    return Pair("minatar_asterix", "asterix", lambda asked: {}, at_step, **options)


def at_step(asked: Asked) -> dict[str, Any]:
    if not asked:
        return {}
    to_right, gold, *place = asked
    return {"to_right": to_right < 1 / 2, "gold": gold < 1 / 3} | ({"place": int(place[0])} if place else {})


def careful(program: Any) -> int:
    """Away from enemies that come close on the row, else towards gold."""
    game = program.env
    here = game.entities[game.player_y - 1]
    if here is not None and not here[3] and abs(here[0] - game.player_x) <= 2:
        for action, y in ((2, game.player_y - 1), (4, game.player_y + 1)):
            other = game.entities[y - 1] if 1 <= y <= 8 else None
            if 1 <= y <= 8 and (other is None or other[3] or abs(other[0] - game.player_x) > 2):
                return action
    return 3 if game.player_x < 4 else 1 if game.player_x > 5 else 0


@pytest.mark.parametrize("sticky", [0.1, 0.5])
def test_random_actions(sticky: float) -> None:
    counts = pair(rows=32, seed=1, sticky=sticky).play(250)
    assert counts.episodes > 60
    assert counts.rewards > 30
    assert abs(counts.stuck / counts.steps - sticky) < 0.03


@pytest.mark.parametrize("ramping", [True, False])
def test_long_games(ramping: bool) -> None:
    both = pair(rows=16, seed=3, params={"difficulty_ramping": ramping})
    counts = both.play(300, careful, limit=1_000)
    assert counts.rewards > 20
    assert all(program.env.ramping is ramping for program in both.programs)


@pytest.mark.parametrize("ramping", [True, False])
def test_difficulty_by_the_clock(ramping: bool) -> None:
    """A player that no enemy ends: both go on through all levels, on to slots that are all taken."""
    both, full = pair(rows=4, seed=9, params={"difficulty_ramping": ramping}), 0
    for _ in range(1_020):
        for program in both.programs:
            program.env.player_y, program.env.player_x = 1, 5
            program.env.terminal = False
        both.state = both.state.replace(player_y=both.state.player_y * 0 + 1, player_x=both.state.player_x * 0 + 5)
        renewed, both._renewed = both._renewed, lambda state, over: state
        both.play(1, lambda program: 0)
        both._renewed = renewed
        full += sum(all(program.env.entities) for program in both.programs)
    speeds = {(program.env.spawn_speed, program.env.move_speed) for program in both.programs}
    assert speeds == {(1, 1) if ramping else (10, 5)}
    assert (full > 20) is ramping


def test_the_difficulty_rises_every_102_steps() -> None:
    """Its clock goes from `ramp_interval` = 100 to -1, and one step more."""
    game: Any = asterix.Env()
    risen = []
    for t in range(1_200):
        game.entities, before = [None] * 8, game.ramp_index
        game.act(0)
        risen += [t + 1] if game.ramp_index > before else []
    assert risen == [102 * level for level in range(1, 10)]


def test_the_comparison_sees_a_thing_that_moves_the_other_way() -> None:
    both = pair(rows=4, seed=1)
    both.play(15, lambda program: 0)
    program = next(each for each in both.programs if any(each.env.entities))
    thing = next(each for each in program.env.entities if each)
    thing[2] = not thing[2]
    with pytest.raises(AssertionError):
        both.play(1, lambda program: 0)


def test_constants_are_those_of_minatar() -> None:
    ours, theirs = load_package("minatar_asterix").module("__init__"), asterix.Env()
    names = [theirs.action_map[getattr(ours, name)] for name in ("LEFT", "UP", "RIGHT", "DOWN")]
    assert names == ["l", "u", "r", "d"]
    assert (theirs.player_x, theirs.player_y, len(theirs.entities)) == (ours.START, ours.START, ours.SLOTS)
    assert (theirs.spawn_speed, theirs.spawn_timer) == (ours.SPAWN_SPEED, ours.SPAWN_SPEED)
    assert (theirs.move_speed, theirs.move_timer) == (ours.MOVE_SPEED, ours.MOVE_SPEED)
    assert (asterix.ramp_interval + 2, ours.GOLD_CHANCE) == (ours.RAMP_STEPS, 1 / 3)
