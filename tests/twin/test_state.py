"""The state struct, what counts as a value of a field, and the way to JSON and back."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from kit import NAMES, package

from simulacrum.contract.fields import Field
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import StateError, TwinError
from simulacrum.portable.scalar import Float32
from simulacrum.twin.state import (
    canonical,
    canonical_group,
    canonical_state,
    dump_state,
    load_state,
    params_type,
    params_values,
    state_type,
)


def field(dtype: str, shape: tuple[int, ...] = (), low: Any = None, high: Any = None, allow: Any = ()) -> Field:
    return Field(path="state.x", name="x", dtype=dtype, shape=shape, low=low, high=high, space=None, nvec=None,
                 tolerance=None, allow=frozenset(allow), description="")  # fmt: skip


def test_the_struct_has_the_schemas_fields_and_replaces() -> None:
    schema = package("counter").schema
    kind = state_type(schema)
    assert kind is state_type(schema)
    state = kind(count=1, mark=2)
    assert state.replace(count=5) == (5, 2)
    assert state == (1, 2)
    assert params_type(schema)._fields == ("goal", "cut", "spread")
    for copied in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state), copy.copy(state)):
        assert copied == state
        assert type(copied) is kind


@pytest.mark.parametrize(
    ("declared", "given", "wanted"),
    [
        (field("bool"), np.bool_(True), True),
        (field("int32", low=0, high=9), np.int64(3), 3),
        (field("uint8"), 255, 255),
        (field("int8"), -128, -128),
        (field("float32"), 0.5, Float32(0.5)),
        (field("float32"), np.float32(0.1), Float32(0.1)),
        (field("float32"), Float32(0.1), Float32(0.1)),
        (field("float32"), 3, Float32(3.0)),
        (field("float64"), 0.1, 0.1),
        (field("float32", low=0.0, high=float(Float32(0.1))), Float32(0.1), Float32(0.1)),
        (field("float32", allow={"inf"}), math.inf, Float32(math.inf)),
        (field("float64", allow={"-0.0"}), -0.0, -0.0),
        (field("int32", (2,), 0, 9), [1, 2], (1, 2)),
        (field("int32", (2,), 0, 9), np.array([1, 2]), (1, 2)),
        (field("bool", (2,)), (True, False), (True, False)),
        (field("uint8", (2, 2)), [[1, 2], (3, 4)], ((1, 2), (3, 4))),
        (field("int32", (2,), (0, 5), (1, 6)), (1, 5), (1, 5)),
        (field("int32", (0,)), (), ()),
    ],
    ids=str,
)
def test_values_become_plain(declared: Field, given: Any, wanted: Any) -> None:
    found = canonical(declared, given)
    assert found == wanted
    assert type(found) is type(wanted)
    if found == 0.0 and isinstance(found, float):
        assert math.copysign(1, found) == math.copysign(1, wanted)


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        (field("bool"), 1),
        (field("bool"), 0.0),
        (field("bool"), None),
        (field("int32"), True),
        (field("int32"), 1.0),
        (field("int32"), Float32(1.0)),
        (field("int32"), np.float64(1)),
        (field("int32"), "1"),
        (field("int32"), 2**31),
        (field("uint8"), -1),
        (field("int8"), 128),
        (field("int32", low=0, high=9), 10),
        (field("int32", low=0, high=9), -1),
        (field("float32"), 0.1),
        (field("float32"), 1e39),
        (field("float32"), True),
        (field("float32"), "0.5"),
        (field("float32"), None),
        (field("float64"), math.nan),
        (field("float64"), -0.0),
        (field("float64"), math.inf),
        (field("float32"), Float32(-math.inf)),
        (field("float32", low=0.0, high=0.1), Float32(0.2)),
        (field("int32", (2,)), (1,)),
        (field("int32", (2,)), (1, 2, 3)),
        (field("int32", (2,)), 1),
        (field("int32", (2,)), np.array(1)),
        (field("int32", (2,)), "12"),
        (field("int32", (2,)), {0: 1, 1: 2}),
        (field("int32", (2,)), ((1,), (2,))),
        (field("int32", (2,)), (1, 2.0)),
        (field("int32", (2,), (0, 5), (1, 6)), (5, 1)),
        (field("bool", (2,)), (True, 0)),
        (field("int8", (2,), 0, 1), (0, 2)),
        (field("int8", (2,), 0, 1), (0, True)),
        (field("int8", (2,), 0, 1), (0, 1.0)),
        (field("int8", (3, 2), 0, 1), [[0, 1], [1, -1], [0, 0]]),
        (field("uint8", (2, 2)), ((1, 2), (3,))),
        (field("int32"), (1,)),
    ],
    ids=str,
)
def test_what_is_no_value_of_the_field(declared: Field, given: Any) -> None:
    with pytest.raises(TwinError, match=r"state\.x"):
        canonical(declared, given)


def test_the_index_is_named() -> None:
    with pytest.raises(TwinError, match=r"state\.x\[1\]\[0\]"):
        canonical(field("uint8", (2, 2)), ((1, 2), (300, 4)))


def test_groups_and_states_are_checked_whole() -> None:
    glider = package("glider").schema
    good = {"position": (0.0, 0.0), "fuel": (1.0,), "quadrant": 0, "low": (0,)}
    assert set(canonical_group(glider.observation, good)) == set(good)
    for wrong in ({**good, "more": 1}, {k: v for k, v in good.items() if k != "low"}, (1, 2)):
        with pytest.raises(TwinError, match=r"keys|mapping"):
            canonical_group(glider.observation, wrong)
    schema = package("counter").schema
    for wrong in ((1, 2), {"count": 1, "mark": 2}, None):
        with pytest.raises(TwinError, match="State struct"):
            canonical_state(schema, wrong)


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_json_gives_every_state_back(name: str) -> None:
    schema = package(name).schema
    runner = ReferenceRunner(package(name))
    for seed in range(20):
        runner.reset(seed)
        text = json.dumps(dump_state(schema, runner.state), allow_nan=False)
        back = load_state(schema, json.loads(text))
        assert back == runner.state
        assert [type(x) for x in back] == [type(x) for x in runner.state]
        assert json.dumps(dump_state(schema, back)) == text


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"count": 1},
        {"count": 1, "mark": 2, "more": 3},
        *({"count": wrong, "mark": 2} for wrong in (1.0, "1", True, -1, None, [1])),
    ],
    ids=str,
)
def test_what_is_no_state(data: Any) -> None:
    with pytest.raises(StateError):
        load_state(package("counter").schema, data)


def test_params_are_typed_and_bounded() -> None:
    schema = package("toywalk").schema
    assert params_values(schema, None) == {"slip": Float32(0.1)}
    assert isinstance(params_values(schema, {"slip": 1})["slip"], Float32)
    for wrong in ({"slip": 2}, {"slip": "x"}, {"slip": True}, {"slp": 0.5}, {"slip": [0.5]}):
        with pytest.raises(StateError, match=r"slip|slp"):
            params_values(schema, wrong)


def test_torch_takes_the_struct_for_a_tree() -> None:
    state = state_type(package("counter").schema)(torch.ones(2), torch.zeros(2))
    leaves, spec = torch.utils._pytree.tree_flatten(state)
    assert len(leaves) == 2
    assert type(torch.utils._pytree.tree_unflatten(leaves, spec)) is type(state)
