"""Single values survive paper to the bit, and wrong ones are named."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulacrum.contract.fields import Field
from simulacrum.trace.bits import bits_of, from_bits, round_to
from simulacrum.trace.jsonio import BadValue
from simulacrum.trace.values import plain_json, read_value, spell


def field(dtype, shape=(), **more):
    return Field("state.x", "x", dtype, shape, **more)


@given(data=st.data(), dtype=st.sampled_from(["float32", "float64", "int8", "int64", "uint8", "bool"]))
def test_round_trip_keeps_the_bits(kit, data, dtype):
    value = data.draw(kit.scalars(dtype))
    text = json.dumps(spell(field(dtype), value), allow_nan=False)
    back = read_value(field(dtype), json.loads(text))
    assert bits_of(back, dtype) == bits_of(value, dtype)
    assert type(back) is type(value)


@given(st.integers(0, 2**32 - 1))
def test_float32_is_spelled_no_longer_than_its_bits_need(bits):
    value = from_bits(bits, "float32")
    if math.isfinite(value):
        digits = re.sub(r"e.*$|[^0-9]", "", repr(spell(field("float32"), value))).strip("0")
        assert len(digits) <= 9


def test_a_spelling_that_cut_a_digit_would_be_seen():
    value = from_bits(0x3DCCCCCF, "float32")
    assert spell(field("float32"), value) == 0.10000002
    assert bits_of(read_value(field("float32"), 0.1), "float32") != bits_of(value, "float32")


def test_stated_spellings():
    assert spell(field("float32"), round_to(0.1, "float32")) == 0.1
    assert json.dumps(spell(field("float64"), -0.0)) == "-0.0"
    assert spell(field("float64", (3,)), [math.inf, -math.inf, math.nan]) == ["inf", "-inf", "nan"]
    assert spell(field("float32"), from_bits(0xFFC00000, "float32")) == "nan:0xffc00000"
    assert bits_of(read_value(field("float32"), "nan:0xffc00001"), "float32") == "0xffc00001"
    assert spell(field("int64"), 2**63 - 1) == 9223372036854775807


@pytest.mark.parametrize(
    ("dtype", "bad", "message"),
    [
        ("bool", 1, "not a boolean"),
        ("int8", True, "not an integer"),
        ("int8", 128, "int8 cannot hold"),
        ("int64", 2**63, "int64 cannot hold"),
        ("uint8", -1, "uint8 cannot hold"),
        ("int32", 1.0, "not an integer"),
        ("float32", 1e39, "float32 cannot hold"),
        ("float64", 10**400, "float64 cannot hold"),
        ("float32", "nan:0x00000001", "not a number"),
        ("float32", "nan:", "not a number"),
        ("float32", "NaN", "not a number"),
        ("float64", None, "not a number"),
        ("float64", False, "not a number"),
        ("int8", "3", "not an integer"),
    ],
)
def test_values_of_the_wrong_kind(dtype, bad, message):
    with pytest.raises(BadValue, match=message):
        read_value(field(dtype), bad)


def test_a_fault_inside_an_array_has_its_index():
    with pytest.raises(BadValue, match="not an integer") as caught:
        read_value(field("int32", (2, 2)), [[1, 2], [3, "4"]], path=("state", "x"))
    assert caught.value.path == ("state", "x", 1, 1)
    with pytest.raises(BadValue, match="another length"):
        read_value(field("int32", (2,)), [1, 2, 3])


def test_limits_and_special_values_count_only_when_asked():
    limited = field("float32", (2,), low=-1.0, high=(1.0, 2.0))
    assert read_value(limited, [0.5, 3.0]) == [0.5, 3.0]
    with pytest.raises(BadValue, match="high bound") as caught:
        read_value(limited, [0.5, 3.0], bounds=True)
    assert (caught.value.path, caught.value.expected) == ((1,), 2.0)
    for special in (math.nan, -0.0):
        with pytest.raises(BadValue, match="not allowed here"):
            read_value(field("float32"), special, bounds=True)
        allowed = field("float32", allow=frozenset(["nan", "-0.0"]))
        assert bits_of(read_value(allowed, special, bounds=True), "float32") == bits_of(special, "float32")


def test_arrays_must_have_the_dtype_of_the_field():
    assert read_value(field("float32", (2,)), np.array([1, 2], np.float32)) == [1.0, 2.0]
    with pytest.raises(BadValue, match="another dtype"):
        read_value(field("float32", (2,)), np.array([1, 2], np.float64))


def test_plain_json_without_a_schema():
    value = {"a": (1, np.float32(0.5), math.nan), "b": np.array([[True]]), "c": None}
    assert plain_json(value) == {"a": [1, 0.5, "nan"], "b": [[True]], "c": None}
    with pytest.raises(BadValue, match="JSON cannot hold"):
        plain_json({"a": object()})
