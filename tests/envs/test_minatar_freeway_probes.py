"""minatar_freeway's scripted policies, and how it is drawn."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from minatar.gym import BaseEnv

from simulacrum.contract.package import load_package
from simulacrum.engine.runner import ReferenceRunner

PACKAGE = load_package("minatar_freeway")
PROBES = {probe.name: probe for probe in PACKAGE.module("probes").PROBES}
NOTHING, UP, DOWN = 0, 2, 4


def at(pos: int = 5, **cars: tuple[int, int, int]) -> Any:
    """A chicken that may move; `rowK` is column, timer and speed of the car there, others are far away and slow."""
    placed = [cars.get(f"row{k + 1}", (9, 5, 5)) for k in range(8)]
    x, timer, speed = zip(*placed, strict=True)
    return PACKAGE.reference().State(pos, 0, x, timer, speed, NOTHING)


@pytest.mark.parametrize(
    ("name", "state", "action"),
    [
        ("stay", at(), NOTHING),
        ("up", at(), UP),
        ("look", at(), UP),
        ("look", at(row4=(4, 5, 5)), NOTHING),
        ("look", at(row4=(3, 2, 1)), NOTHING),
        ("look", at(row4=(3, 4, 5)), UP),  # drives too late
        ("look", at(row4=(4, 5, 5), row5=(3, 1, 1)), DOWN),
        ("look", at(row4=(4, 5, 5), row5=(3, 1, 1), row6=(4, 5, 5)), NOTHING),
        ("look", at(pos=1), UP),
    ],
)
def test_what_they_do(name: str, state: Any, action: int) -> None:
    assert PROBES[name].act(None, state, 0) == action


@pytest.mark.parametrize("name", ["up", "look"])
def test_interval_follows_from_its_stated_measurement(name: str) -> None:
    probe = PROBES[name]
    mean, deviation = (float(x) for x in re.findall(r"\d+\.\d+", probe.why)[:2])
    half = 5 * deviation / probe.episodes**0.5
    assert probe.low == pytest.approx(max(mean - half, 0.0), abs=0.02)
    assert probe.high == pytest.approx(mean + half, abs=0.02)


def test_the_reference_earns_it() -> None:
    """A tenth of an episode earns a tenth, within five standard errors; the battery plays whole episodes."""
    probe, episodes = PROBES["look"], 6
    mean, deviation = (float(x) for x in re.findall(r"\d+\.\d+", probe.why)[:2])
    half = 5 * (deviation * 0.1**0.5 + 1.0) / episodes**0.5  # a crossing that is under way counts as none
    total = sum(_part(probe, seed, 250) for seed in range(episodes))
    assert abs(total / episodes - mean / 10) <= half


def _part(probe: Any, seed: int, steps: int) -> float:
    runner, total = ReferenceRunner(PACKAGE, max_episode_steps=steps), 0.0
    runner.reset(seed=seed)
    while not runner.ended:
        total += float(runner.step(probe.act(None, runner.state, runner.t)).reward)
    return total


def test_text() -> None:
    lines = PACKAGE.module("render").text(at(row1=(0, 1, 1), row8=(2, 5, -3))).split("\n")
    assert lines[0] == ". . . . . . . . . ."
    assert lines[1] == "# . . . . . . . . 1"
    assert lines[5] == ". . . . C . . . 5 #"
    assert lines[8] == ". . # 3 . . . . . ."
    assert lines[10] == "chicken on row 5, may move"


def test_image_has_the_colours_of_minatar() -> None:
    env: Any = BaseEnv("freeway", render_mode="rgb_array")
    game, state = env.game.env, at(row1=(0, 1, 1), row2=(4, 1, 2), row3=(5, 1, -3), row4=(9, 1, -4), row5=(5, 3, -5))
    game.pos = 5
    game.cars = [[state.car_x[k], k + 1, state.car_timer[k], state.car_speed[k]] for k in range(8)]
    image = PACKAGE.module("render").rgb(state)
    assert (image.shape, image.dtype) == ((320, 320, 3), np.uint8)
    assert np.array_equal(image[16::32, 16::32], np.round(255 * env.render()).astype(np.uint8))
