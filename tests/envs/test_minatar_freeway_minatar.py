"""minatar_freeway's batched twin beside MinAtar's program as it is installed, with its own random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit.minatar import Asked, Pair
from minatar import Environment
from minatar.environments import freeway

from simulacrum.contract.package import load_package


def pair(**options: Any) -> Pair:
    return Pair("minatar_freeway", "freeway", at_reset, at_step, **options)


def digits(asked: Asked) -> list[int]:
    """The two numbers of four digits that stand for the speeds and directions that were drawn."""
    speeds, directions = asked
    signs = np.sign(directions - 0.5).astype(int)
    codes = np.where(signs > 0, speeds - 1, speeds + 4)
    return [int(sum(codes[4 * half + k] * 10**k for k in range(4))) for half in range(2)]


def at_reset(asked: Asked) -> dict[str, Any]:
    return {"start_speeds": digits(asked)}


def at_step(asked: Asked) -> dict[str, Any]:
    return {"new_speeds": digits(asked)} if asked else {}


def up_and_down(program: Any) -> int:
    """Up, but now and then down, by the columns of the cars."""
    return 4 if sum(int(car[0]) for car in program.env.cars) % 7 == 0 else 2


@pytest.mark.parametrize("sticky", [0.1, 0.6])
def test_random_actions(sticky: float) -> None:
    counts = pair(rows=16, seed=1, sticky=sticky).play(300)
    assert abs(counts.stuck / counts.steps - sticky) < 0.03


def test_crossings() -> None:
    counts = pair(rows=24, seed=5).play(300, up_and_down)
    assert counts.rewards > 15


def test_to_the_end_of_the_time() -> None:
    """2501 steps, the last of which ends the episode."""
    both = pair(rows=2, seed=2)
    both.t += 2_490
    for row, program in enumerate(both.programs):
        program.env.terminate_timer -= 2_490 + row
    both.t[1] += 1
    assert both.play(12, lambda program: 2).episodes == 2
    program: Any = Environment("freeway")
    ends = [program.act(0)[1] for _ in range(2_501)]
    assert ends == [False] * 2_500 + [True]


def test_the_comparison_sees_a_car_one_step_late() -> None:
    both = pair(rows=4, seed=1)
    both.programs[2].env.cars[3][2] += 1
    with pytest.raises(AssertionError):
        both.play(8)


def test_constants_are_those_of_minatar() -> None:
    package, theirs = load_package("minatar_freeway"), freeway.Env()
    ours: Any = package.module("__init__")
    assert (theirs.action_map[ours.UP], theirs.action_map[ours.DOWN]) == ("u", "d")
    assert theirs.minimal_action_set() == [0, ours.UP, ours.DOWN]
    assert (theirs.pos, freeway.player_speed) == (ours.START_POS, ours.MOVE_WAIT)
    assert package.schema.params["time_limit"].default == freeway.time_limit == theirs.terminate_timer
    assert [car[1] for car in theirs.cars] == [k + 1 for k in range(ours.CARS)]
    assert theirs.state()[:, ours.COLUMN, 0].any()


def test_a_car_of_speed_s_moves_every_s_plus_1_steps() -> None:
    """MinAtar's comment says once every frame to once every 5 frames; its cars take one step more."""
    program: Any = freeway.Env()
    program.cars = [[0, k + 1, 1 + k % 5, 1 + k % 5] for k in range(8)]
    moved = np.zeros(8)
    for _ in range(60):
        before = [car[0] for car in program.cars]
        program.act(0)
        moved += [after[0] != x for x, after in zip(before, program.cars, strict=True)]
    assert moved.tolist() == [30, 20, 15, 12, 10, 30, 20, 15]


def test_a_direction_of_exactly_one_half_breaks_the_program() -> None:
    """One number of 2^53: the sign is then 0, and a car without a speed has no channel."""

    class Half(np.random.RandomState):
        def rand(self, *size: int) -> Any:
            return np.full(size, 0.5)

    program: Any = freeway.Env()
    program.random = Half(0)
    program.reset()
    with pytest.raises(UnboundLocalError):
        program.state()
