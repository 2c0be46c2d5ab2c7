"""A check and `canonical` are one function: the same value or the same error, for everything a twin may return."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from kit import NAMES, package

from simulacrum.contract.fields import Field
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import TwinError
from simulacrum.portable.scalar import Float32
from simulacrum.twin.checks import Checks, check, group_check, state_check
from simulacrum.twin.state import canonical, canonical_group, canonical_state

NUMBERS = [0, 1, -1, 2, 3, 127, 128, -129, 255, 256, 2**31 - 1, 2**31, 2**63, -(2**63)]
REALS = [0.0, -0.0, 0.5, 1.0, 1.5, -1.5, 0.1, 1e300, math.inf, -math.inf, math.nan]
SCALARS: list[Any] = [
    True, False, None, "1", *NUMBERS, *REALS, *map(Float32, REALS), np.bool_(True), np.int32(1), np.float32(0.5),
    np.float64(0.1),
]  # fmt: skip


def field(dtype: str, shape: tuple[int, ...], low: Any, high: Any, allow: frozenset[str]) -> Field:
    return Field(path="state.x", name="x", dtype=dtype, shape=shape, low=low, high=high, allow=allow)


def same(one: Any, two: Any) -> bool:
    if isinstance(one, tuple):
        return type(two) is tuple and len(one) == len(two) and all(map(same, one, two))
    return type(one) is type(two) and repr(one) == repr(two)


def outcome(function: Any) -> Any:
    """What it returns, or what it says in raising."""
    try:
        return function()
    except TwinError as error:
        return str(error)


def both(declared: Field, value: Any) -> None:
    assert same(outcome(lambda: canonical(declared, value)), outcome(lambda: check(declared)(value)))


ALLOWED = [frozenset[str](), frozenset({"nan"}), frozenset({"inf"}), frozenset({"-0.0"})]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("bounds", [(None, None), (0, 2), (-1, None)], ids=str)
def test_scalars(dtype: str, bounds: tuple[Any, Any]) -> None:
    low, high = (None, None) if dtype == "bool" else bounds
    for allow, value in itertools.product(ALLOWED, SCALARS):
        both(field(dtype, (), low, high, allow), value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float32", "float64"])
@pytest.mark.parametrize("high", [None, 1, (1, 2)], ids=str)
def test_tuples(dtype: str, high: Any) -> None:
    high = None if dtype == "bool" else high
    declared = field(dtype, (2,), None, high, frozenset())
    for pair in itertools.product(SCALARS, repeat=2):
        both(declared, pair)
    for other in [(), (1,), (1, 2, 3), [1, 0], np.array([1, 0]), 1, "ab", {0: 1, 1: 2}, (True, 1), ((1,), (0,))]:
        both(declared, other)


@pytest.mark.parametrize("high", [None, 5, ((1, 2, 3), (4, 5, 6))], ids=str)
@pytest.mark.parametrize("kind", [int, float, Float32])
def test_deeper_tuples(high: Any, kind: type) -> None:
    dtype = {int: "int32", float: "float64", Float32: "float32"}[kind]
    declared = field(dtype, (2, 3), 0, high, frozenset())
    good = tuple(tuple(kind(i) for i in row) for row in ((1, 2, 3), (4, 5, 6)))
    others = [[*good], good[:1], (good[0], good[1][:2]), (good[0], [*good[1]]), (good[1], good[0]), (1, good[1])]
    for value in [good, *others]:
        both(declared, value)
    both(field(dtype, (0, 3), None, None, frozenset()), ())


def test_a_zero_that_only_looks_negative_between_two_neighbours() -> None:
    declared = field("float64", (2,), None, None, frozenset())
    looks = np.frombuffer(bytes([0] * 9 + [0, 0, 0, 0x80, 1, 2, 3]), dtype="<f8").tolist()
    for value in [tuple(looks), (0.0, -0.0), (-0.0, 0.0), (0.0, 0.0)]:
        both(declared, value)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_twins_return(name: str) -> None:
    schema = package(name).schema
    runner = ReferenceRunner(package(name), max_episode_steps=schema.max_episode_steps)
    observation = runner.reset(3)
    assert canonical_state(schema, runner.state) == state_check(schema)(runner.state)
    assert canonical_group(schema.observation, observation) == group_check(schema.observation)(observation)
    assert Checks(schema).info(runner.info()) == canonical_group(schema.info, runner.info())
    for wrong in [None, (), {}, {"x": 1}, tuple(runner.state)]:
        with pytest.raises(TwinError):
            state_check(schema)(wrong)
