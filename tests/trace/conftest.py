"""Schemas and trajectories for the tests of this room: a fixed sample, and strategies for any others."""

from __future__ import annotations

import math
import struct
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st

from simulacrum.contract.fields import INTEGER_RANGES
from simulacrum.contract.schema import Schema, parse_schema
from simulacrum.trace import Start, Step, Trajectory, checked, schema_digest

DTYPES = ("bool", "float32", "float64", *INTEGER_RANGES)
KINDS = {"bool": "boolean", "float32": "number", "float64": "number"}
NAMES = st.from_regex(r"[a-z][a-z_]{0,4}[0-9]", fullmatch=True)  # no keyword of Python has a digit


def leaf(dtype: str, shape: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """The JSON of one leaf without limits (integers get those of their dtype), everything allowed."""
    node: dict[str, Any] = {"type": KINDS.get(dtype, "integer")}
    if dtype in INTEGER_RANGES:
        node["minimum"], node["maximum"] = INTEGER_RANGES[dtype]
    for size in reversed(shape):
        node = {"type": "array", "items": node, "minItems": size, "maxItems": size}
    allow = {"x-allow": ["nan", "-0.0", "inf"]} if dtype.startswith("float") else {}
    return {**node, "x-dtype": dtype, "x-shape": list(shape), "description": "a field", **allow, **more}


def named(fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def build(
    state: dict[str, dict[str, Any]],
    observation: dict[str, Any],
    info: dict[str, dict[str, Any]] | None = None,
    mask: bool = False,
    reward: str = "float32",
    params: dict[str, dict[str, Any]] | None = None,
    reset_slots: tuple[str, ...] = ("spawn",),
    step_slots: tuple[str, ...] = ("gust",),
) -> Schema:
    slots = [(slot, "reset") for slot in reset_slots] + [(slot, "step") for slot in step_slots]
    draws = [
        {"name": slot, "phase": phase, "distribution": "uniform", "dtype": "float32", "count": 3}
        | {"rule": "R1", "description": "a draw"}
        for slot, phase in slots
    ]
    action = {"type": "integer", "minimum": 0, "maximum": 3, "x-dtype": "int64", "x-shape": []}
    parts: dict[str, Any] = {
        "state": named(state),
        "action": {**action, "x-space": "Discrete", "description": "a move"},
        "observation": observation,
        "reward": leaf(reward),
    }
    if info:
        parts["info"] = named(info)
    if mask:
        parts["action_mask"] = leaf("bool", (4,))
    return parse_schema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "simulacrum/sample-v0",
            "title": "sample",
            "description": "A schema for tests.",
            "type": "object",
            "x-max-episode-steps": 9,
            "x-draws": draws,
            "x-params": params or {},
            "properties": parts,
            "required": ["state", "action", "observation", "reward"],
        },
        "sample schema",
    )


def sample_schema() -> Schema:
    gust = {"type": "number", "x-dtype": "float32", "minimum": 0, "maximum": 1, "default": 0.1}
    return build(
        {
            "energy": leaf("float32"),
            "berry_x": leaf("int32", (3,)),
            "grid": leaf("float64", (2, 2)),
            "big": leaf("int64"),
            "alive": leaf("bool"),
        },
        leaf("float32", (2,), **{"x-space": "Box"}),
        info={"distance": leaf("int32")},
        mask=True,
        params={"gust": {**gust, "description": "strength"}},
    )


def state(number: int) -> dict[str, Any]:
    return {
        "energy": struct.unpack("<f", struct.pack("<f", 0.1 * number))[0],
        "berry_x": [number, -number, 7],
        "grid": [[0.1 * number, -0.0], [math.inf, math.nan]],
        "big": 2**62 + number,
        "alive": True,
    }


def seen(number: int) -> dict[str, Any]:
    return {
        "state": state(number),
        "observation": [0.25 * number, -1.0],
        "info": {"distance": number},
        "action_mask": [True, False, True, True],
    }


def sample_trajectory(schema: Schema, *, seed: int = 2**64 - 1, form: str = "reference") -> Trajectory:
    """Two episodes: one of three steps that terminates, one of two steps that is left open."""
    starts = [Start(episode=e, draws={"spawn": [e, None, 2**32 - 1]}, **seen(e)) for e in (0, 1)]
    steps = [
        Step(
            episode=episode,
            t=t,
            action=t % 4,
            reward=1.5 - t,
            terminated=(episode, t) == (0, 2),
            truncated=False,
            draws={"gust": [t, 5]},
            **seen(t + 1),
        )
        for episode, length in ((0, 3), (1, 2))
        for t in range(length)
    ]
    row = Trajectory(
        *("simulacrum/sample-v0", schema_digest(schema), form, seed, {"gust": 0.5}, 9),
        *(tuple(starts), tuple(steps)),
    )
    return checked(row, schema)


def scalars(dtype: str) -> st.SearchStrategy[Any]:
    if dtype == "bool":
        return st.booleans()
    if dtype in INTEGER_RANGES:
        low, high = INTEGER_RANGES[dtype]
        return st.one_of(st.sampled_from([low, high, low + 1, high - 1]), st.integers(low, high))
    width = int(dtype[5:])
    return st.one_of(
        st.floats(width=width, allow_nan=False),
        st.sampled_from([-0.0, 0.0, math.inf, -math.inf, math.nan, -math.nan]),
        st.integers(0, 2**width - 1).map(lambda bits: _float(bits, width)),
    )


def _float(bits: int, width: int) -> float:
    quiet = 2 ** (22 if width == 32 else 51)
    layout = "<I<f" if width == 32 else "<Q<d"
    value: float = struct.unpack(layout[2:], struct.pack(layout[:2], bits))[0]
    if math.isnan(value):  # a signalling NaN does not survive a Python float; take the quiet one of its kind
        value = struct.unpack(layout[2:], struct.pack(layout[:2], bits | quiet))[0]
    return value


def values(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    strategy = scalars(dtype)
    for size in reversed(shape):
        strategy = st.lists(strategy, min_size=size, max_size=size)
    return strategy


SHAPES = st.sampled_from([(), (1,), (3,), (2, 2)])
GROUPS = st.dictionaries(NAMES, st.builds(leaf, st.sampled_from(DTYPES), SHAPES), min_size=1, max_size=4)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    single = st.builds(
        lambda dtype, shape: leaf(dtype, shape, **{"x-space": "Box"}),
        st.sampled_from(["float32", "int16"]),
        SHAPES,
    )
    return build(
        draw(GROUPS),
        draw(single),
        info=draw(st.one_of(st.none(), GROUPS)),
        mask=draw(st.booleans()),
        reward=draw(st.sampled_from(["float32", "float64"])),
        reset_slots=draw(st.sampled_from([(), ("spawn",)])),
        step_slots=draw(st.sampled_from([(), ("gust", "slip")])),
    )


@st.composite
def moments(draw: st.DrawFn, schema: Schema, phase: str) -> dict[str, Any]:
    words = st.lists(st.one_of(st.none(), st.integers(0, 2**32 - 1)), min_size=1, max_size=3)
    result: dict[str, Any] = {"draws": {}}
    for slot in schema.draws:
        if slot.phase == phase and draw(st.booleans()):
            result["draws"][slot.name] = draw(words)
    for name, group in (("state", schema.state), ("info", schema.info), ("observation", schema.observation)):
        parts = {key: draw(values(item.dtype, item.shape)) for key, item in group.fields.items()}
        result[name] = parts[""] if group.single else parts
    if schema.action_mask is not None:
        result["action_mask"] = draw(values("bool", schema.action_mask.shape))
    return result


@st.composite
def trajectories(draw: st.DrawFn, schema: Schema) -> Trajectory:
    starts, steps = [], []
    for episode in sorted(draw(st.sets(st.integers(0, 50), max_size=2))):
        starts.append(Start(episode=episode, **draw(moments(schema, "reset"))))
        length = draw(st.integers(0, 3))
        for t in range(length):
            last = t == length - 1
            steps.append(
                Step(
                    episode=episode,
                    t=t,
                    action=draw(st.integers(0, 3)),
                    reward=draw(values(schema.reward.dtype, ())),
                    terminated=last and draw(st.booleans()),
                    truncated=last and draw(st.booleans()),
                    **draw(moments(schema, "step")),
                )
            )
    seed = draw(st.one_of(st.sampled_from([0, 2**64 - 1]), st.integers(0, 2**64 - 1)))
    limit = draw(st.one_of(st.none(), st.integers(1, 99)))
    return Trajectory(
        schema.id, schema_digest(schema), draw(NAMES), seed, {}, limit, tuple(starts), tuple(steps)
    )


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """The strategies and builders above, for tests that need more than the sample."""
    return SimpleNamespace(
        schemas=schemas, trajectories=trajectories, scalars=scalars, build=build, leaf=leaf
    )


@pytest.fixture(scope="session")
def schema() -> Schema:
    return sample_schema()


@pytest.fixture
def trajectory(schema: Schema) -> Trajectory:
    return sample_trajectory(schema)
