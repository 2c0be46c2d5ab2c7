"""pendulum, one rod at a time: Gymnasium's own PendulumEnv, a state put into it and read out again.

The rules R3 to R6 are carried out by Gymnasium's `step`, the bounds of R2 are those of its `reset`, and R9 is its
`_get_obs`. Handed to it, by no change in it, are our draws, as the generator that it asks for them; the portable sine
and cosine; and numbers whose square is a product, since `x ** 2` is the C library's power otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv

from simulacrum.portable.scalar import Float32, Float64, cos, sin
from simulacrum.twin.invariant import invariant
from simulacrum.twin.outside import overlay, rebind
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import MAX_SPEED, PI, TOP_STEP


class Length(float):
    """A Python number, to NumPy as well, which `Float64` is not; its square is a product."""

    def __pow__(self, power: Any, modulus: None = None) -> float:
        assert power == 2
        return float(self) * float(self)


class Torque(np.float32):
    """A NumPy number whose square is a product."""

    def __pow__(self, power: Any, modulus: None = None) -> np.float32:
        assert power == 2
        return np.float32(self) * np.float32(self)


class Torques(np.ndarray):
    """The action as Gymnasium takes it; what is read from it is a `Torque`."""

    def __getitem__(self, place: Any) -> Torque:
        return Torque(super().__getitem__(place))


class Generator:
    """The one method of NumPy's generator that PendulumEnv's reset asks for, answered by our draws."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def uniform(self, low: Any, high: Any) -> Any:
        bounds = zip(("angle", "speed"), low.tolist(), high.tolist(), strict=True)
        return np.array([self.draw.uniform(slot, least, most) for slot, least, most in bounds])


class Pendulum(ReferenceEnv):
    """A rod on a pivot; state of Python floats.

    The engine carries out R1 (illegal actions) and R8 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._gym: Any = rebind(PendulumEnv, np=overlay(np, sin=sin, cos=cos))()
        self._leave()

    def _leave(self) -> None:
        """Nothing of one call for the next, which is for another row."""
        gym = self._gym
        gym.state = gym.np_random = gym.last_u = gym.g = gym.m = gym.l = None

    def reset(self, ctx: Context) -> Any:
        self._gym.np_random = Generator(ctx.draw)
        self._gym.reset()
        return self._taken()  # R2

    def step(self, state: Any, action: tuple[Float32], ctx: Context) -> Transition:
        self._gym.state = tuple(Float64(value) for value in state)
        params = ctx.params
        self._gym.g, self._gym.m, self._gym.l = params.gravity, params.mass, Length(params.length)
        torque = np.array(action, dtype=np.float32).view(Torques)
        _, reward, terminated, _, _ = self._gym.step(torque)  # R3, R4, R5, R6, R7
        assert terminated is False, "gymnasium's pendulum ends no episode"
        return Transition(self._taken(), Float32(0.0 + float(reward)), False)  # a cost of 0 is -0.0 there

    def _taken(self) -> Any:
        theta, theta_dot = (float(value) for value in self._gym.state)
        self._leave()
        return self.State(theta=theta, theta_dot=theta_dot)

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        self._gym.state = tuple(Float64(value) for value in state)
        seen = self._gym._get_obs()  # R9
        self._leave()
        return tuple(Float32(float(value)) for value in seen)

    @invariant("the rod has turned no further than its steps can take it", rule="R10")
    def turn_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.theta) <= PI + ctx.t * TOP_STEP

    @invariant("the rod turns no faster than its top speed", rule="R11")
    def speed_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.theta_dot) <= MAX_SPEED
