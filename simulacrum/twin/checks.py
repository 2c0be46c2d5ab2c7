"""`canonical` made ready once per schema, for the twin that is stepped a hundred thousand times.

What a reference returns nearly always is what its schema declares already: the right type, within bounds. Each check
here looks at that with few calls and hands everything else to `canonical`, which converts or explains. So a check and
`canonical` give the same value, or raise the same error.
"""

from __future__ import annotations

import itertools
import math
import operator
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

from simulacrum.contract.fields import INTEGER_RANGES, Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.portable.scalar import Float32
from simulacrum.twin.state import bound_at, canonical, canonical_group, canonical_state, state_type

Check = Callable[[Any], Any]  # a value as the twin gave it -> the value as the schema declares it

_KINDS: Mapping[str, type] = {"bool": bool, "float32": Float32, "float64": float}
_NEGATIVE_ZERO = struct.pack("<d", -0.0)


class Checks:
    """The checks of what a reference returns: `state`, `reward`, `observation`, `info` and `action_mask`."""

    def __init__(self, schema: Schema) -> None:
        self.state = state_check(schema)
        self.reward = check(schema.reward)
        self.observation = group_check(schema.observation)
        self.info = group_check(schema.info)
        self.action_mask = None if schema.action_mask is None else check(schema.action_mask)


def state_check(schema: Schema) -> Check:
    """`canonical_state` of the schema."""
    kind = state_type(schema)
    checks = [check(field) for field in schema.state.fields.values()]

    def checked(state: Any) -> Any:
        if type(state) is not kind:
            return canonical_state(schema, state)
        return kind._make([one(value) for one, value in zip(checks, state)])  # noqa: B905 -- kind has as many

    return checked


def group_check(group: Group) -> Check:
    """`canonical_group` of the group."""
    if group.single:
        return check(group.leaf)
    checks = {name: check(field) for name, field in group.fields.items()}

    def checked(value: Any) -> Any:
        if type(value) is not dict or value.keys() != checks.keys():
            return canonical_group(group, value)
        return {name: one(value[name]) for name, one in checks.items()}

    return checked


def check(field: Field) -> Check:
    """`canonical` of the field."""
    if field.shape:
        return _tuples(field)
    if field.dtype == "bool":
        return lambda value: value if value is True or value is False else canonical(field, value)
    (low,), (high,) = _bounds(field)
    return _float(field, low, high) if field.is_float else _integer(field, low, high)


def _integer(field: Field, low: int, high: int) -> Check:
    def checked(value: Any) -> Any:
        return value if type(value) is int and low <= value <= high else canonical(field, value)

    return checked


def _float(field: Field, low: float, high: float) -> Check:
    kind, any_zero = _KINDS[field.dtype], "-0.0" in field.allow

    def checked(value: Any) -> Any:
        if type(value) is kind:
            plain = float(value)  # the comparisons of Float32 round first, in vain
            if low <= plain <= high and (plain or any_zero or math.copysign(1.0, plain) > 0.0):
                return value
        return canonical(field, value)

    return checked


def _tuples(field: Field) -> Check:
    """Nested tuples: each level's type and length, then all items in one flat row."""
    shape, inside = field.shape, _inside(field)

    def checked(value: Any) -> Any:
        flat = value
        if type(flat) is tuple and len(flat) == shape[0]:
            for length in shape[1:]:
                if {*map(type, flat)} != {tuple} or {*map(len, flat)} != {length}:
                    return canonical(field, value)
                flat = tuple(itertools.chain.from_iterable(flat))
            if inside(flat):
                return value
        return canonical(field, value)

    return checked


def _inside(field: Field) -> Callable[[tuple[Any, ...]], bool]:
    """Whether a flat row of items is what the field declares."""
    kinds = {_KINDS.get(field.dtype, int)}
    if field.dtype == "bool":
        return lambda items: {*map(type, items)} == kinds
    lows, highs = _bounds(field)
    if field.is_integer:
        if len({*lows}) > 1 or len({*highs}) > 1:
            return lambda items: {*map(type, items)} == kinds and _between(lows, items, highs)
        low, high = min(lows, default=0), max(highs, default=0)
        return lambda items: {*map(type, items)} == kinds and low <= min(items) and max(items) <= high
    any_zero, pack = "-0.0" in field.allow, struct.Struct(f"<{len(lows)}d").pack

    def inside(items: tuple[Any, ...]) -> bool:
        if {*map(type, items)} != kinds or not _between(lows, [*map(float, items)], highs):
            return False
        # Bytes of two neighbours may look like a -0.0 between them: `canonical` then finds that there is none.
        return any_zero or _NEGATIVE_ZERO not in pack(*items)

    return inside


def _between(lows: Any, items: Any, highs: Any) -> bool:
    """Whether every item is; never true for a NaN."""
    return all(map(operator.le, lows, items)) and all(map(operator.le, items, highs))


def _bounds(field: Field) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The lowest and highest value of each element, in order; finite: infinities are for `canonical` to allow."""
    most = sys.float_info.max
    least, top = INTEGER_RANGES.get(field.dtype, (-most, most))
    places = list(itertools.product(*(range(length) for length in field.shape)))
    low = (bound_at(field.low, place) for place in places)
    high = (bound_at(field.high, place) for place in places)
    return (
        tuple(least if one is None else max(least, one) for one in low),
        tuple(top if one is None else min(top, one) for one in high),
    )


__all__ = ["Check", "Checks", "check", "group_check", "state_check"]
