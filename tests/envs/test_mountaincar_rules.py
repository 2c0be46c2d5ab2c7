"""mountaincar, rule by rule: constants of Gymnasium, and steps worked out from spec.md, in both twins."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv

from simulacrum.contract.package import load_package
from simulacrum.portable import cos


def at(position: float = -0.5, velocity: float = 0.0) -> dict[str, float]:
    return {"position": position, "velocity": velocity}


def f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def test_constants_are_those_of_gymnasium() -> None:
    package, theirs = load_package("mountaincar"), MountainCarEnv()
    ours: Any = package.module("__init__")
    pairs = {
        "FORCE": theirs.force,
        "GRAVITY": theirs.gravity,
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

    schema, theirs = load_package("mountaincar").schema, MountainCarEnv()
    assert single_action_space(schema) == theirs.action_space
    assert single_observation_space(schema) == theirs.observation_space
    assert schema.max_episode_steps == gymnasium.spec("MountainCar-v0").max_episode_steps


def test_r2_start_is_the_draw_at_rest(mountaincar: Any) -> None:
    assert mountaincar.reset(start=-0.45).state == at(-0.45)
    starts = [mountaincar.reset(seed=seed).state["position"] for seed in range(200)]
    assert -0.6 <= min(starts) < -0.59
    assert -0.41 < max(starts) < -0.4


@pytest.mark.parametrize("action", [0, 1, 2])
@pytest.mark.parametrize("before", [at(), at(-1.0, -0.03), at(0.2, 0.05), at(0.0, 0.0), at(-math.pi / 6, 0.0)])
def test_r3_to_r6_step(mountaincar: Any, before: dict[str, float], action: int) -> None:
    velocity = before["velocity"] + ((action - 1) * 0.001 + cos(3 * before["position"]) * -0.0025)
    after = at(before["position"] + velocity, velocity)
    seen = mountaincar.step(before, action)
    assert seen.state == after
    assert seen.observation == [f32(after["position"]), f32(after["velocity"])]  # R11
    assert (seen.reward, seen.terminated) == (-1.0, False)  # R8, R9


def test_r5_the_sum_of_push_and_pull_comes_first(mountaincar: Any) -> None:
    told_apart = 0
    for place in range(-40, 40):
        push, pull, velocity = 0.001, cos(3 * (place / 100)) * -0.0025, place / 700
        told_apart += velocity + (push + pull) != velocity + push + pull
        assert mountaincar.step(at(place / 100, velocity), 2).state["velocity"] == velocity + (push + pull)
    assert told_apart


@pytest.mark.parametrize(("velocity", "action", "held"), [(0.07, 2, 0.07), (-0.07, 0, -0.07)])
def test_r5_top_speed(mountaincar: Any, velocity: float, action: int, held: float) -> None:
    assert mountaincar.step(at(-0.5, velocity), action).state == at(-0.5 + held, held)


def test_r6_r7_the_wall_stops_and_the_right_end_does_not(mountaincar: Any) -> None:
    assert mountaincar.step(at(-1.19, -0.05), 0).state == at(-1.2, 0.0)
    assert mountaincar.step(at(-1.2, 0.0), 0).state["velocity"] > 0.0  # the slope is stronger than the car
    right = mountaincar.step(at(0.59, 0.05), 2).state
    assert right["position"] == 0.6
    assert right["velocity"] > 0.05


def test_r7_only_on_the_wall_itself(mountaincar: Any) -> None:
    just_off = mountaincar.step(at(-1.19, -0.0115), 1).state
    assert just_off["position"] > -1.2
    assert just_off["velocity"] < 0.0


def test_r9_the_flag_itself_counts(mountaincar: Any) -> None:
    met = set()
    for shift in range(-6, 7):
        start = 0.5 - 0.05 + shift * math.ulp(0.5)
        before = at(start, 0.05 - (0.001 + cos(3 * start) * -0.0025))
        seen = mountaincar.step(before, 2)
        place = seen.state["position"]
        assert seen.terminated is (place >= 0.5)
        met.add((place > 0.5) - (place < 0.5))
    assert met == {-1, 0, 1}


@pytest.mark.parametrize(("goal_velocity", "ends"), [(0.0, True), (-0.07, True), (0.04, False), (0.07, False)])
def test_r9_a_slow_arrival_counts_if_it_may(mountaincar: Any, goal_velocity: float, ends: bool) -> None:
    seen = mountaincar.step(at(0.48, 0.03), 2, params={"goal_velocity": goal_velocity})
    assert seen.state["position"] > 0.5
    assert seen.terminated is ends


def test_r9_beyond_the_flag_and_on_the_way_back(mountaincar: Any) -> None:
    back = mountaincar.step(at(0.58, -0.02), 1)
    assert back.state["position"] > 0.5
    assert back.terminated is False
    assert mountaincar.step(at(0.58, -0.02), 1, params={"goal_velocity": -0.03}).terminated is True


def test_r10_the_rules_leave_time_to_the_engine(mountaincar: Any) -> None:
    assert mountaincar.step(at(), 1, t=199).terminated is False
    assert mountaincar.schema.max_episode_steps == 200


@pytest.mark.parametrize(
    ("state", "t", "broken"),
    [
        (at(), 0, set()),
        (at(-1.2, -0.001), 9, {"stopped_by_the_wall"}),
        (at(-1.2, 0.001), 9, set()),
        (at(-0.5, 0.07), 99, set()),
        (at(-0.5, -0.0037), 1, {"gain_bounded"}),
        (at(-0.5, -0.0036), 1, set()),
    ],
)
def test_r12_to_r14_invariants(mountaincar: Any, state: dict[str, float], t: int, broken: set[str]) -> None:
    seen = mountaincar.look(state, t=t).invariants
    assert {name for name, holds in seen.items() if not holds} == broken


def test_drawings_show_the_car_and_leave_the_state_alone() -> None:
    from simulacrum.twin.state import load_state

    package = load_package("mountaincar")
    drawing, state = package.module("render"), load_state(package.schema, at(-0.52, -0.01))
    before = repr(state)
    lines = drawing.text(state).split("\n")
    assert lines[-1] == "position -0.520, velocity -0.0100"
    assert lines[-2].strip() == "....o....."
    assert lines[0].strip() == "P"
    images = [drawing.rgb(load_state(package.schema, at(place))) for place in (-1.2, -0.52, 0.5)]
    assert all((image.shape, image.dtype.name) == ((380, 540, 3), "uint8") for image in images)
    assert len({image.tobytes() for image in images}) == 3
    assert repr(state) == before
