"""cartpole, one cart at a time: Gymnasium's own CartPoleEnv, a state put into it and read out again.

The rules R3 to R10 are carried out by Gymnasium's `step`, and the bounds of R2 are those of its `reset`.
Two things are handed to it, by no change in it: our draws, as the generator that it asks for them; and an
angle that brings its own sine and cosine, since those of the C library differ from machine to machine.
"""

from __future__ import annotations

from typing import Any

from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from simulacrum.portable.scalar import Float32, cos, sin
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import ANGLE_LIMIT, START, TOP_PUSH, TOP_TURN, X_LIMIT


class Angle:
    """An angle in radians. NumPy's `sin` and `cos` ask an object that is none of its numbers for its own."""

    def __init__(self, radians: float) -> None:
        self.radians = radians

    def sin(self) -> float:
        return sin(self.radians)

    def cos(self) -> float:
        return cos(self.radians)

    def __add__(self, other: float) -> float:
        return self.radians + other


class Generator:
    """The one method of NumPy's generator that CartPoleEnv's reset asks for, answered by our draws."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def uniform(self, low: float, high: float, size: tuple[int, ...]) -> tuple[float, ...]:
        assert size == (4,)
        return self.draw.uniform("start", low, high)


class CartPole(ReferenceEnv):
    """A cart with a pole; state of Python floats.

    The engine carries out R1 (illegal actions) and R11 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._gym: Any = CartPoleEnv(sutton_barto_reward=False)
        self._gym.np_random = None  # only ours may draw

    def reset(self, ctx: Context) -> Any:
        self._gym.np_random = Generator(ctx.draw)
        self._gym.reset()
        return self._taken()  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        self._gym.state = (state.x, state.x_dot, Angle(state.theta), state.theta_dot)
        _, reward, terminated, _, _ = self._gym.step(action)  # R3, R4, R5, R6, R7, R8, R9, R10
        return Transition(self._taken(), Float32(reward), terminated)

    def _taken(self) -> Any:
        """The state that Gymnasium came to, with nothing left behind: the next call is for another row."""
        x, x_dot, theta, theta_dot = (float(value) for value in self._gym.state)
        self._gym.state = self._gym.np_random = self._gym.steps_beyond_terminated = None
        return self.State(x, x_dot, theta, theta_dot)

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        return tuple(Float32(value) for value in state)  # R12

    @invariant("cart and pole are within twice their limits", rule="R13")
    def in_sight(self, state: Any, ctx: Context) -> bool:
        return abs(state.x) <= 2 * X_LIMIT and abs(state.theta) <= 2 * ANGLE_LIMIT

    @invariant("the pole turns no faster than it can within its limits", rule="R14")
    def turn_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.theta_dot) <= TOP_TURN

    @invariant("the cart is no faster than so many pushes make it", rule="R15")
    def speed_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.x_dot) <= START + ctx.t * TOP_PUSH
