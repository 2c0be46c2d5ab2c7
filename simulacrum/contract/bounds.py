"""Numbers and bounds in a leaf of schema.json, as values of the field's dtype."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from simulacrum.contract.fields import FLOAT_DTYPES, INTEGER_RANGES, Bound, Number, round_to
from simulacrum.contract.node import Node, show


def parse_number(node: Node, dtype: str) -> Number:
    """The number at `node` as a value of `dtype`."""
    value = node.value
    wanted = (int, float) if dtype in FLOAT_DTYPES else (int,)
    if isinstance(value, bool) or not isinstance(value, wanted):
        node.fail(
            f"a {dtype} field needs {'a number' if dtype in FLOAT_DTYPES else 'an integer'} here",
            expected=dtype,
            found=show(value),
            mend="write a number of that type",
        )
    try:
        number = round_to(dtype, value)
        if not math.isfinite(number):  # 1e999 is JSON, and becomes an infinity
            raise OverflowError
        return number
    except OverflowError:
        limits = INTEGER_RANGES.get(dtype, "the largest finite value")
        node.fail(
            f"{value} does not fit in {dtype}",
            expected=f"within {limits}",
            found=value,
            mend="choose a wider dtype",
        )


def parse_bounds(node: Node, inner: Node, dtype: str, shape: tuple[int, ...]) -> tuple[Bound, Bound]:
    """(low, high): `minimum` and `maximum` of `inner`, or `x-low` and `x-high` of `node`; None where not given.

    Raises:
        SchemaError: a bound of a boolean, one side given twice, `x-low` of a scalar, a low bound above the high one,
            or one that the dtype or the shape does not take.
    """
    pairs: list[Bound] = []
    for keyword, nested, absent in (("minimum", "x-low", -math.inf), ("maximum", "x-high", math.inf)):
        plain, per_element = inner.get(keyword), node.get(nested)
        if dtype == "bool" and (plain or per_element):
            (plain or per_element or node).fail("a boolean has no bounds", found=keyword, mend="remove it")
        if plain and per_element:
            per_element.fail(
                f"{nested} and {keyword} both bound this field",
                expected="one of them",
                found="both",
                mend=f"keep {nested} where elements differ, else {keyword}",
            )
        if per_element:
            pairs.append(
                parse_nested(per_element, dtype, shape, absent)
                if shape
                else _scalar_only(per_element, keyword)
            )
        else:
            pairs.append(parse_number(plain, dtype) if plain else None)
    low, high = pairs
    for bottom, top in _pairs(low, high):
        if bottom > top:
            node.fail(
                "the lower bound is above the upper one",
                expected="low <= high",
                found=f"{bottom} > {top}",
                mend="swap or mend the bounds",
            )
    return low, high


def _scalar_only(node: Node, keyword: str) -> Bound:
    return node.fail("per-element bounds need an array", found="a scalar", mend=f"use {keyword} instead")


def parse_nested(node: Node, dtype: str, shape: tuple[int, ...], absent: float) -> Bound:
    """Nested lists of the field's shape as nested tuples; null is "no bound here" and becomes an infinity."""
    if not shape:
        if node.value is None and dtype in FLOAT_DTYPES:
            return absent
        return parse_number(node, dtype)
    value: object = node.value
    if not isinstance(value, list) or len(cast("list[Any]", value)) != shape[0]:
        node.fail(
            "per-element values do not have the field's shape",
            expected=f"a list of {shape[0]}",
            found=show(node.value),
            mend="nest the lists as x-shape says",
        )
    return tuple(parse_nested(item, dtype, shape[1:], absent) for item in node.items())


def _pairs(low: Bound, high: Bound) -> Iterator[tuple[Number, Number]]:
    """Each lower bound with its upper one; nothing where one of the two is missing."""
    if isinstance(low, tuple) or isinstance(high, tuple):
        size = len(low if isinstance(low, tuple) else cast("tuple[Bound, ...]", high))
        for index in range(size):
            yield from _pairs(
                low[index] if isinstance(low, tuple) else low,
                high[index] if isinstance(high, tuple) else high,
            )
    elif low is not None and high is not None:
        yield low, high
