"""frozenlake, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import MAPS, generate_random_map
from kit.toytext import Both

from simulacrum.contract.package import load_package
from simulacrum.engine.vector import SimulacrumVectorEnv

LEFT, DOWN, RIGHT, UP = 0, 1, 2, 3
ASIDE_LEFT, STRAIGHT, ASIDE_RIGHT = 0.1, 0.5, 0.9  # u of R6 with the default success rate
MAP = load_package("frozenlake").module("maps")
BOTTOM = -(2**63)  # bit 63 alone


@pytest.fixture(scope="module")
def both() -> Both:
    return Both("frozenlake")


def at(row: int, column: int, desc: Any = MAPS["4x4"]) -> dict[str, Any]:
    """A player on this cell of a map."""
    params = MAP.params_of(desc)
    kept = {name: params[name] for name in ("rows", "columns", "holes", "goals")}
    return {"row": row, "column": column, **kept}


def test_r2_to_r4_start(both: Both) -> None:
    start = both.reset()
    assert start == at(0, 0) | {"observation": 0}
    desc = ["FFHF", "FGFS"]
    assert both.reset(MAP.params_of(desc)) == at(1, 3, desc) | {"observation": 7}


@pytest.mark.parametrize(
    ("params", "row", "column", "holes", "goals"),
    [
        ({"rows": 2, "columns": 3, "start_row": 7, "start_column": 7}, 1, 2, 0, 0),  # R2: the last row and column
        ({"rows": 1, "columns": 2, "holes": 0b10, "goals": 0b10}, 0, 0, 0, 0b10),  # R3: a goal is no hole
        ({"rows": 1, "columns": 2, "holes": 0b01, "goals": 0b01}, 0, 0, 0, 0),  # nor is the start
        ({"rows": 1, "columns": 2, "holes": -1, "goals": 0}, 0, 0, 0b10, 0),  # nothing beyond the lake
        ({"rows": 8, "columns": 8, "holes": -1, "goals": 0, "start_row": 7, "start_column": 7}, 7, 7, 2**63 - 1, 0),
        ({"rows": 8, "columns": 8, "holes": -1, "goals": BOTTOM}, 0, 0, 2**63 - 2, BOTTOM),
    ],
)
def test_r2_r3_any_parameters(
    both: Both, params: dict[str, int], row: int, column: int, holes: int, goals: int
) -> None:
    start = both.reset({"holes": 0, "goals": 0} | params)
    assert (start["row"], start["column"], start["holes"], start["goals"]) == (row, column, holes, goals)


@pytest.mark.parametrize(
    ("action", "u", "cell"),
    [
        (LEFT, STRAIGHT, (4, 3)), (DOWN, STRAIGHT, (5, 4)), (RIGHT, STRAIGHT, (4, 5)), (UP, STRAIGHT, (3, 4)),
        (LEFT, ASIDE_LEFT, (3, 4)), (LEFT, ASIDE_RIGHT, (5, 4)), (UP, ASIDE_LEFT, (4, 5)), (UP, ASIDE_RIGHT, (4, 3)),
        (DOWN, ASIDE_LEFT, (4, 3)), (RIGHT, ASIDE_RIGHT, (3, 4)),
    ],
)  # fmt: skip
def test_r6_r7_moves_and_slips(both: Both, action: int, u: float, cell: tuple[int, int]) -> None:
    free = ["S" + "F" * 7] + ["F" * 8] * 7
    seen = both.step(at(4, 4, free), action, slip=u)
    assert (seen["row"], seen["column"], seen["reward"], seen["terminated"]) == (*cell, 0.0, False)
    assert seen["observation"] == cell[0] * 8 + cell[1]
    firm = both.step(at(4, 4, free), action, {"slippery": False}, slip=u)
    straight = both.step(at(4, 4, free), action, slip=STRAIGHT)
    assert (firm["row"], firm["column"]) == (straight["row"], straight["column"])


@pytest.mark.parametrize(("row", "column", "action"), [(0, 0, LEFT), (0, 0, UP), (1, 2, DOWN), (1, 2, RIGHT)])
def test_r8_edges(both: Both, row: int, column: int, action: int) -> None:
    seen = both.step(at(row, column, ["SFF", "FFF"]), action, slip=STRAIGHT)
    assert (seen["row"], seen["column"]) == (row, column)


def test_r6_sums_are_rounded_one_by_one(both: Both) -> None:
    """Success rates whose three probabilities add up to less than 1: the largest u is beyond all of them."""
    last, found = 1.0 - 2.0**-53, 0
    for rate in (0.062, 0.3, 0.34, 0.465, 0.5, 0.8):
        total = ((1.0 - rate) / 2.0 + rate) + (1.0 - rate) / 2.0
        seen = both.step(at(1, 1, ["SFF", "FFF", "FFF"]), LEFT, {"success_rate": rate}, slip=last)
        assert (seen["row"], seen["column"]) == ((2, 1) if last < total else (0, 1))
        found += total <= last
    assert found == 4


@pytest.mark.parametrize(
    ("row", "column", "action", "kind"),
    [(3, 2, RIGHT, "goal_reward"), (0, 1, DOWN, "hole_reward"), (0, 0, RIGHT, "frozen_reward")],
)
def test_r10_r11_rewards_and_ends(both: Both, row: int, column: int, action: int, kind: str) -> None:
    params = {"goal_reward": 2.5, "hole_reward": -3.0, "frozen_reward": -0.125}
    seen = both.step(at(row, column), action, params, slip=STRAIGHT)
    assert (seen["reward"], seen["terminated"]) == (params[kind], kind != "frozen_reward")
    usual = both.step(at(row, column), action, slip=STRAIGHT)
    assert usual["reward"] == (1.0 if kind == "goal_reward" else 0.0)


@pytest.mark.parametrize(("row", "column"), [(1, 1), (3, 3)])
def test_r9_no_step_leads_out_of_a_hole_or_goal(both: Both, row: int, column: int) -> None:
    rewards = {"goal_reward": 5.0, "hole_reward": 6.0, "frozen_reward": 7.0}
    for action in range(4):
        seen = both.step(at(row, column), action, rewards, slip=STRAIGHT)
        assert (seen["row"], seen["column"], seen["reward"], seen["terminated"]) == (row, column, 0.0, True)


def test_r14_to_r16_invariants(both: Both) -> None:
    assert both.invariants(at(3, 3), "on_the_lake")
    assert not both.invariants(at(3, 3) | {"rows": 3}, "on_the_lake")
    assert not both.invariants(at(3, 3) | {"columns": 3}, "on_the_lake")
    assert both.invariants(at(0, 0), "one_thing_a_cell")
    assert not both.invariants(at(0, 0) | {"holes": BOTTOM, "goals": BOTTOM}, "one_thing_a_cell")
    assert both.invariants(at(1, 1), "begins_on_ice", t=1)
    assert not both.invariants(at(1, 1), "begins_on_ice", t=0)


def test_maps_go_to_parameters_and_back() -> None:
    generator = np.random.default_rng(1)
    maps = [*MAPS.values(), ["S"], ["FS"], ["F", "S"], ["GHS"], [["S", "G"], ["H", "F"]]]
    maps += [generate_random_map(int(size), 0.7, int(size) + 100) for size in generator.integers(2, 9, 60)]
    for rows, columns in generator.integers(1, 9, (60, 2)):
        letters = generator.choice(list("FHG"), (rows, columns))
        letters[generator.integers(rows), generator.integers(columns)] = "S"
        maps.append(["".join(line) for line in letters])
    negative = 0
    for desc in maps:
        params = MAP.params_of(desc)
        assert MAP.desc_of(params) == ["".join(line) for line in desc]
        assert MAP.params_of(np.asarray([list(line) for line in desc], dtype="c")) == params
        negative += params["goals"] < 0
    assert negative > 5


@pytest.mark.parametrize(
    "desc", [[], [""], ["SF", "F"], ["FF"], ["SS"], ["SX"], ["S" + "F" * 8], ["S"] + ["F"] * 8], ids=str
)
def test_what_is_no_map(desc: list[str]) -> None:
    with pytest.raises(ValueError, match=r"a map (has|is)"):
        MAP.params_of(desc)


def test_engine_takes_maps_by_row_and_another_time_limit() -> None:
    maps = [MAP.params_of(desc) for desc in (MAPS["4x4"], MAPS["8x8"], ["SFG"])]
    columns = {name: [params[name] for params in maps] for name in maps[0]}
    env = SimulacrumVectorEnv("frozenlake", 3, params={**columns, "slippery": False}, max_episode_steps=200)
    env.reset(seed=0)
    for t in range(200):
        _, _, terminated, truncated, _ = env.step(np.zeros(3, dtype=np.int64))
        assert not terminated.any()
        assert truncated.all() == (t == 199)
    env.close()


def test_drawings_show_the_map() -> None:
    render = load_package("frozenlake").module("render")
    twin = load_package("frozenlake").reference()
    assert render.text(twin.State(**at(1, 0))) == " .  .  .  .\n[.] O  .  O\n .  .  .  O\n O  .  .  G\ncell 4"
    images = [render.rgb(twin.State(**at(*cell))) for cell in ((0, 0), (1, 0), (1, 1), (3, 3))]
    assert len({image.tobytes() for image in images}) == 4
    assert all(image.dtype == np.uint8 and image.shape == images[0].shape for image in images)
    wide = render.rgb(twin.State(**at(0, 7, MAPS["8x8"])))
    assert wide.shape[0] > images[0].shape[0]
