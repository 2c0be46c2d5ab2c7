"""cartpole, all carts at once: the rules of spec.md in their order, on float64 tensors `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos, sin
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    ANGLE_LIMIT,
    FORCE,
    GRAVITY,
    HALF_LENGTH,
    POLE_MASS,
    POLE_MOMENT,
    REWARD,
    START,
    TAU,
    TOP_PUSH,
    TOP_TURN,
    TOTAL_MASS,
    X_LIMIT,
)


class CartPole(BatchedEnv):
    """N carts; `x`, `x_dot`, `theta` and `theta_dot` are float64 `[N]`.

    The engine carries out R1 (illegal actions) and R11 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        start = ctx.draw.uniform("start", -START, START)  # R2: float64 [N, 4]
        return self.State(*start.unbind(dim=-1))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        force = torch.where(action == 1, FORCE, torch.full_like(state.x, -FORCE))  # R3: float64 [N]
        sine, cosine = sin(state.theta), cos(state.theta)  # R4: float64 [N] each
        push = (force + POLE_MOMENT * (state.theta_dot * state.theta_dot) * sine) / TOTAL_MASS  # R5
        theta_acc = (GRAVITY * sine - cosine * push) / self._inertia(cosine)  # R6
        x_acc = push - POLE_MOMENT * theta_acc * cosine / TOTAL_MASS  # R7
        x = state.x + TAU * state.x_dot  # R8: all from the state before the step
        x_dot = state.x_dot + TAU * x_acc
        theta = state.theta + TAU * state.theta_dot
        theta_dot = state.theta_dot + TAU * theta_acc
        reward = torch.full_like(x, REWARD, dtype=torch.float32)  # R9: [N]
        terminated = (x < -X_LIMIT) | (x > X_LIMIT) | (theta < -ANGLE_LIMIT) | (theta > ANGLE_LIMIT)  # R10
        return Transition(self.State(x, x_dot, theta, theta_dot), reward, terminated)

    def _inertia(self, cosine: Tensor) -> Tensor:
        return HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) / TOTAL_MASS)  # R6: float64 [N]

    def observe(self, state: Any, ctx: Context) -> Tensor:
        return torch.stack(list(state), dim=-1).to(torch.float32)  # R12: [N, 4]

    @invariant("cart and pole are within twice their limits", rule="R13")
    def in_sight(self, state: Any, ctx: Context) -> Tensor:
        return (state.x.abs() <= 2 * X_LIMIT) & (state.theta.abs() <= 2 * ANGLE_LIMIT)  # bool [N]

    @invariant("the pole turns no faster than it can within its limits", rule="R14")
    def turn_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.theta_dot.abs() <= TOP_TURN  # bool [N]

    @invariant("the cart is no faster than so many pushes make it", rule="R15")
    def speed_bounded(self, state: Any, ctx: Context) -> Tensor:
        return state.x_dot.abs() <= START + ctx.t.to(torch.float64) * TOP_PUSH  # bool [N]
