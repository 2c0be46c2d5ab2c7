"""The comparison of ports with their originals sees a port that differs, in one row; no port is installed for it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def compare() -> Any:
    spec = importlib.util.spec_from_file_location("ports_compare", HERE / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    return module


def stepped(compare: Any, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A case's outcomes, and its states and actions."""
    case = compare.oracle.case_of(name)
    given = {key: value for key, value in case.items() if key == "action" or key.startswith("state.")}
    return {key: value for key, value in case.items() if key not in given}, given


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCarContinuous-v0", "Breakout-MinAtar"])
def test_the_original_itself_rounded_to_float32_is_no_finding(compare: Any, name: str) -> None:
    ours, given = stepped(compare, name)
    rounded = {key: value.astype(np.float32) for key, value in ours.items()}
    assert compare.differences(ours, rounded, given) == {}


def test_one_row_that_differs_is_found_and_shown(compare: Any) -> None:
    ours, given = stepped(compare, "MountainCar-v0")
    theirs = {key: value.copy() for key, value in ours.items()}
    theirs["next.velocity"][17] += 0.01
    found = compare.differences(ours, theirs, given)
    assert list(found) == ["velocity"]
    assert found["velocity"]["rows"] == 1
    assert found["velocity"]["first"]["position"] == given["state.position"][17]
    assert found["velocity"]["port"] == pytest.approx(found["velocity"]["original"] + 0.01)


def test_states_meet_walls_goals_and_ends(compare: Any) -> None:
    ours, _ = stepped(compare, "MountainCarContinuous-v0")
    assert (ours["next.position"] == np.float32(-1.2)).sum() > 100
    assert 50 < ours["terminated"].sum() < 2_000
    bricks, _ = stepped(compare, "Breakout-MinAtar")
    assert bricks["terminated"].sum() > 50
    assert (bricks["reward"] == 1).sum() > 50


def test_an_outcome_that_the_table_does_not_have_is_found(compare: Any) -> None:
    table = compare.oracle.allowed("FrozenLake-v1")
    outcomes = sorted(table[14, 2])
    assert any(reward == 1.0 for _, reward, _ in outcomes)
    made = {"state.cell": np.full(len(outcomes), 14), "action": np.full(len(outcomes), 2),
            "next.cell": np.array([after for after, _, _ in outcomes]),
            "reward": np.array([reward for _, reward, _ in outcomes]),
            "terminated": np.array([ended for _, _, ended in outcomes])}  # fmt: skip
    assert compare.outcomes("FrozenLake-v1", made) == {}
    made["reward"][0] = 0.5
    assert compare.outcomes("FrozenLake-v1", made)["outcome"]["rows"] == 1


def test_a_walk_with_exchanged_axes_and_another_reward_is_found(compare: Any) -> None:
    case = compare.oracle.walked("MiniGrid-Empty-5x5-v0")
    assert case["terminated"].any(axis=1).sum() > 10
    same = {key: case[key].copy() for key in ("image", "reward", "terminated")}
    assert compare.walks(case, same) == {}
    turned = {**same, "image": same["image"].swapaxes(-2, -3), "reward": np.sign(same["reward"])}
    found = compare.walks(case, turned)
    assert found["image"]["rows with the axes exchanged"] == 0
    assert found["reward"]["rows"] == case["terminated"].any(axis=1).sum()
    # What follows the end counts for nothing.
    beyond = {**same, "reward": np.where(case["alive"], same["reward"], 7.0)}
    assert compare.walks(case, beyond) == {}


def test_what_the_docs_say_is_what_was_written() -> None:
    kept = json.loads((ROOT / "docs" / "assets" / "ports.json").read_text(encoding="utf-8"))
    by_name = {(row["port"].split()[0], row["environment"]): row["differences"] for row in kept["results"]}
    assert "velocity" in by_name["gymnax", "MountainCarContinuous-v0"]
    assert by_name["navix", "MiniGrid-Empty-8x8-v0"]["image"]["rows with the axes exchanged"] == 0
