"""Spaces from the schema: exactly Gymnasium's own, and usable in its batched form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate

from simulacrum.contract.schema import parse_schema
from simulacrum.contract.spaces import single_action_space, single_observation_space

Raw = dict[str, Any]


def leaf(kind: str, least: float | None, most: float | None, shape: list[int], **keywords: Any) -> Raw:
    """A leaf of that JSON type, its arrays nested as the shape says."""
    bounds = {"minimum": least, "maximum": most}
    inner: Raw = {"type": kind, **{key: value for key, value in bounds.items() if value is not None}}
    for length in reversed(shape):
        inner = {"type": "array", "items": inner, "minItems": length, "maxItems": length}
    return inner | {"x-shape": shape} | {f"x-{key}": value for key, value in keywords.items()}


DISCRETE = leaf("integer", -1, 3, [], dtype="int64", space="Discrete")
MULTI_DISCRETE = leaf("integer", None, None, [2], dtype="int64", space="MultiDiscrete", nvec=[3, 2])
MULTI_BINARY = leaf("integer", None, None, [4], dtype="int8", space="MultiBinary")
GRID = leaf("integer", 0, 255, [2, 3], dtype="uint8", space="Box")
ANGLE = leaf("number", -1, 0.1, [], dtype="float64", space="Box")
OPEN = leaf("number", None, None, [2], dtype="float32", space="Box")
EACH = leaf("number", None, None, [2], dtype="float32", space="Box", low=[-1, None], high=[0.1, 2])

CASES: dict[str, tuple[Raw, spaces.Space[Any]]] = {
    "Discrete": (DISCRETE, spaces.Discrete(5, start=-1)),
    "MultiDiscrete": (MULTI_DISCRETE, spaces.MultiDiscrete([3, 2], dtype=np.int64)),
    "MultiBinary": (MULTI_BINARY, spaces.MultiBinary(4)),
    "MultiBinary of two dimensions": (
        leaf("integer", 0, 1, [2, 2], dtype="int8", space="MultiBinary"),
        spaces.MultiBinary([2, 2]),
    ),
    "nested MultiDiscrete": (
        leaf("integer", None, None, [2, 1], dtype="int64", space="MultiDiscrete", nvec=[[3], [2]]),
        spaces.MultiDiscrete([[3], [2]], dtype=np.int64),
    ),
    "Box of integers": (GRID, spaces.Box(0, 255, (2, 3), np.uint8)),
    "Box of one number": (ANGLE, spaces.Box(-1, 0.1, (), np.float64)),
    "unbounded Box": (OPEN, spaces.Box(-np.inf, np.inf, (2,), np.float32)),
    "Box bounded by element": (
        EACH,
        spaces.Box(np.array([-1, -np.inf], np.float32), np.array([0.1, 2], np.float32), dtype=np.float32),
    ),
    "Dict": (
        {
            "type": "object",
            "x-space": "Dict",
            "properties": {"wheel": ANGLE, "gear": DISCRETE, "keys": MULTI_BINARY},
            "required": ["wheel", "gear", "keys"],
            "additionalProperties": False,
        },
        spaces.Dict(
            [
                ("wheel", spaces.Box(-1, 0.1, (), np.float64)),
                ("gear", spaces.Discrete(5, start=-1)),
                ("keys", spaces.MultiBinary(4)),
            ]
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_is_the_space_of_gymnasium(name: str, raw: Raw) -> None:
    leaf_schema, expected = CASES[name]
    raw["properties"]["action"] = leaf_schema
    raw["properties"]["observation"] = leaf_schema
    schema = parse_schema(raw, name)
    for space in (single_action_space(schema), single_observation_space(schema)):
        assert space == expected
        assert space.dtype == expected.dtype
        assert type(space) is type(expected)


@pytest.mark.parametrize("name", CASES)
def test_samples_pass_and_batches_hold_them(name: str, raw: Raw) -> None:
    raw["properties"]["action"] = CASES[name][0]
    schema = parse_schema(raw, name)
    space = single_action_space(schema)
    space.seed(3)
    validator = schema.validator("action")
    for _ in range(20):
        sample = space.sample()
        assert space.contains(sample)
        assert validator.is_valid(plain(sample))
    batched = batch_space(space, 3)
    batched.seed(4)
    rows = list(iterate(batched, batched.sample()))
    assert len(rows) == 3
    assert all(validator.is_valid(plain(row)) for row in rows)


def plain(value: Any) -> Any:
    """A sample as JSON values."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return np.asarray(value).tolist()


def test_a_dict_keeps_the_declared_order(raw: Raw) -> None:
    raw["properties"]["action"] = CASES["Dict"][0]
    space = single_action_space(parse_schema(raw, "lamp"))
    assert isinstance(space, spaces.Dict)
    assert list(space) == ["wheel", "gear", "keys"]


def test_a_masked_action_can_be_sampled(raw: Raw) -> None:
    space = single_action_space(parse_schema(raw, "lamp"))
    assert {int(space.sample(mask=np.array([0, 1], np.int8))) for _ in range(5)} == {1}
