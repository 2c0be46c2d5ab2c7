"""Growth, tiny: every curve has its points, bytes and operations of a row are counted, copies move what steps move."""

from __future__ import annotations

import json
from typing import Any

import pytest
from suite import cost, growth, plan


def test_bytes_of_a_row_are_those_of_its_fields() -> None:
    row = cost.of_row("toywalk", "eager")
    # position 4, seed 8, episode 4, key 8, t 4, returns 8, ended 1
    assert row["state"] == 37
    assert row["action"] == 8
    # observation 8, reward 4, two flags (and the tensor they are cut from), info, episode statistics and masks
    assert row["outputs"] >= 14
    assert row["moved"] == 2 * row["state"] + row["params"] + row["outputs"] + row["action"]


def test_operations_are_counted() -> None:
    found = cost.operations("toywalk")
    assert found["torch_operations"] > 100  # the draws alone are rounds of sums and rotations
    assert found["numbers_per_row"] > found["torch_operations"] / 4


@pytest.mark.parametrize("num_envs", [1, 100])
def test_a_copy_moves_the_bytes_of_a_step(num_envs: int) -> None:
    built = cost.copy(90.0, num_envs)
    assert built.steps_per_call == num_envs
    assert built.run(3)[0] > 0


def test_every_curve_has_its_points() -> None:
    shown: list[str] = []
    tiny = plan.Plan(environments=("toywalk", "forager"), forms=("eager",), rounds=2, seconds=0.002, say=shown.append)
    run: dict[str, Any] = {"missing": []}
    growth.run(tiny, run, rows=(1, 4), berries=(1, 6), grids=(4,), variant_rows=4)
    assert run["missing"] == []
    result = run["growth"]
    assert [(group["environment"], group["num_envs"]) for group in result["rows"]] == [
        ("toywalk", 1), ("toywalk", 4), ("forager", 1), ("forager", 4),
    ]  # fmt: skip
    assert [(group["berries"], group["size"]) for group in result["berries"] + result["grids"]] == [
        (1, 8), (6, 8), (6, 4),
    ]  # fmt: skip
    assert result["berries"][0]["bytes_moved"] < result["berries"][1]["bytes_moved"]
    for group in result["rows"]:
        names = [each["name"] for each in group["contenders"]]
        assert names == ["eager", "C by hand", cost.COPY_TITLE]
    assert json.loads(json.dumps(result)) == result
    assert any("bytes and operations" in line for line in shown)
