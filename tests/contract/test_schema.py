"""schema.json: what is read from it, and that each thing it may get wrong is named with its JSON path."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulacrum.contract.discovery import built_in_folder
from simulacrum.contract.fields import Draw, round_to
from simulacrum.contract.schema import load_schema, parse_schema
from simulacrum.errors import SchemaError

Raw = dict[str, Any]


def state(raw: Raw) -> Raw:
    return raw["properties"]["state"]["properties"]


def test_reads_every_part(raw: Raw) -> None:
    schema = parse_schema(raw, "lamp")
    assert (schema.id, schema.name, schema.max_episode_steps) == ("lab/lamp-v2", "lamp", 20)
    assert schema.state.names == ("level", "warmth", "lit")
    warmth = schema.state["warmth"]
    assert (warmth.path, warmth.dtype, warmth.shape, warmth.low) == ("state.warmth", "float32", (2,), 0.0)
    assert warmth.high == round_to("float32", 0.3) != 0.3
    assert schema.action.single
    assert schema.action.leaf.space == "Discrete"
    assert schema.draws[1] == Draw("flicker", "step", "bernoulli", "float32", 2, "R3", "")
    assert schema.params["flicker"].default == round_to("float32", 0.1)
    assert len(schema.info) == 0
    assert schema.action_mask is None


def test_optional_parts(raw: Raw) -> None:
    for key in ("x-max-episode-steps", "x-draws", "x-params"):
        del raw[key]
    mask = {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2}
    raw["properties"]["action_mask"] = {**mask, "x-dtype": "bool", "x-shape": [2]}
    metric = {"type": "integer", "minimum": 0, "maximum": 9, "x-dtype": "int32", "x-shape": []}
    info = {"type": "object", "properties": {"on": metric}, "required": ["on"], "additionalProperties": False}
    raw["properties"]["info"] = info
    schema = parse_schema(raw, "lamp")
    assert (schema.max_episode_steps, schema.draws, dict(schema.params)) == (None, (), {})
    assert schema.info["on"].path == "info.on"
    assert schema.action_mask is not None
    assert schema.action_mask.shape == (2,)


def test_tolerance_and_allowances(raw: Raw) -> None:
    state(raw)["warmth"] |= {
        "x-ulp": 2,
        "x-atol": 0.5,
        "x-tolerance-reason": "why",
        "x-allow": ["nan", "inf"],
    }
    field = parse_schema(raw, "lamp").state["warmth"]
    assert field.tolerance is not None
    assert (field.tolerance.ulp, field.tolerance.atol, field.tolerance.reason) == (2, 0.5, "why")
    assert field.allow == {"nan", "inf"}


def test_bounds_per_element(raw: Raw) -> None:
    state(raw)["warmth"] |= {"items": {"type": "number"}, "x-low": [-1, None], "x-high": [0.5, 2]}
    field = parse_schema(raw, "lamp").state["warmth"]
    assert field.low == (-1.0, float("-inf"))
    assert field.high == (0.5, 2.0)


Bend = Callable[[Raw], object]

# What is bent, the JSON path that the message must name, and a fragment of its words.
BENT: dict[str, tuple[Bend, str, str]] = {
    "unknown extension at the top": (
        lambda r: r.update({"x-drawz": []}),
        "$.x-drawz",
        "did you mean 'x-draws'",
    ),
    "unknown extension in a leaf": (
        lambda r: state(r)["level"].update({"x-dtpe": "int32"}),
        "$.properties.state.properties.level.x-dtpe",
        "unknown extension keyword",
    ),
    "unknown extension in items": (
        lambda r: state(r)["warmth"]["items"].update({"x-dtype": "float32"}),
        "warmth.items.x-dtype",
        "unknown extension keyword",
    ),
    "unknown extension in a parameter": (
        lambda r: r["x-params"]["flicker"].update({"x-unit": "m"}),
        "$.x-params.flicker.x-unit",
        "unknown extension keyword",
    ),
    "unknown key in a draw": (lambda r: r["x-draws"][0].update({"x-a": 1}), "$.x-draws[0].x-a", "in a draw"),
    "enum": (lambda r: state(r)["level"].update({"enum": [1]}), "level.enum", "unknown keyword 'enum'"),
    "players": (lambda r: r.update({"x-players": 2}), "$.x-players", "not built yet"),
    "dialect": (
        lambda r: r.update({"$schema": "http://json-schema.org/draft-07/schema#"}),
        "$.$schema",
        "2020-12",
    ),
    "meta-schema": (
        lambda r: state(r)["level"].update({"minimum": "0"}),
        "level.minimum",
        "not valid JSON Schema",
    ),
    "meta-schema of a parameter": (
        lambda r: r["x-params"]["flicker"].update({"description": 3}),
        "$.x-params.flicker.description",
        "not valid JSON Schema",
    ),
    "id": (lambda r: r.update({"$id": "lamp"}), "$.$id", "NAMESPACE/NAME-vNUMBER"),
    "no id": (lambda r: r.pop("$id"), "at $", "$id is missing"),
    "no state": (lambda r: r["properties"].pop("state"), "$.properties", "state is missing"),
    "unknown part": (
        lambda r: r["properties"].update({"rewards": {}}),
        "$.properties.rewards",
        "did you mean 'reward'",
    ),
    "no fields": (
        lambda r: r["properties"]["state"].update({"properties": {}}),
        "state.properties",
        "no field",
    ),
    "required": (lambda r: r["properties"]["state"]["required"].pop(), "state.required", "declared names"),
    "open object": (
        lambda r: r["properties"]["state"].update({"additionalProperties": True}),
        "state.additionalProperties",
        "nothing undeclared",
    ),
    "no dtype": (lambda r: state(r)["level"].pop("x-dtype"), "properties.level", "x-dtype is missing"),
    "dtype": (
        lambda r: state(r)["level"].update({"x-dtype": "int33"}),
        "level.x-dtype",
        "did you mean 'int32'",
    ),
    "no shape": (lambda r: state(r)["level"].pop("x-shape"), "properties.level", "x-shape is missing"),
    "shape": (
        lambda r: state(r)["warmth"].update({"x-shape": [3]}),
        "warmth.minItems",
        "contradicts x-shape",
    ),
    "shape of zero": (
        lambda r: state(r)["warmth"].update({"x-shape": [0]}),
        "warmth.x-shape[0]",
        "1 or more",
    ),
    "shallow": (lambda r: state(r)["warmth"].update({"x-shape": [2, 2]}), "warmth.items", "nested array"),
    "deep": (lambda r: state(r)["warmth"].update({"x-shape": []}), "warmth", "nest deeper"),
    "length": (lambda r: state(r)["warmth"].pop("maxItems"), "warmth", "maxItems is missing"),
    "type": (
        lambda r: state(r)["level"].update({"type": "number"}),
        "level.type",
        "contradicts x-dtype int32",
    ),
    "integer without bound": (lambda r: state(r)["level"].pop("maximum"), "level", "has no maximum"),
    "half": (lambda r: state(r)["level"].update({"maximum": 2.5}), "level.maximum", "an integer"),
    "range": (
        lambda r: state(r)["level"].update({"x-dtype": "uint8", "maximum": 256}),
        "level.maximum",
        "does not fit in uint8",
    ),
    "float32 range": (
        lambda r: state(r)["warmth"]["items"].update({"maximum": 1e39}),
        "warmth.items.maximum",
        "does not fit in float32",
    ),
    "infinite bound": (
        lambda r: state(r)["warmth"]["items"].update({"maximum": 1e999}),
        "maximum",
        "does not fit",
    ),
    "crossed bounds": (lambda r: state(r)["level"].update({"minimum": 5}), "level", "lower bound is above"),
    "bounds on the array": (
        lambda r: state(r)["warmth"].update({"minimum": 0}),
        "warmth",
        "stand in its items",
    ),
    "bounds twice": (lambda r: state(r)["warmth"].update({"x-low": [0, 0]}), "warmth.x-low", "both bound"),
    "bounds of another shape": (
        lambda r: state(r)["warmth"].update({"items": {"type": "number"}, "x-low": [0]}),
        "warmth.x-low",
        "a list of 2",
    ),
    "bounds of a boolean": (lambda r: state(r)["lit"].update({"minimum": 0}), "lit.minimum", "no bounds"),
    "default in the state": (
        lambda r: state(r)["level"].update({"default": 0}),
        "level.default",
        "unknown keyword",
    ),
    "space in the state": (
        lambda r: state(r)["level"].update({"x-space": "Box"}),
        "level.x-space",
        "unknown",
    ),
    "method name": (
        lambda r: r["properties"]["state"].update(
            {"properties": {"replace": state(r)["level"]}, "required": ["replace"]}
        ),
        "properties.replace",
        "method of the state struct",
    ),
    "keyword name": (
        lambda r: r["properties"]["state"].update(
            {"properties": {"in": state(r)["level"]}, "required": ["in"]}
        ),
        "properties.in",
        "cannot be the name",
    ),
    "no space": (
        lambda r: r["properties"]["action"].pop("x-space"),
        "$.properties.action",
        "x-space is missing",
    ),
    "space": (
        lambda r: r["properties"]["action"].update({"x-space": "Discret"}),
        "x-space",
        "did you mean 'Discrete'",
    ),
    "tensor as Dict": (
        lambda r: r["properties"]["action"].update({"x-space": "Dict"}),
        "x-space",
        "of an object",
    ),
    "space dtype": (
        lambda r: r["properties"]["action"].update({"x-dtype": "int32"}),
        "x-dtype",
        "dtype int64",
    ),
    "open Discrete": (
        lambda r: r["properties"]["action"].pop("maximum"),
        "$.properties.action",
        "minimum and maximum",
    ),
    "nvec on Discrete": (
        lambda r: r["properties"]["action"].update({"x-nvec": [2]}),
        "x-nvec",
        "MultiDiscrete",
    ),
    "object without Dict": (
        lambda r: r["properties"]["action"].update({"type": "object", "x-space": "Box"}),
        "action.x-space",
        "Dict space",
    ),
    "integer reward": (
        lambda r: r["properties"]["reward"].update({"type": "integer", "x-dtype": "int32"}),
        "reward.x-dtype",
        "the reward is a float",
    ),
    "mask": (
        lambda r: r["properties"].update(
            {
                "action_mask": {
                    "type": "array",
                    "items": {"type": "boolean"},
                    "minItems": 3,
                    "maxItems": 3,
                    "x-dtype": "bool",
                    "x-shape": [3],
                }
            }
        ),
        "$.properties.action_mask",
        "bool [2]",
    ),
    "tolerance without reason": (
        lambda r: state(r)["warmth"].update({"x-ulp": 1}),
        "warmth",
        "x-tolerance-reason",
    ),
    "reason without tolerance": (
        lambda r: state(r)["warmth"].update({"x-tolerance-reason": "x"}),
        "warmth.x-tolerance-reason",
        "without a tolerance",
    ),
    "empty reason": (
        lambda r: state(r)["warmth"].update({"x-ulp": 1, "x-tolerance-reason": " "}),
        "x-tolerance-reason",
        "must be text",
    ),
    "tolerance of nothing": (
        lambda r: state(r)["warmth"].update({"x-atol": 0, "x-tolerance-reason": "x"}),
        "warmth.x-atol",
        "positive",
    ),
    "tolerance of an integer": (
        lambda r: state(r)["level"].update({"x-atol": 1, "x-tolerance-reason": "x"}),
        "level.x-atol",
        "agree exactly",
    ),
    "tolerance of an action": (
        lambda r: r["properties"]["action"].update({"x-atol": 1}),
        "action.x-atol",
        "unknown extension",
    ),
    "allowance": (
        lambda r: state(r)["warmth"].update({"x-allow": ["NaN"]}),
        "x-allow[0]",
        "'NaN' is no value",
    ),
    "allowance of an integer": (
        lambda r: state(r)["level"].update({"x-allow": ["nan"]}),
        "x-allow",
        "float dtype",
    ),
    "time limit": (lambda r: r.update({"x-max-episode-steps": 0}), "$.x-max-episode-steps", "1 or more"),
    "true as a number": (
        lambda r: r.update({"x-max-episode-steps": True}),
        "$.x-max-episode-steps",
        "an integer",
    ),
    "draws": (lambda r: r.update({"x-draws": {}}), "$.x-draws", "JSON array"),
    "draw name twice": (
        lambda r: r["x-draws"][1].update({"name": "first"}),
        "$.x-draws[1].name",
        "two draws",
    ),
    "draw phase": (lambda r: r["x-draws"][0].update({"phase": "start"}), "x-draws[0].phase", "reset, step"),
    "draw distribution": (
        lambda r: r["x-draws"][0].update({"distribution": "integer"}),
        "x-draws[0].distribution",
        "did you mean 'integers'",
    ),
    "draw dtype": (
        lambda r: r["x-draws"][0].update({"dtype": "float32"}),
        "x-draws[0].dtype",
        "int32, int64",
    ),
    "draw count": (lambda r: r["x-draws"][0].update({"count": 0}), "x-draws[0].count", "1 or more"),
    "permutation": (
        lambda r: r["x-draws"][0].update({"distribution": "permutation"}),
        "x-draws[0]",
        "count is missing",
    ),
    "draw without rule": (lambda r: r["x-draws"][0].pop("rule"), "x-draws[0]", "rule is missing"),
    "draw rule": (lambda r: r["x-draws"][0].update({"rule": "2"}), "x-draws[0].rule", "R1, R2"),
    "no default": (lambda r: r["x-params"]["flicker"].pop("default"), "flicker", "default is missing"),
    "default below": (
        lambda r: r["x-params"]["flicker"].update({"default": -1}),
        "default",
        "below the minimum",
    ),
    "default above": (
        lambda r: r["x-params"]["flicker"].update({"default": 1.5}),
        "default",
        "above the maximum",
    ),
    "parameter array": (
        lambda r: r["x-params"]["flicker"].update({"x-shape": [2]}),
        "flicker.x-shape",
        "scalars",
    ),
}


@pytest.mark.parametrize("name", BENT)
def test_names_what_is_wrong(name: str, raw: Raw) -> None:
    bend, path, words = BENT[name]
    bend(raw)
    with pytest.raises(SchemaError) as caught:
        parse_schema(raw, "lamp/schema.json")
    message = str(caught.value)
    assert words in message
    assert path in str(caught.value.where)
    assert "lamp/schema.json" in message
    assert caught.value.next_step


MULTI = {
    "type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "x-dtype": "int64",
    "x-shape": [2], "x-space": "MultiDiscrete",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "x-nvec is missing"),
        ({"x-nvec": [3, 0]}, "at least 1"),
        ({"x-nvec": [3]}, "a list of 2"),
        ({"x-nvec": [3, 2], "items": {"type": "integer", "maximum": 5}}, "contradicts the space"),
    ],
)
def test_multi_discrete(change: Raw, words: str, raw: Raw) -> None:
    raw["properties"]["action"] = MULTI | change
    with pytest.raises(SchemaError, match=words):
        parse_schema(raw, "lamp")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a": 1,\n "b" 2}', "line 2, column 6"),
        (b'{"a": 1, "a": 2}', "'a' occurs twice"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b"[1]", "one JSON object"),
        (b"", "line 1, column 1"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100000, "nested too deeply"),
    ],
)
def test_unreadable_files(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_bytes(content)
    with pytest.raises(SchemaError) as caught:
        load_schema(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"schema\.json is missing"):
        load_schema(tmp_path / "schema.json")


def test_a_folder_in_the_files_place(tmp_path: Path) -> None:
    (tmp_path / "schema.json").mkdir()
    with pytest.raises(SchemaError, match="cannot be read"):
        load_schema(tmp_path / "schema.json")


def test_byte_order_mark_and_crlf(tmp_path: Path, raw: Raw) -> None:
    path = tmp_path / "schema.json"
    text = json.dumps(raw, indent=1).replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_schema(path) == parse_schema(raw, "other")


TOYWALK = json.loads((built_in_folder() / "toywalk" / "schema.json").read_text("utf-8"))


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every value below `value`."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats()
    | st.sampled_from(["", "R1", "array", "Box"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "x-dtype", "a"]), inner)
    ),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(place=st.sampled_from(list(places(TOYWALK))), value=JSON)
def test_whatever_stands_somewhere_is_read_or_refused(place: tuple[str | int, ...], value: Any) -> None:
    """No other error than SchemaError, whatever a file holds."""
    raw: Any = copy.deepcopy(TOYWALK)
    parent = raw
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = value
    with contextlib.suppress(SchemaError):
        parse_schema(raw, "lamp")


def test_large_shapes_cost_nothing(raw: Raw) -> None:
    shape = [2**20, 2**20]
    inner: Raw = {"type": "number", "minimum": 0, "maximum": 1}
    for length in shape:
        inner = {"type": "array", "items": inner, "minItems": length, "maxItems": length}
    state(raw)["warmth"] = inner | {"x-dtype": "float32", "x-shape": shape}
    assert parse_schema(raw, "lamp").state["warmth"].size == 2**40
