"""Parameters: one value for all rows, or one a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from kit import package
from kit.tools import vector

from simulacrum.engine.params import batch_params, row_params, rows_of
from simulacrum.errors import UsageError

COUNTER, TOYWALK = package("counter").schema, package("toywalk").schema
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "given", [3, np.int64(3), np.array(3), torch.tensor(3), [3, 3], np.array([3, 3]), (3, 3)], ids=repr
)
def test_one_value_in_every_form(given: Any) -> None:
    params = batch_params(COUNTER, {"goal": given}, 2, CPU)
    assert params.goal.tolist() == [3, 3]
    assert params.goal.dtype == torch.int32
    assert params.cut.tolist() == [1000, 1000]


def test_a_value_a_row() -> None:
    params = batch_params(TOYWALK, {"slip": torch.tensor([0.25, 0.5])}, 2, CPU)
    assert params.slip.dtype == torch.float32
    assert row_params(params, 1) == {"slip": 0.5}
    assert rows_of(TOYWALK, None, 2) == [{"slip": rows_of(TOYWALK, None, 1)[0]["slip"]}] * 2


def test_a_number_is_rounded_to_the_declared_type() -> None:
    assert batch_params(TOYWALK, {"slip": 0.1}, 1, CPU).slip.item() == float(np.float32(0.1))
    assert batch_params(TOYWALK, {"slip": 1}, 1, CPU).slip.item() == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"goal": [1]}, "wrong number of values"),
        ({"goal": []}, "wrong number of values"),
        ({"goal": [[1], [2]]}, "goal"),
        ({"goal": [1, 2000]}, "2000"),
        ({"goal": 1.0}, "goal"),
        ({"goal": True}, "goal"),
        ({"goal": None}, "goal"),
        ({"gaol": 1}, "unknown parameter 'gaol'"),
    ],
)
def test_what_is_no_parameter(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rows_of(COUNTER, given, 2)


@pytest.mark.parametrize("slip", [float("nan"), -0.1, 1.5, float("inf")])
def test_floats_outside_their_bounds(slip: float) -> None:
    with pytest.raises(UsageError, match="slip"):
        rows_of(TOYWALK, {"slip": [0.5, slip]}, 2)


def test_the_callers_arrays_are_neither_kept_nor_changed() -> None:
    goals = np.array([2, 3], dtype=np.int32)
    env = vector("counter", 2, params={"goal": goals})
    goals[:] = 9
    assert env.get_attr("goal") == (2, 3)
