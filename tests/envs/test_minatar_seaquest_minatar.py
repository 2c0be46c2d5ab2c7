"""minatar_seaquest's batched twin beside MinAtar's program as it is installed, with its own random numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from kit.minatar import Asked, Pair
from minatar.environments import seaquest

from simulacrum.contract.package import load_package

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)


def pair(**options: Any) -> Pair:
    return Pair("minatar_seaquest", "seaquest", lambda asked: {}, at_step, **options)


def at_step(asked: Asked) -> dict[str, Any]:
    """An enemy is asked for by two numbers and a row, a diver after it by one number and a row."""
    drawn: dict[str, Any] = {}
    if len(asked) >= 3:
        right, sub, row, *asked = asked
        drawn |= {"enemy_right": right < 1 / 2, "enemy_sub": sub < 1 / 3, "enemy_row": int(row)}
    if asked:
        right, row = asked
        drawn |= {"diver_right": right < 1 / 2, "diver_row": int(row)}
    return drawn


class Diver:
    """Gathers divers and comes up with six, or when the oxygen runs low; fires where nothing is to be feared."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, program: Any) -> int:
        game = program.env
        x, y = game.sub_x, game.sub_y
        if game.diver_count == 6 or (game.oxygen < y + 25 and game.diver_count):
            goal = (x, 0)
        else:
            goal = min(((d[0], d[1]) for d in game.divers), key=lambda d: abs(d[0] - x) + abs(d[1] - y), default=(4, 4))
        if self.random.random() < 0.3:
            return FIRE
        choices = {UP: y > goal[1], DOWN: y < goal[1], LEFT: x > goal[0], RIGHT: x < goal[0]}
        free = [action for action, wanted in choices.items() if wanted and not self.feared(game, action)]
        return self.random.choice(free or [NOTHING, *range(1, 5)])

    def feared(self, game: Any, action: int) -> bool:
        y = game.sub_y + {UP: -1, DOWN: 1}.get(action, 0)
        x = game.sub_x + {LEFT: -1, RIGHT: 1}.get(action, 0)
        if y == 0:
            return game.diver_count == 0
        return any(one[1] == y and abs(one[0] - x) <= 2 for one in [*game.e_fish, *game.e_subs, *game.e_bullets])


@pytest.mark.parametrize("sticky", [0.1, 0.5])
def test_random_actions(sticky: float) -> None:
    counts = pair(rows=64, seed=1, sticky=sticky).play(150)
    assert counts.episodes > 100
    assert counts.rewards > 10
    assert abs(counts.stuck / counts.steps - sticky) < 0.03


@pytest.mark.parametrize("ramping", [True, False])
def test_long_games(ramping: bool) -> None:
    counts = pair(rows=64, seed=3, params={"difficulty_ramping": ramping}).play(300, Diver(7), limit=1_000)
    assert counts.rewards > 100
    assert counts.episodes > 20


def test_the_hardest_games() -> None:
    """A player that nothing ends comes up whenever it likes: all levels, up to an enemy in every step."""
    both, fullest = pair(rows=16, seed=9), 0
    for step in range(200):
        for program in both.programs:
            program.env.terminal, program.env.diver_count, program.env.oxygen = False, -1, 150
        whole = both.state.oxygen * 0
        both.state = both.state.replace(oxygen=whole + 150, diver_count=whole - 1)
        renewed, both._renewed = both._renewed, lambda state, over: state
        both.play(1, lambda program, step=step: DOWN if program.env.sub_y == 0 else UP if step % 3 else FIRE)
        both._renewed = renewed
        fullest = max(fullest, *(len(program.env.e_fish + program.env.e_subs) for program in both.programs))
    assert {program.env.ramp_index for program in both.programs} == {19}
    assert {(program.env.e_spawn_speed, program.env.move_speed) for program in both.programs} == {(1, 2)}
    assert fullest > 15


def played(seed: int, steps: int, restless: bool) -> Iterator[Any]:
    """A game after each of its steps, with a player that nothing ends and that comes up seldom or all the time."""
    choose, game = random.Random(seed), seaquest.Env()
    game.random = np.random.RandomState(seed)
    for _ in range(steps):
        game.terminal, game.oxygen = False, max(game.oxygen, 5)
        game.diver_count = -1 if restless or choose.random() < 0.02 else max(game.diver_count, 0)
        by_row = {0: DOWN, 1: UP} if restless else {}
        action = by_row.get(game.sub_y, choose.choice([UP, DOWN, FIRE]))
        game.act(choose.randrange(6) if choose.random() < 0.2 or not restless else action)
        yield game


def far(enemy: Any, wait: int) -> int:
    """R25's place of an enemy of MinAtar's."""
    return (enemy[0] if enemy[2] else 9 - enemy[0]) * (wait + 1) - enemy[3]


@pytest.mark.parametrize("restless", [True, False])
def test_the_order_of_lists_is_that_of_places(restless: bool) -> None:
    """What the spec says of MinAtar's lists, and why it need not keep them."""
    most: Counter[str] = Counter()
    for seed in range(6):
        for game in played(seed, 1_200, restless):
            for name in ("f_bullets", "divers"):
                most[name] = max(most[name], len(getattr(game, name)))
            most["enemies"] = max(most["enemies"], len(game.e_fish + game.e_subs))
            for row in range(1, 9):
                for some in (game.e_fish, game.e_subs):
                    places = [far(one, game.move_speed) for one in some if one[1] == row]
                    assert places == sorted(places, reverse=True)
                both = [far(one, game.move_speed) for one in game.e_fish + game.e_subs if one[1] == row]
                assert len(set(both)) == len(both)
                assert game.e_spawn_timer or -game.move_speed not in both
    assert (most["f_bullets"], most["divers"]) == (2, 2)
    assert most["enemies"] <= 30


def test_fewer_divers_than_none() -> None:
    """R17: after six divers were brought up, the player may come up without any."""
    game: Any = seaquest.Env()
    game.diver_count, game.sub_y, game.surface, game.oxygen = 6, 1, False, 120
    assert game.act(UP) == (6, False)
    assert game.diver_count == -1
    for step in range(2, 30, 2):
        game.act(DOWN)
        assert game.act(UP)[1] is False
        assert (game.diver_count, game.oxygen) == (-1 - step // 2, 200)


def test_the_comparison_sees_a_bullet_that_flies_the_other_way() -> None:
    both = pair(rows=4, seed=1)
    both.play(3, lambda program: (DOWN, DOWN, FIRE)[min(2, program.env.sub_y)])
    program = next(each for each in both.programs if each.env.f_bullets)
    program.env.f_bullets[0][2] = not program.env.f_bullets[0][2]
    with pytest.raises(AssertionError):
        both.play(1, lambda program: NOTHING)


def test_constants_are_those_of_minatar() -> None:
    ours, theirs = load_package("minatar_seaquest").module("__init__"), seaquest.Env()
    names = [theirs.action_map[getattr(ours, name)] for name in ("LEFT", "UP", "RIGHT", "DOWN", "FIRE")]
    assert names == ["l", "u", "r", "d", "f"]
    assert (theirs.sub_x, theirs.sub_y, theirs.sub_or) == (ours.START_X, 0, False)
    assert (seaquest.init_spawn_speed, seaquest.init_move_interval) == (ours.SPAWN_WAIT, ours.MOVE_WAIT)
    assert (seaquest.max_oxygen, seaquest.shot_cool_down) == (ours.MAX_OXYGEN, ours.FIRE_WAIT)
    assert (seaquest.enemy_shot_interval, seaquest.diver_spawn_speed) == (ours.SHOT_WAIT, ours.DIVER_SPAWN)
    assert (seaquest.diver_move_interval + 1, ours.SUB_CHANCE) == (ours.DIVER_MOVE, 1 / 3)
