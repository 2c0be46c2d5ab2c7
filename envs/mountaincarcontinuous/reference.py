"""mountaincarcontinuous, one car at a time: Gymnasium's own Continuous_MountainCarEnv, a state put in and read out.

The rules R3 to R11 are carried out by Gymnasium's `step`, and the bounds of R2 are those of its `reset`. Handed to it,
by no change in it, are our draws, as the generator that it asks for them; the portable cosine in place of the C
library's; and a product for its square. What it gets for a state has the type that it gives itself one: float64 after
a reset, float32 after a step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.continuous_mountain_car import Continuous_MountainCarEnv

from simulacrum.portable.scalar import Float32, cos
from simulacrum.twin.invariant import invariant
from simulacrum.twin.outside import overlay, rebind
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import MIN_POSITION, TOP_GAIN


def cosine(angle: float) -> float:
    """What `math.cos` gives, a Python float, for a NumPy number of whatever width."""
    return cos(float(angle))


def square(base: float, power: int) -> float:
    """What `math.pow` would give if it rounded correctly."""
    assert power == 2
    return float(base) * float(base)


class Generator:
    """The one method of NumPy's generator that Continuous_MountainCarEnv's reset asks for, answered by our draws."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def uniform(self, low: float, high: float) -> float:
        return self.draw.uniform("start", low, high)


class MountainCarContinuous(ReferenceEnv):
    """A car in a valley; state of Python floats.

    The engine carries out R1 (illegal actions) and R12 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._gym: Any = rebind(Continuous_MountainCarEnv, math=overlay(math, cos=cosine, pow=square))()
        self._gym.state = self._gym.np_random = self._gym.goal_velocity = None  # every call brings its own

    def reset(self, ctx: Context) -> Any:
        self._gym.np_random = Generator(ctx.draw)
        self._gym.reset()
        return self._taken()  # R2

    def step(self, state: Any, action: tuple[Float32], ctx: Context) -> Transition:
        width = np.float64 if ctx.t == 0 else np.float32  # R3
        self._gym.state = np.array([state.position, state.velocity], dtype=width)
        self._gym.goal_velocity = float(ctx.params.goal_velocity)
        given = np.array(action, dtype=np.float32)
        _, reward, terminated, _, _ = self._gym.step(given)  # R4, R5, R6, R7, R8, R9, R10, R11
        return Transition(self._taken(), Float32(reward), terminated)

    def _taken(self) -> Any:
        """The state that Gymnasium came to, with nothing left behind: the next call is for another row."""
        position, velocity = (float(value) for value in self._gym.state)
        self._gym.state = self._gym.np_random = self._gym.goal_velocity = None
        return self.State(position=position, velocity=velocity)

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        return Float32(state.position), Float32(state.velocity)  # R13

    @invariant("the car does not move into the wall", rule="R14")
    def stopped_by_the_wall(self, state: Any, ctx: Context) -> bool:
        return Float32(state.position) > MIN_POSITION or state.velocity >= 0.0

    @invariant("the car is no faster than so many steps make it", rule="R15")
    def gain_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.velocity) <= ctx.t * TOP_GAIN
