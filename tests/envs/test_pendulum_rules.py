"""pendulum, rule by rule: constants of Gymnasium, and steps worked out from spec.md, in both twins."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from gymnasium.envs.classic_control.pendulum import PendulumEnv

from simulacrum.contract.package import load_package
from simulacrum.portable import cos, sin


def at(theta: float = 0.0, theta_dot: float = 0.0) -> dict[str, float]:
    return {"theta": theta, "theta_dot": theta_dot}


def f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def test_constants_are_those_of_gymnasium() -> None:
    package, theirs = load_package("pendulum"), PendulumEnv()
    ours: Any = package.module("__init__")
    assert (theirs.dt, theirs.max_speed) == (ours.DT, ours.MAX_SPEED)
    assert (math.pi, 2 * math.pi) == (ours.PI, ours.TURN)
    defaults = {name: param.default for name, param in package.schema.params.items()}
    assert defaults == {"gravity": theirs.g, "mass": theirs.m, "length": theirs.l}


def test_spaces_are_those_of_gymnasium() -> None:
    from simulacrum.contract.spaces import single_action_space, single_observation_space

    schema, theirs = load_package("pendulum").schema, PendulumEnv()
    assert single_action_space(schema) == theirs.action_space
    assert single_observation_space(schema) == theirs.observation_space


def test_r2_start_is_the_draws(pendulum: Any) -> None:
    seen = pendulum.reset(angle=2.5, speed=-0.75)
    assert seen.state == at(2.5, -0.75)
    assert seen.observation == [f32(cos(2.5)), f32(sin(2.5)), -0.75]  # R9


def test_r2_start_is_within_its_bounds_and_uses_them(pendulum: Any) -> None:
    starts = [pendulum.reset(seed=seed).state for seed in range(200)]
    for name, bound in (("theta", math.pi), ("theta_dot", 1.0)):
        values = [state[name] / bound for state in starts]
        assert -1.0 <= min(values) < -0.9
        assert 0.9 < max(values) <= 1.0
        assert abs(sum(values) / 200) < 0.163  # four standard errors of 0.577 / sqrt(200)


@pytest.mark.parametrize("torque", [-2.0, 0.0, 0.3, 2.0])
@pytest.mark.parametrize("before", [at(), at(1.0, -0.7), at(-3.1, 2.5), at(40.0, 7.0)])
@pytest.mark.parametrize("params", [{}, {"gravity": 3.7, "mass": 0.7, "length": 2.3}])
def test_r3_to_r6_step(pendulum: Any, before: dict[str, float], torque: float, params: dict[str, float]) -> None:
    g, m, length = {"gravity": 10.0, "mass": 1.0, "length": 1.0, **params}.values()
    theta, theta_dot = before.values()
    push = f32(f32(3.0 / (m * (length * length))) * f32(torque))
    speed = theta_dot + (3.0 * g / (2.0 * length) * sin(theta) + push) * 0.05
    seen = pendulum.step(before, torque, params=params)
    assert seen.state == at(theta + speed * 0.05, speed)
    off = (theta + math.pi) % math.tau - math.pi
    small = f32(f32(0.001) * f32(f32(torque) * f32(torque)))
    assert seen.reward == f32(-(off * off + 0.1 * (theta_dot * theta_dot) + small))
    assert seen.terminated is False  # R7


@pytest.mark.parametrize(("speed", "held"), [(7.99, 8.0), (-7.99, -8.0)])
def test_r4_speed_is_held(pendulum: Any, speed: float, held: float) -> None:
    angle = math.copysign(math.pi / 2, speed)
    assert pendulum.step(at(angle, speed), 0.0).state == at(angle + held * 0.05, held)


@pytest.mark.parametrize(
    ("theta", "off"),
    [(0.0, 0.0), (3.0, 3.0), (-3.0, 3.0), (3.5, math.tau - 3.5), (-3.5, math.tau - 3.5),
     (4 * math.tau + 1.0, 1.0), (-4 * math.tau - 1.0, 1.0), (math.pi, math.pi), (-math.pi, math.pi)],
)  # fmt: skip
def test_r5_whole_turns_do_not_count(pendulum: Any, theta: float, off: float) -> None:
    assert pendulum.step(at(theta), 0.0).reward == pytest.approx(-off * off, abs=1e-5)


def test_r6_looks_at_the_state_before_the_step(pendulum: Any) -> None:
    assert pendulum.step(at(), 2.0).reward == f32(-0.004)
    assert math.copysign(1.0, pendulum.step(at(), 0.0).reward) == 1.0  # no cost is 0.0, and not -0.0


def test_r8_the_rules_leave_time_to_the_engine(pendulum: Any) -> None:
    assert pendulum.step(at(), 0.0, t=199).terminated is False
    assert pendulum.schema.max_episode_steps == 200


@pytest.mark.parametrize(
    ("state", "t", "broken"),
    [
        (at(3.14), 0, set()),
        (at(-3.15), 0, {"turn_bounded"}),
        (at(3.55), 1, set()),
        (at(-3.56), 1, {"turn_bounded"}),
        (at(85.0, 8.0), 200, set()),
    ],
)
def test_r10_r11_invariants(pendulum: Any, state: dict[str, float], t: int, broken: set[str]) -> None:
    seen = pendulum.look(state, t=t).invariants
    assert {name for name, holds in seen.items() if not holds} == broken
