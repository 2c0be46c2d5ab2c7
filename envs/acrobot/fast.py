"""acrobot, all chains at once: the rules of spec.md in their order, on float64 tensors `[N]`."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos, positive_zero, sin
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    DT,
    FALL_BOTH,
    FALL_OUTER,
    HALF_PI,
    HEIGHT,
    PI,
    REWARD,
    START,
    TOP_SPEED_1,
    TOP_SPEED_2,
    TURN,
    TURNS,
)


class Motion(NamedTuple):
    """Two angles and their speeds, or the rates of these four; float64 `[N]` each."""

    theta1: Tensor
    theta2: Tensor
    speed1: Tensor
    speed2: Tensor

    def moved(self, time: float, rates: Motion) -> Motion:
        """After this time at these rates."""
        return Motion(*(value + time * rate for value, rate in zip(self, rates, strict=True)))


class Acrobot(BatchedEnv):
    """N chains of two links; the four fields of the state are float64 `[N]`.

    The engine carries out R1 (illegal actions) and R13 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        start = ctx.draw.uniform("start", -START, START).to(torch.float32)  # R2: [N, 4]
        return self.State(*positive_zero(start.to(torch.float64)).unbind(dim=-1))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        most = ctx.params.torque_noise_max  # float64 [N]
        torque = (action - 1).to(torch.float64) + ctx.draw.uniform("noise", -most, most)  # R3: float64 [N]
        after = self._integrated(Motion(*state), torque, ctx.params.nips == 1)
        theta1, theta2 = self._wrapped(after.theta1), self._wrapped(after.theta2)
        speed1 = after.speed1.clamp(-TOP_SPEED_1, TOP_SPEED_1)  # R10
        speed2 = after.speed2.clamp(-TOP_SPEED_2, TOP_SPEED_2)
        terminated = (0.0 - cos(theta1)) - cos(theta2 + theta1) > HEIGHT  # R11: bool [N]
        reward = torch.where(terminated, 0.0, torch.full_like(theta1, REWARD)).to(torch.float32)  # R12: [N]
        return Transition(self.State(theta1, theta2, speed1, speed2), reward, terminated)

    def _integrated(self, start: Motion, torque: Tensor, nips: Tensor) -> Motion:
        first = self._rates(start, torque, nips)  # R8
        second = self._rates(start.moved(DT / 2.0, first), torque, nips)
        third = self._rates(start.moved(DT / 2.0, second), torque, nips)
        fourth = self._rates(start.moved(DT, third), torque, nips)
        stages = zip(first, second, third, fourth, strict=True)
        return start.moved(DT / 6.0, Motion(*(k1 + 2.0 * k2 + 2.0 * k3 + k4 for k1, k2, k3, k4 in stages)))

    def _rates(self, at: Motion, torque: Tensor, nips: Tensor) -> Motion:
        sine, cosine = sin(at.theta2), cos(at.theta2)
        d1 = 0.25 + (1.25 + cosine) + 1.0 + 1.0  # R4: float64 [N] each
        d2 = 0.25 + 0.5 * cosine + 1.0
        phi2 = FALL_OUTER * cos(at.theta1 + at.theta2 - HALF_PI)  # R5
        whirl = -0.5 * (at.speed2 * at.speed2) * sine - at.speed2 * at.speed1 * sine
        phi1 = whirl + FALL_BOTH * cos(at.theta1 - HALF_PI) + phi2
        drive = torque + d2 / d1 * phi1  # R6
        drive = torch.where(nips, drive, drive - 0.5 * (at.speed1 * at.speed1) * sine)
        gain2 = (drive - phi2) / (1.25 - d2 * d2 / d1)
        gain1 = (0.0 - (d2 * gain2 + phi1)) / d1  # R7
        return Motion(at.speed1, at.speed2, gain1, gain2)

    def _wrapped(self, angle: Tensor) -> Tensor:
        for _ in range(TURNS):  # R9
            angle = torch.where(angle > PI, angle - TURN, angle)
        for _ in range(TURNS):
            angle = torch.where(angle < -PI, angle + TURN, angle)
        return angle

    def observe(self, state: Any, ctx: Context) -> Tensor:
        angles = [cos(state.theta1), sin(state.theta1), cos(state.theta2), sin(state.theta2)]
        return torch.stack([*angles, state.speed1, state.speed2], dim=-1).to(torch.float32)  # R14: [N, 6]

    @invariant("angles are within half a turn", rule="R15")
    def angles_wrapped(self, state: Any, ctx: Context) -> Tensor:
        return (state.theta1.abs() <= PI) & (state.theta2.abs() <= PI)  # bool [N]

    @invariant("no link turns faster than it may", rule="R16")
    def speeds_bounded(self, state: Any, ctx: Context) -> Tensor:
        return (state.speed1.abs() <= TOP_SPEED_1) & (state.speed2.abs() <= TOP_SPEED_2)  # bool [N]
