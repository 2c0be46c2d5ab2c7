"""acrobot, rule by rule: constants of Gymnasium, and steps worked out from spec.md, in both twins."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from gymnasium.envs.classic_control.acrobot import AcrobotEnv

from simulacrum.contract.package import load_package
from simulacrum.portable import cos, sin

NAMES = ("theta1", "theta2", "speed1", "speed2")
State = dict[str, float]


def at(theta1: float = 0.0, theta2: float = 0.0, speed1: float = 0.0, speed2: float = 0.0) -> State:
    return {"theta1": theta1, "theta2": theta2, "speed1": speed1, "speed2": speed2}


def f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def test_constants_are_those_of_gymnasium() -> None:
    package, theirs = load_package("acrobot"), AcrobotEnv()
    ours: Any = package.module("__init__")
    assert (theirs.dt, theirs.MAX_VEL_1, theirs.MAX_VEL_2) == (ours.DT, ours.TOP_SPEED_1, ours.TOP_SPEED_2)
    assert (math.pi, math.pi - -math.pi, math.pi / 2.0) == (ours.PI, ours.TURN, ours.HALF_PI)
    m1, m2, l1 = theirs.LINK_MASS_1, theirs.LINK_MASS_2, theirs.LINK_LENGTH_1
    lc1, lc2 = theirs.LINK_COM_POS_1, theirs.LINK_COM_POS_2
    assert (m1 * lc1 + m2 * l1) * 9.8 == ours.FALL_BOTH
    assert m2 * lc2 * 9.8 == ours.FALL_OUTER
    assert (m1, m2, l1, lc1, lc2, theirs.LINK_MOI) == (1.0, 1.0, 1.0, 0.5, 0.5, 1.0)
    assert theirs.AVAIL_TORQUE == [-1.0, 0.0, 1.0]
    params = {name: param.default for name, param in package.schema.params.items()}
    assert params == {"torque_noise_max": theirs.torque_noise_max, "nips": int(theirs.book_or_nips == "nips")}


def test_spaces_and_time_limit_are_those_of_gymnasium() -> None:
    import gymnasium

    from simulacrum.contract.spaces import single_action_space, single_observation_space

    schema, theirs = load_package("acrobot").schema, AcrobotEnv()
    assert single_action_space(schema) == theirs.action_space
    assert single_observation_space(schema) == theirs.observation_space
    assert schema.max_episode_steps == gymnasium.spec("Acrobot-v1").max_episode_steps


def test_r2_start_is_the_draw_as_float32(acrobot: Any) -> None:
    start = (0.01, -0.02, 0.03, -0.04)
    assert tuple(acrobot.reset(start=start).state.values()) == tuple(f32(value) for value in start)
    starts = [acrobot.reset(seed=seed).state for seed in range(40)]
    for name in NAMES:
        assert -0.1 <= min(state[name] for state in starts) < -0.08
        assert 0.08 < max(state[name] for state in starts) <= 0.1


def rates(state: tuple[float, ...], torque: float, nips: bool) -> tuple[float, ...]:
    theta1, theta2, speed1, speed2 = state
    d1 = 0.25 + (1.25 + cos(theta2)) + 1.0 + 1.0  # R4
    d2 = 0.25 + 0.5 * cos(theta2) + 1.0
    phi2 = 4.9 * cos(theta1 + theta2 - math.pi / 2)  # R5
    phi1 = -0.5 * (speed2 * speed2) * sin(theta2) - speed2 * speed1 * sin(theta2)
    phi1 = phi1 + 1.5 * 9.8 * cos(theta1 - math.pi / 2) + phi2
    drive = torque + d2 / d1 * phi1  # R6
    if not nips:
        drive = drive - 0.5 * (speed1 * speed1) * sin(theta2)
    outer = (drive - phi2) / (1.25 - d2 * d2 / d1)
    return speed1, speed2, (0.0 - (d2 * outer + phi1)) / d1, outer  # R7


def integrated(state: State, torque: float, nips: bool = False) -> tuple[float, ...]:
    y = tuple(state.values())

    def moved(time: float, by: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(a + time * b for a, b in zip(y, by, strict=True))

    k1 = rates(y, torque, nips)  # R8
    k2 = rates(moved(0.1, k1), torque, nips)
    k3 = rates(moved(0.1, k2), torque, nips)
    k4 = rates(moved(0.2, k3), torque, nips)
    total = tuple(a + 2.0 * b + 2.0 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return moved(0.2 / 6.0, total)


STATES = [at(), at(0.3, -0.4, 1.0, -2.0), at(-1.2, 2.0, -3.0, 1.5), at(0.01, 0.02, 0.03, 0.04)]


@pytest.mark.parametrize("nips", [0, 1])
@pytest.mark.parametrize("action", [0, 1, 2])
@pytest.mark.parametrize("before", STATES)
def test_r3_to_r8_step(acrobot: Any, before: State, action: int, nips: int) -> None:
    after = integrated(before, action - 1.0, nips == 1)
    seen = acrobot.step(before, action, params={"nips": nips})
    assert tuple(seen.state.values()) == after
    theta1, theta2, speed1, speed2 = after
    shown = (cos(theta1), sin(theta1), cos(theta2), sin(theta2), speed1, speed2)
    assert seen.observation == [f32(value) for value in shown]  # R14


def test_r3_noise_is_added_to_the_torque(acrobot: Any) -> None:
    before = STATES[1]
    given = acrobot.step(before, 2, params={"torque_noise_max": 0.5}, noise=-0.25).state
    assert tuple(given.values()) == integrated(before, 0.75)
    assert acrobot.step(before, 2, params={"torque_noise_max": 0.5}, seed=3).state != acrobot.step(before, 2).state


PI = math.pi
JUST_OVER, JUST_UNDER = math.nextafter(PI, 4.0), math.nextafter(PI, 3.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_r9_an_angle_that_passes_half_a_turn_comes_in_on_the_other_side(acrobot: Any, sign: float) -> None:
    for theta, speed in ((3.0, 2.0), (PI, 0.5), (JUST_UNDER, 1e-3), (3.1, -0.2)):
        before = at(0.0, sign * theta, 0.0, sign * speed)
        there = integrated(before, 0.0)[1]
        expected = there - sign * 2 * PI if abs(there) > PI else there
        assert acrobot.step(before, 1).state["theta2"] == expected


def test_r9_several_turns_are_taken_off_one_at_a_time(acrobot: Any) -> None:
    before = at(-PI, -0.62103 * PI, -4 * PI, -9 * PI)
    expected, turns = integrated(before, -1.0)[0], 0
    while expected > PI:
        expected, turns = expected - 2 * PI, turns + 1
    while expected < -PI:
        expected, turns = expected + 2 * PI, turns + 1
    assert turns >= 4
    assert acrobot.step(before, 0).state["theta1"] == expected


def test_r10_top_speeds(acrobot: Any) -> None:
    held = acrobot.step(at(0.5, -0.5, 4 * PI, 9 * PI), 2).state
    free = integrated(at(0.5, -0.5, 4 * PI, 9 * PI), 1.0)
    assert held["speed1"] == min(max(free[2], -4 * PI), 4 * PI)
    assert held["speed2"] == min(max(free[3], -9 * PI), 9 * PI)
    assert (held["speed1"], held["speed2"]) != free[2:]


HIGH_AND_LOW = [at(2.0, 0.5, 1.0, 0.0), at(1.0, 0.0, 1.0, 0.0), at(2.2, -0.3, -4.0, 1.0), at(PI, PI)]


@pytest.mark.parametrize("before", HIGH_AND_LOW)
def test_r11_r12_the_end_above_the_line(acrobot: Any, before: State) -> None:
    seen = acrobot.step(before, 1)
    theta1, theta2 = seen.state["theta1"], seen.state["theta2"]
    high = -cos(theta1) - cos(theta2 + theta1)
    assert seen.terminated is (high > 1.0)
    assert seen.reward == (0.0 if high > 1.0 else -1.0)


def test_r11_both_sides_of_the_line_are_met(acrobot: Any) -> None:
    # The outer link folded further and further forward.
    met = {acrobot.step(at(2.0, 0.001 * k, 1.0, 0.0), 1).terminated for k in range(-600, 600, 100)}
    assert met == {True, False}


def test_r13_the_rules_leave_time_to_the_engine(acrobot: Any) -> None:
    assert acrobot.step(at(), 1, t=499).terminated is False
    assert acrobot.schema.max_episode_steps == 500


def test_r15_r16_invariants_hold_at_their_ends(acrobot: Any) -> None:
    for sign in (-1.0, 1.0):
        assert all(acrobot.look(at(sign * PI, sign * PI, sign * 4 * PI, sign * 9 * PI), t=3).invariants.values())


def test_drawings_show_the_chain_and_leave_the_state_alone() -> None:
    from simulacrum.twin.state import load_state

    package = load_package("acrobot")
    drawing, state = package.module("render"), load_state(package.schema, at(PI, 0.0, 0.5, -1.0))
    before = repr(state)
    lines = drawing.text(state).split("\n")
    assert lines[-1] == "end +2.00 m high; +0.50 and -1.00 rad/s"
    assert lines[0] == " " * 16 + "o"
    assert lines[4] == "-" * 16 + "." + "-" * 16
    assert lines[8] == " " * 16 + "+"
    images = [drawing.rgb(load_state(package.schema, at(*angles))) for angles in ((0.0, 0.0), (1.0, 0.0), (1.0, -2.0))]
    assert all((image.shape, image.dtype.name) == ((300, 300, 3), "uint8") for image in images)
    assert len({image.tobytes() for image in images}) == 3
    assert repr(state) == before
