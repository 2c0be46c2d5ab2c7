"""Validators of JSON values: exact types, bounds as the dtype rounds them, NaN only where allowed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from simulacrum.contract.fields import round_to
from simulacrum.contract.schema import parse_schema

Raw = dict[str, Any]
GOOD = {"level": 2, "warmth": [0.0, 0.25], "lit": True}


def test_accepts_a_state(raw: Raw) -> None:
    parse_schema(raw, "lamp").validator("state").validate(GOOD)


def test_a_float32_bound_is_the_float32_one(raw: Raw) -> None:
    validator = parse_schema(raw, "lamp").validator("state")
    at_bound = round_to("float32", 0.3)
    assert at_bound > 0.3
    assert validator.is_valid({**GOOD, "warmth": [0.0, at_bound]})
    assert not validator.is_valid({**GOOD, "warmth": [0.0, math.nextafter(at_bound, 1)]})


@pytest.mark.parametrize(
    "change",
    [
        {"level": 2.0},
        {"level": True},
        {"level": 5},
        {"level": "2"},
        {"lit": 1},
        {"warmth": [0.0]},
        {"warmth": [0.0, 0.1, 0.2]},
        {"warmth": [0.0, -0.1]},
        {"warmth": [0.0, math.nan]},
        {"warmth": [0.0, math.inf]},
        {"warmth": [0.0, "NaN"]},
        {"extra": 1},
    ],
)
def test_refuses(change: Raw, raw: Raw) -> None:
    assert not parse_schema(raw, "lamp").validator("state").is_valid(GOOD | change)


def test_special_values_where_allowed(raw: Raw) -> None:
    raw["properties"]["state"]["properties"]["warmth"]["x-allow"] = ["nan", "inf"]
    validator = parse_schema(raw, "lamp").validator("state")
    for value in (math.nan, math.inf, -math.inf, "NaN", "-Infinity", 0.1):
        assert validator.is_valid({**GOOD, "warmth": [value, 0.0]})
    assert not validator.is_valid({**GOOD, "warmth": [0.4, 0.0]})


def test_bounds_per_element(raw: Raw) -> None:
    leaf = raw["properties"]["state"]["properties"]["warmth"]
    leaf |= {"items": {"type": "number"}, "x-low": [0, None], "x-high": [1, 2]}
    validator = parse_schema(raw, "lamp").validator("state")
    assert validator.is_valid({**GOOD, "warmth": [1, -5.0]})
    assert not validator.is_valid({**GOOD, "warmth": [1.5, 0]})
    assert not validator.is_valid({**GOOD, "warmth": [0.5, 2.5]})


def test_other_parts(raw: Raw) -> None:
    schema = parse_schema(raw, "lamp")
    assert schema.validator("action").is_valid(1)
    assert not schema.validator("action").is_valid(2)
    assert schema.validator("reward").is_valid(0.5)
    assert schema.validator("info").is_valid({})
    assert schema.validator("params").is_valid({"flicker": 0.5})
    with pytest.raises(KeyError):
        schema.validator("action_mask")
