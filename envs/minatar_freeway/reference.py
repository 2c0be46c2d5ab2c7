"""minatar_freeway, one game at a time: MinAtar's own program, a state put into it and read out again.

The rules R2 to R13 are carried out by `reset`, `act` and `state` of MinAtar's classes: `Environment`, which makes
actions sticky, around the game. Nothing in them is changed. What they ask of their random generator is answered by our
draws.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from minatar import Environment

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import CARS, COLUMN, DIGITS, DOWN, SIZE, START_POS, TOP_SPEED, UP


class Generator:
    """The methods of NumPy's RandomState that the game asks, answered by our draws.

    like: an array of CARS integers, so that those that are given are of the game's own kind.
    """

    def __init__(self, ctx: Context, slot: str, like: Any) -> None:
        self.ctx, self.slot, self.like = ctx, slot, like

    def rand(self, count: int | None = None) -> Any:
        """Without a count: 0.0 where the action is to stick, else 1.0, below or above the threshold in `Freeway`.

        With one: for each car a number below or above the threshold of its direction.
        """
        if count is None:
            return 0.0 if self.ctx.draw.bernoulli("sticky", self.ctx.params.sticky_action_prob) else 1.0
        return self._array([0 if digit >= TOP_SPEED else 1 for digit in self._digits()])

    def randint(self, low: int, high: int, count: int) -> Any:
        """The speeds of all cars without their signs, from `low` to `high` - 1."""
        assert (low, high, count) == (1, TOP_SPEED + 1, CARS)
        return self._array([digit % TOP_SPEED + 1 for digit in self._digits()])

    def _digits(self) -> list[int]:
        drawn = self.ctx.draw.integers(self.slot, 10**DIGITS)
        return [drawn[k // DIGITS] // 10 ** (k % DIGITS) % 10 for k in range(CARS)]

    def _array(self, values: list[int]) -> Any:
        made = self.like.copy()
        made[:] = values
        return made


class Freeway(ReferenceEnv):
    """One game; state of Python integers and tuples, one entry for each car.

    The engine carries out R1 (illegal actions).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._program: Any = Environment("freeway", sticky_action_prob=0.5)  # never played itself, only its copies
        self._like = self._program.state()[:CARS, 0, 0].astype(int)

    def reset(self, ctx: Context) -> Any:
        outer = self._copy(Generator(ctx, "start_speeds", self._like))
        outer.reset()
        return self._taken(outer)  # R2, R3

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        outer = self._put(state, Generator(ctx, "new_speeds", self._like))
        outer.env.terminate_timer = ctx.params.time_limit - ctx.t
        reward, terminated = outer.act(action)  # R4, R5, R6, R7, R8, R9, R10, R11, R12
        return Transition(self._taken(outer), Float32(reward), terminated)

    def observe(self, state: Any, ctx: Context) -> Any:
        return self._put(state, None).state().astype(int).tolist()  # R13

    def _copy(self, generator: Generator | None) -> Any:
        """A program that has not been played yet. Its list of cars is shared, and has to be replaced."""
        outer = copy(self._program)
        outer.env = copy(self._program.env)
        outer.random = outer.env.random = generator
        return outer

    def _put(self, state: Any, generator: Generator | None) -> Any:
        """A program in that state, but for its clock."""
        outer = self._copy(generator)
        game = outer.env
        game.pos, game.move_timer = state.pos, state.move_timer
        game.cars = [[state.car_x[k], k + 1, state.car_timer[k], state.car_speed[k]] for k in range(CARS)]
        outer.last_action = state.last_action
        return outer

    def _taken(self, outer: Any) -> Any:
        """The state that a program came to."""
        game = outer.env
        x, _, timer, speed = zip(*game.cars, strict=True)
        return self.State(
            pos=game.pos,
            move_timer=game.move_timer,
            car_x=x,
            car_timer=tuple(int(value) for value in timer),
            car_speed=tuple(int(value) for value in speed),
            last_action=outer.last_action,
        )

    @invariant("no car is on the chicken", rule="R14")
    def alive(self, state: Any, ctx: Context) -> bool:
        return not any(state.car_x[k] == COLUMN and state.pos == k + 1 for k in range(CARS))

    @invariant("cars have a speed, and wait no longer than it says", rule="R15")
    def cars_in_time(self, state: Any, ctx: Context) -> bool:
        return all(state.car_timer[k] <= abs(state.car_speed[k]) != 0 for k in range(CARS))

    @sometimes("the chicken crosses", rule="R6")
    def crosses(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.reward > 0

    @sometimes("the chicken walks into a car that then drives on", rule="R7")
    def walks_into_a_car(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        step = {UP: -1, DOWN: 1}.get(outcome.state.last_action, 0) if state.move_timer == 0 else 0
        k = state.pos + step - 1
        return 0 <= k < CARS and state.car_x[k] == COLUMN and state.car_timer[k] == 0

    @sometimes("a car drives into the chicken", rule="R9")
    def is_run_over(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        k = state.pos - 1
        came = k < CARS and state.car_x[k] != COLUMN == outcome.state.car_x[k]
        return came and state.move_timer > 0 and outcome.state.pos == START_POS

    @sometimes("a car leaves at the edge and comes back at the other", rule="R8")
    def comes_round(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        pairs = zip(state.car_x, outcome.state.car_x, strict=True)
        return any(abs(before - after) == SIZE - 1 for before, after in pairs)
