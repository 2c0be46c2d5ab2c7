"""pendulum, all rods at once: the rules of spec.md in their order, on float64 tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos, remainder, sin
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import DT, MAX_SPEED, PI, SPEED_COST, START_SPEED, TOP_STEP, TORQUE_COST, TURN


class Pendulum(BatchedEnv):
    """N rods; `theta` and `theta_dot` are float64 `[N]`.

    The engine carries out R1 (illegal actions) and R8 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        theta = ctx.draw.uniform("angle", -PI, PI)  # R2: float64 [N] each
        return self.State(theta=theta, theta_dot=ctx.draw.uniform("speed", -START_SPEED, START_SPEED))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        torque, params = action[:, 0], ctx.params  # float32 [N]
        pull = 3.0 * params.gravity / (2.0 * params.length) * sin(state.theta)  # R3: float64 [N]
        three = torch.full_like(state.theta, 3.0)
        push = (three / (params.mass * (params.length * params.length))).to(torch.float32) * torque  # R4: float32 [N]
        theta_dot = (state.theta_dot + (pull + push.to(torch.float64)) * DT).clamp(-MAX_SPEED, MAX_SPEED)
        theta = state.theta + theta_dot * DT
        reward = self._reward(state, torque)
        terminated = torch.zeros_like(theta, dtype=torch.bool)  # R7
        return Transition(self.State(theta=theta, theta_dot=theta_dot), reward, terminated)

    def _reward(self, state: Any, torque: Tensor) -> Tensor:
        deviation = remainder(state.theta + PI, TURN) - PI  # R5: float64 [N]
        cost = deviation * deviation + SPEED_COST * (state.theta_dot * state.theta_dot)  # R6: float64 [N]
        return (0.0 - (cost + (TORQUE_COST * (torque * torque)).to(torch.float64))).to(torch.float32)  # [N]

    def observe(self, state: Any, ctx: Context) -> Tensor:
        seen = torch.stack([cos(state.theta), sin(state.theta), state.theta_dot], dim=-1)
        return seen.to(torch.float32)  # R9: [N, 3]

    @invariant("the rod has turned no further than its steps can take it", rule="R10")
    def turn_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.theta.abs() <= PI + ctx.t.to(torch.float64) * TOP_STEP  # bool [N]

    @invariant("the rod turns no faster than its top speed", rule="R11")
    def speed_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.theta_dot.abs() <= MAX_SPEED  # bool [N]
