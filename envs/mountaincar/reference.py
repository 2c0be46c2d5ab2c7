"""mountaincar, one car at a time: Gymnasium's own MountainCarEnv, a state put into it and read out again.

The rules R3 to R9 are carried out by Gymnasium's `step`, and the bounds of R2 are those of its `reset`.
Two things are handed to it, by no change in it: our draws, as the generator that it asks for them; and the
portable cosine in place of the C library's, whose last bit differs from machine to machine.
"""

from __future__ import annotations

import math
from typing import Any

from gymnasium.envs.classic_control.mountain_car import MountainCarEnv

from simulacrum.portable.scalar import Float32, cos
from simulacrum.twin.invariant import invariant
from simulacrum.twin.outside import overlay, rebind
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import MAX_SPEED, MIN_POSITION, TOP_GAIN


class Generator:
    """The one method of NumPy's generator that MountainCarEnv's reset asks for, answered by our draws."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def uniform(self, low: float, high: float) -> float:
        return self.draw.uniform("start", low, high)


class MountainCar(ReferenceEnv):
    """A car in a valley; state of Python floats.

    The engine carries out R1 (illegal actions) and R10 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._gym: Any = rebind(MountainCarEnv, math=overlay(math, cos=cos))()
        self._gym.state = self._gym.np_random = self._gym.goal_velocity = None  # every call brings its own

    def reset(self, ctx: Context) -> Any:
        self._gym.np_random = Generator(ctx.draw)
        self._gym.reset()
        return self._taken()  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        self._gym.state = (state.position, state.velocity)
        self._gym.goal_velocity = ctx.params.goal_velocity
        _, reward, terminated, _, _ = self._gym.step(action)  # R3, R4, R5, R6, R7, R8, R9
        return Transition(self._taken(), Float32(reward), terminated)

    def _taken(self) -> Any:
        """The state that Gymnasium came to, with nothing left behind: the next call is for another row."""
        position, velocity = (float(value) for value in self._gym.state)
        self._gym.state = self._gym.np_random = self._gym.goal_velocity = None
        return self.State(position=position, velocity=velocity)

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        return Float32(state.position), Float32(state.velocity)  # R11

    @invariant("the car is no faster than its top speed", rule="R12")
    def speed_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.velocity) <= MAX_SPEED

    @invariant("the car does not move into the wall", rule="R13")
    def stopped_by_the_wall(self, state: Any, ctx: Context) -> bool:
        return state.position > MIN_POSITION or state.velocity >= 0.0

    @invariant("the car is no faster than so many steps make it", rule="R14")
    def gain_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.velocity) <= ctx.t * TOP_GAIN
