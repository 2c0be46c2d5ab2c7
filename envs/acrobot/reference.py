"""acrobot, one chain at a time: Gymnasium's own AcrobotEnv, a state put into it and read out again.

The rules R3 to R12 are carried out by Gymnasium's `step`, the bounds of R2 are those of its `reset`, and R14 is its
`_get_ob`. Three things are handed to it, by no change in it: our draws, as the generator that it asks for them; the
portable sine and cosine; and numbers whose square is a product, since `x ** 2` is the C library's power otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.acrobot import AcrobotEnv

from simulacrum.portable.scalar import Float32, Float64, cos, sin
from simulacrum.twin.invariant import invariant
from simulacrum.twin.outside import rebind
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import PI, TOP_SPEED_1, TOP_SPEED_2

Rebound: Any = rebind(AcrobotEnv, cos=cos, sin=sin)


class Portable(Rebound):
    """AcrobotEnv, whose equations of motion are given `Float64` in place of NumPy's numbers."""

    def _dsdt(self, s_augmented: Sequence[float]) -> Any:
        return super()._dsdt([Float64(value) for value in s_augmented])


class Generator:
    """What AcrobotEnv asks of NumPy's generator, answered by our draws."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def uniform(self, low: float, high: float, size: tuple[int, ...] | None = None) -> Any:
        if size is None:
            return self.draw.uniform("noise", low, high)
        assert size == (4,)
        return np.array(self.draw.uniform("start", low, high))


class Acrobot(ReferenceEnv):
    """A chain of two links; state of Python floats.

    The engine carries out R1 (illegal actions) and R13 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._gym: Any = Portable()
        self._gym.np_random = self._gym.book_or_nips = self._gym.torque_noise_max = None  # every step brings its own

    def reset(self, ctx: Context) -> Any:
        self._gym.np_random = Generator(ctx.draw)
        self._gym.reset()
        return self._taken()  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        self._gym.state, self._gym.np_random = np.array(tuple(state)), Generator(ctx.draw)
        self._gym.torque_noise_max = ctx.params.torque_noise_max
        self._gym.book_or_nips = "nips" if ctx.params.nips == 1 else "book"
        _, reward, terminated, _, _ = self._gym.step(action)  # R3, R4, R5, R6, R7, R8, R9, R10, R11, R12
        return Transition(self._taken(), Float32(reward), terminated)

    def _taken(self) -> Any:
        """The state that Gymnasium came to, with nothing left behind: the next call is for another row."""
        taken = self.State(*(0.0 + float(value) for value in self._gym.state))  # no -0.0
        self._gym.state = self._gym.np_random = self._gym.book_or_nips = self._gym.torque_noise_max = None
        return taken

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        self._gym.state = np.array(tuple(state))
        seen = self._gym._get_ob()  # R14
        self._gym.state = None
        return tuple(Float32(float(value)) for value in seen)

    @invariant("angles are within half a turn", rule="R15")
    def angles_wrapped(self, state: Any, ctx: Context) -> bool:
        return abs(state.theta1) <= PI and abs(state.theta2) <= PI

    @invariant("no link turns faster than it may", rule="R16")
    def speeds_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.speed1) <= TOP_SPEED_1 and abs(state.speed2) <= TOP_SPEED_2
