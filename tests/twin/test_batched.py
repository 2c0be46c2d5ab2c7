"""The batched twin's base: checks of what it returns, and states between tensors and JSON."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from kit import NAMES, package

from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import StateError, TwinError
from simulacrum.twin.batched import (
    BatchedEnv,
    check_field,
    check_group,
    check_state,
    dump_state,
    load_states,
    torch_dtype,
)
from simulacrum.twin.state import dump_state as dump_reference


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_both_twins_write_the_same_states(name: str) -> None:
    schema, runner = package(name).schema, ReferenceRunner(package(name))
    rows = []
    for seed in range(6):
        runner.reset(seed)
        rows.append(dump_reference(schema, runner.state))
    state = load_states(schema, rows)
    check_state(schema, state, 6)
    assert [dump_state(schema, state, row) for row in range(6)] == rows


def test_the_row_that_does_not_fit_is_named() -> None:
    schema = package("counter").schema
    good = {"count": 1, "mark": 2}
    with pytest.raises(StateError, match="row 2"):
        load_states(schema, [good, good, {"count": 1}])
    with pytest.raises(StateError, match="no states"):
        load_states(schema, [])


def test_fields_are_checked_by_dtype_and_shape() -> None:
    declared = package("counter").schema.state.fields["count"]
    check_field(declared, torch.zeros(3, dtype=torch.int32), 3)
    for wrong in (
        torch.zeros(3),
        torch.zeros(2, dtype=torch.int32),
        torch.zeros(3, 1, dtype=torch.int32),
        [0, 0, 0],
        0,
    ):
        with pytest.raises(TwinError, match=r"state\.count"):
            check_field(declared, wrong, 3)


def test_groups_are_checked_by_keys() -> None:
    group = package("glider").schema.observation
    with pytest.raises(TwinError, match="other keys"):
        check_group(group, {"position": torch.zeros(2, 2)}, 2)
    with pytest.raises(TwinError, match="other keys"):
        check_group(group, torch.zeros(2, 2), 2)


def test_a_state_is_the_struct() -> None:
    schema = package("counter").schema
    with pytest.raises(TwinError, match="State struct"):
        check_state(schema, (torch.zeros(2), torch.zeros(2)), 2)


@pytest.mark.parametrize("method", ["reset", "step", "observe", "action_mask"])
def test_what_an_author_has_not_written_is_named(method: str) -> None:
    env: Any = BatchedEnv(package("counter").schema)
    with pytest.raises(NotImplementedError, match=method):
        getattr(env, method)(*([None] * {"reset": 1, "step": 3}.get(method, 2)))
    assert env.info(None, None) == {}


def test_dtypes_go_by_name() -> None:
    assert torch_dtype("uint8") is torch.uint8
    assert torch_dtype("float64") is torch.float64
