"""cartpole, rule by rule: constants of Gymnasium, and steps worked out from spec.md, in both twins."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from simulacrum.contract.package import load_package
from simulacrum.portable import cos, sin

STILL = {"x": 0.0, "x_dot": 0.0, "theta": 0.0, "theta_dot": 0.0}
NAMES = tuple(STILL)


def at(**changes: float) -> dict[str, float]:
    return {**STILL, **changes}


def f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def test_constants_are_those_of_gymnasium() -> None:
    ours, theirs = load_package("cartpole").module("__init__"), CartPoleEnv()
    pairs = {
        "GRAVITY": theirs.gravity,
        "POLE_MASS": theirs.masspole,
        "TOTAL_MASS": theirs.total_mass,
        "HALF_LENGTH": theirs.length,
        "POLE_MOMENT": theirs.polemass_length,
        "FORCE": theirs.force_mag,
        "TAU": theirs.tau,
        "X_LIMIT": theirs.x_threshold,
        "ANGLE_LIMIT": theirs.theta_threshold_radians,
    }
    assert {name: getattr(ours, name) for name in pairs} == pairs
    assert theirs.kinematics_integrator == "euler"


def test_spaces_are_those_of_gymnasium() -> None:
    from simulacrum.contract.spaces import single_action_space, single_observation_space

    schema, theirs = load_package("cartpole").schema, CartPoleEnv()
    assert single_action_space(schema) == theirs.action_space
    assert single_observation_space(schema) == theirs.observation_space


def test_r2_start_is_the_draw(cartpole: Any) -> None:
    start = (0.01, -0.02, 0.03, -0.04)
    assert tuple(cartpole.reset(start=start).state.values()) == start


def test_r2_start_is_within_its_bounds_and_uses_them(cartpole: Any) -> None:
    starts = [cartpole.reset(seed=seed).state for seed in range(200)]
    for name in NAMES:
        values = [state[name] for state in starts]
        assert -0.05 <= min(values) < -0.045
        assert 0.045 < max(values) < 0.05
        assert abs(sum(values) / 200) < 0.0082  # four standard errors of 0.0289 / sqrt(200)


@pytest.mark.parametrize("action", [0, 1])
@pytest.mark.parametrize(
    "before",
    [
        STILL,
        at(x=1.0, x_dot=-0.7, theta=0.1, theta_dot=1.3),
        at(x=-2.3, x_dot=2.0, theta=-0.2, theta_dot=-2.5),
    ],
)
def test_r3_to_r8_step(cartpole: Any, before: dict[str, float], action: int) -> None:
    x, x_dot, theta, theta_dot = before.values()
    force = 10.0 if action == 1 else -10.0
    push = (force + 0.05 * theta_dot**2 * sin(theta)) / 1.1
    turn = (9.8 * sin(theta) - cos(theta) * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos(theta) ** 2 / 1.1))
    gain = push - 0.05 * turn * cos(theta) / 1.1
    after = (x + 0.02 * x_dot, x_dot + 0.02 * gain, theta + 0.02 * theta_dot, theta_dot + 0.02 * turn)
    seen = cartpole.step(before, action)
    assert tuple(seen.state.values()) == after
    assert seen.observation == [f32(value) for value in after]  # R12


def test_r8_speeds_are_those_before_the_step(cartpole: Any) -> None:
    after = cartpole.step(STILL, 1).state
    assert (after["x"], after["theta"]) == (0.0, 0.0)
    assert after["x_dot"] > 0.19
    assert after["theta_dot"] < -0.29


X, ANGLE = 2.4, 12 * 2 * math.pi / 360


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("name", "limit"), [("x", X), ("theta", ANGLE)])
def test_r9_r10_a_limit_itself_is_still_within(cartpole: Any, name: str, limit: float, sign: float) -> None:
    for value, ends in (
        (math.nextafter(limit, 0.0), False),
        (limit, False),
        (math.nextafter(limit, math.inf), True),
    ):
        seen = cartpole.step(at(**{name: sign * value}), 1)
        assert seen.state[name] == sign * value
        assert (seen.terminated, seen.reward) == (ends, 1.0)


def test_r10_a_state_beyond_the_limits_may_come_back(cartpole: Any) -> None:
    # Gymnasium pays nothing for steps after the end of an episode; here the engine never takes one.
    seen = cartpole.step(at(x=2.41, x_dot=-3.0), 0)
    assert (seen.terminated, seen.reward) == (False, 1.0)


def test_r11_the_rules_leave_time_to_the_engine(cartpole: Any) -> None:
    assert cartpole.step(STILL, 1, t=499).terminated is False
    assert cartpole.schema.max_episode_steps == 500


@pytest.mark.parametrize(
    ("state", "t", "broken"),
    [
        (STILL, 0, set()),
        (at(x=4.8, theta=-0.41), 9, set()),
        (at(theta_dot=5.0), 9, set()),
        (at(theta_dot=-5.01), 9, {"turn_bounded"}),
        (at(x_dot=0.05), 0, set()),
        (at(x_dot=0.06), 0, {"speed_bounded"}),
        (at(x_dot=-0.26), 1, set()),
        (at(x_dot=-0.27), 1, {"speed_bounded"}),
    ],
)
def test_r13_to_r15_invariants(cartpole: Any, state: dict[str, float], t: int, broken: set[str]) -> None:
    seen = cartpole.look(state, t=t).invariants
    assert {name for name, holds in seen.items() if not holds} == broken
