"""cliffwalking, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit.toytext import Both

from simulacrum.contract.package import load_package
from simulacrum.engine.vector import SimulacrumVectorEnv

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
SLIPPERY = {"slippery": True}
ONE_LEFT, STRAIGHT, ONE_RIGHT = 0.1, 0.5, 0.9  # u of R4


@pytest.fixture(scope="module")
def both() -> Both:
    return Both("cliffwalking")


def test_r2_start(both: Both) -> None:
    for params in ({}, SLIPPERY):
        assert both.reset(params) == {"row": 3, "column": 0, "observation": 36}


@pytest.mark.parametrize(
    ("action", "u", "cell"),
    [
        (UP, STRAIGHT, (0, 5)), (RIGHT, STRAIGHT, (1, 6)), (DOWN, STRAIGHT, (2, 5)), (LEFT, STRAIGHT, (1, 4)),
        (UP, ONE_LEFT, (1, 4)), (UP, ONE_RIGHT, (1, 6)), (RIGHT, ONE_LEFT, (0, 5)), (RIGHT, ONE_RIGHT, (2, 5)),
        (DOWN, ONE_LEFT, (1, 6)), (DOWN, ONE_RIGHT, (1, 4)), (LEFT, ONE_LEFT, (2, 5)), (LEFT, ONE_RIGHT, (0, 5)),
    ],
)  # fmt: skip
def test_r4_to_r6_moves(both: Both, action: int, u: float, cell: tuple[int, int]) -> None:
    start = {"row": 1, "column": 5}
    seen = both.step(start, action, SLIPPERY, slip=u)
    assert (seen["row"], seen["column"], seen["reward"], seen["terminated"]) == (*cell, -1.0, False)
    assert seen["observation"] == cell[0] * 12 + cell[1]
    firm, straight = both.step(start, action, slip=u), both.step(start, action, SLIPPERY, slip=STRAIGHT)
    assert (firm["row"], firm["column"]) == (straight["row"], straight["column"])


@pytest.mark.parametrize(
    ("u", "row"), [(1 / 3, 0), (np.nextafter(1 / 3, 0), 1), (2 / 3, 1), (np.nextafter(2 / 3, 0), 0), (0.0, 1)]
)
def test_r4_a_third_belongs_to_what_is_above_it(both: Both, u: float, row: int) -> None:
    assert both.step({"row": 1, "column": 5}, UP, SLIPPERY, slip=float(u))["row"] == row


@pytest.mark.parametrize(
    ("row", "column", "action"), [(0, 3, UP), (0, 0, LEFT), (3, 0, DOWN), (3, 0, LEFT), (1, 11, RIGHT)]
)
def test_r6_edges(both: Both, row: int, column: int, action: int) -> None:
    seen = both.step({"row": row, "column": column}, action)
    assert (seen["row"], seen["column"], seen["reward"]) == (row, column, -1.0)


@pytest.mark.parametrize(
    ("row", "column", "action"), [(3, 0, RIGHT), *((2, column, DOWN) for column in range(1, 11)), (3, 11, LEFT)]
)
def test_r7_r8_the_cliff(both: Both, row: int, column: int, action: int) -> None:
    seen = both.step({"row": row, "column": column}, action)
    assert (seen["row"], seen["column"], seen["reward"], seen["terminated"]) == (3, 0, -100.0, False)


def test_r9_the_goal(both: Both) -> None:
    seen = both.step({"row": 2, "column": 11}, DOWN)
    assert (seen["observation"], seen["reward"], seen["terminated"]) == (47, -1.0, True)
    assert not both.step({"row": 1, "column": 11}, DOWN)["terminated"]


def test_r11_r12_invariants(both: Both) -> None:
    standing: dict[str, Any] = {"row": 3, "column": 5}
    assert not both.invariants(standing, "never_in_the_cliff", t=4)
    assert both.invariants({"row": 3, "column": 11}, "never_in_the_cliff", t=4)
    assert both.invariants({"row": 3, "column": 0}, "begins_at_the_start")
    assert not both.invariants({"row": 2, "column": 0}, "begins_at_the_start")
    assert both.invariants({"row": 2, "column": 0}, "begins_at_the_start", t=1)


def test_r10_a_time_limit_that_can_be_left_out() -> None:
    assert load_package("cliffwalking").schema.max_episode_steps == 200
    env = SimulacrumVectorEnv("cliffwalking", 1, max_episode_steps=None)
    env.reset(seed=0)
    for _ in range(210):
        _, _, terminated, truncated, _ = env.step(np.array([LEFT]))
        assert not terminated.any()
        assert not truncated.any()
    env.close()


def test_drawings() -> None:
    package = load_package("cliffwalking")
    render, state = package.module("render"), package.reference().State
    assert render.text(state(row=2, column=1)) == (
        ". . . . . . . . . . . .\n. . . . . . . . . . . .\n. o . . . . . . . . . .\nS x x x x x x x x x x G"
    )
    images = [render.rgb(state(row=row, column=column)) for row, column in ((0, 0), (3, 0), (3, 11))]
    assert len({image.tobytes() for image in images}) == 3
    assert {(image.shape, image.dtype.name) for image in images} == {((212, 564, 3), "uint8")}
