"""mountaincarcontinuous, rule by rule: constants of Gymnasium, and steps worked out from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.envs.classic_control.continuous_mountain_car import Continuous_MountainCarEnv

from simulacrum.contract.package import load_package
from simulacrum.portable import Float32, cos


def at(position: float = -0.5, velocity: float = 0.0) -> dict[str, float]:
    return {"position": position, "velocity": velocity}


def f32(value: float) -> float:
    return float(np.float32(value))


def test_constants_are_those_of_gymnasium() -> None:
    package, theirs = load_package("mountaincarcontinuous"), Continuous_MountainCarEnv()
    ours: Any = package.module("__init__")
    pairs = {
        "POWER": theirs.power,
        "MIN_POSITION": theirs.min_position,
        "MAX_POSITION": theirs.max_position,
        "MAX_SPEED": theirs.max_speed,
        "GOAL_POSITION": theirs.goal_position,
    }
    assert {name: getattr(ours, name) for name in pairs} == pairs
    assert package.schema.params["goal_velocity"].default == theirs.goal_velocity


def test_spaces_and_time_limit_are_those_of_gymnasium() -> None:
    import gymnasium

    from simulacrum.contract.spaces import single_action_space, single_observation_space

    schema, theirs = load_package("mountaincarcontinuous").schema, Continuous_MountainCarEnv()
    assert single_action_space(schema) == theirs.action_space
    assert single_observation_space(schema) == theirs.observation_space
    assert schema.max_episode_steps == gymnasium.spec("MountainCarContinuous-v0").max_episode_steps


def test_r2_start_is_the_draw_at_rest(mountaincarcontinuous: Any) -> None:
    assert mountaincarcontinuous.reset(start=-0.45).state == at(-0.45)
    starts = [mountaincarcontinuous.reset(seed=seed).state["position"] for seed in range(200)]
    assert -0.6 <= min(starts) < -0.59
    assert -0.41 < max(starts) < -0.4


def gain(angle: float, push: float) -> Float32:
    return Float32(push) * 0.0015 - Float32(0.0025 * cos(angle))  # R4, R5


BEFORE = [at(-0.45123456789), at(-0.98765432, -0.031), at(0.2, 0.05)]


@pytest.mark.parametrize("push", [-1.0, 0.0, 0.37, 1.0])
@pytest.mark.parametrize("before", BEFORE)
def test_r3_to_r9_first_step(mountaincarcontinuous: Any, before: dict[str, float], push: float) -> None:
    velocity = before["velocity"] + float(gain(3 * before["position"], push))
    seen = mountaincarcontinuous.step(before, push, t=0)
    assert seen.state == at(f32(before["position"] + velocity), f32(velocity))
    assert seen.observation == list(seen.state.values())  # R13


@pytest.mark.parametrize("push", [-1.0, 0.0, 0.37, 1.0])
@pytest.mark.parametrize("before", BEFORE)
def test_r3_to_r9_later_step(mountaincarcontinuous: Any, before: dict[str, float], push: float) -> None:
    position, velocity = (Float32(value) for value in before.values())
    velocity = velocity + gain(float(3 * position), push)
    seen = mountaincarcontinuous.step(before, push, t=1)
    assert seen.state == at(float(position + velocity), float(velocity))
    assert (seen.terminated, seen.reward) == (False, f32(0.0 - f32(push) * f32(push) * 0.1))  # R10, R11


def test_r3_the_two_widths_are_told_apart(mountaincarcontinuous: Any) -> None:
    states = [at(-0.45 - k / 7000) for k in range(40)]
    both = [[mountaincarcontinuous.step(state, 0.5, t=t).state for t in (0, 1)] for state in states]
    assert any(one != other for one, other in both)


@pytest.mark.parametrize("t", [0, 1])
@pytest.mark.parametrize(("velocity", "push", "held"), [(0.07, 1.0, 0.07), (-0.07, -1.0, -0.07)])
def test_r6_top_speed(mountaincarcontinuous: Any, t: int, velocity: float, push: float, held: float) -> None:
    after = mountaincarcontinuous.step(at(-0.5, velocity), push, t=t).state
    assert after["velocity"] == f32(held)


@pytest.mark.parametrize("t", [0, 1])
def test_r7_r8_the_wall_stops_and_the_right_end_does_not(mountaincarcontinuous: Any, t: int) -> None:
    assert mountaincarcontinuous.step(at(-1.19, -0.05), -1.0, t=t).state == at(f32(-1.2), 0.0)
    right = mountaincarcontinuous.step(at(0.59, 0.05), 1.0, t=t)
    assert right.state["position"] == f32(0.6)
    assert right.state["velocity"] > 0.05
    assert (right.terminated, right.reward) == (True, f32(100.0 - 0.1))


def test_r10_the_flag_itself_counts_as_a_float32(mountaincarcontinuous: Any) -> None:
    met, goal = set(), np.float32(0.45)
    for shift in range(-40, 41):
        start = float(np.float32(0.4) + shift * np.spacing(np.float32(0.4)))
        velocity = float(Float32(0.05) - gain(float(3 * Float32(start)), 0.0))
        seen = mountaincarcontinuous.step(at(start, velocity), 0.0, t=9)
        assert seen.terminated is bool(np.float32(seen.state["position"]) >= goal)
        met.add(int(np.sign(np.float32(seen.state["position"]) - goal)))
    assert met == {-1, 0, 1}
    assert float(goal) < 0.45  # so that a comparison in float64 would be another one


@pytest.mark.parametrize(("goal_velocity", "ends"), [(0.0, True), (-0.069, True), (0.04, False)])
def test_r10_a_slow_arrival_counts_if_it_may(mountaincarcontinuous: Any, goal_velocity: float, ends: bool) -> None:
    for t in (0, 5):
        seen = mountaincarcontinuous.step(at(0.43, 0.03), 1.0, t=t, params={"goal_velocity": goal_velocity})
        assert seen.state["position"] > 0.45
        assert seen.terminated is ends


def test_r12_the_rules_leave_time_to_the_engine(mountaincarcontinuous: Any) -> None:
    assert mountaincarcontinuous.step(at(), 0.5, t=998).terminated is False
    assert mountaincarcontinuous.schema.max_episode_steps == 999


@pytest.mark.parametrize(
    ("state", "t", "broken"),
    [
        (at(), 0, set()),
        (at(-1.2, -0.001), 9, {"stopped_by_the_wall"}),
        (at(-1.2, 0.001), 9, set()),
        (at(-0.5, -0.0042), 1, {"gain_bounded"}),
        (at(-0.5, -0.0041), 1, set()),
    ],
)
def test_r14_r15_invariants(mountaincarcontinuous: Any, state: dict[str, float], t: int, broken: set[str]) -> None:
    seen = mountaincarcontinuous.look(state, t=t).invariants
    assert {name for name, holds in seen.items() if not holds} == broken


def test_drawings_show_the_car_and_leave_the_state_alone() -> None:
    from simulacrum.twin.state import load_state

    package = load_package("mountaincarcontinuous")
    drawing, state = package.module("render"), load_state(package.schema, at(-0.52, -0.01))
    before = repr(state)
    assert drawing.text(state).split("\n")[-1] == "position -0.520, velocity -0.0100"
    images = [drawing.rgb(load_state(package.schema, at(place))) for place in (-1.2, -0.52, 0.45)]
    assert all((image.shape, image.dtype.name) == ((380, 540, 3), "uint8") for image in images)
    assert len({image.tobytes() for image in images}) == 3
    assert repr(state) == before
