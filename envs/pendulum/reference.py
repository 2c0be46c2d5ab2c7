"""pendulum, one rod at a time: the rules of spec.md in their order, on Python floats."""

from __future__ import annotations

import math
from typing import Any

from simulacrum.portable.scalar import Float32, cos, sin
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import DT, MAX_SPEED, PI, SPEED_COST, START_SPEED, TOP_STEP, TORQUE_COST, TURN


class Pendulum(ReferenceEnv):
    """A rod on a pivot; state of Python floats.

    The engine carries out R1 (illegal actions) and R8 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        theta = ctx.draw.uniform("angle", -PI, PI)  # R2
        return self.State(theta=theta, theta_dot=ctx.draw.uniform("speed", -START_SPEED, START_SPEED))

    def step(self, state: Any, action: tuple[Float32], ctx: Context) -> Transition:
        torque, params = action[0], ctx.params
        pull = 3.0 * params.gravity / (2.0 * params.length) * sin(state.theta)  # R3
        push = Float32(3.0 / (params.mass * (params.length * params.length))) * torque  # R4
        theta_dot = self._held(state.theta_dot + (pull + float(push)) * DT)
        theta = state.theta + theta_dot * DT
        reward = self._reward(state, torque)
        return Transition(self.State(theta=theta, theta_dot=theta_dot), reward, False)  # R7

    def _held(self, speed: float) -> float:
        if speed > MAX_SPEED:  # R4
            return MAX_SPEED
        return -MAX_SPEED if speed < -MAX_SPEED else speed

    def _reward(self, state: Any, torque: Float32) -> Float32:
        size = abs(state.theta)
        deviation = size - TURN * math.floor((size + PI) / TURN)  # R5
        cost = deviation * deviation + SPEED_COST * (state.theta_dot * state.theta_dot)  # R6
        return Float32(0.0 - (cost + float(TORQUE_COST * (torque * torque))))

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        return Float32(cos(state.theta)), Float32(sin(state.theta)), Float32(state.theta_dot)  # R9

    @invariant("the rod has turned no further than its steps can take it", rule="R10")
    def turn_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.theta) <= PI + ctx.t * TOP_STEP

    @invariant("the rod turns no faster than its top speed", rule="R11")
    def speed_bounded(self, state: Any, ctx: Context) -> bool:
        return abs(state.theta_dot) <= MAX_SPEED
