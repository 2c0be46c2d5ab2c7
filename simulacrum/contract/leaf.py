"""Reading one leaf of schema.json: type, nesting, dtype, bounds, space and tolerance, held against each other."""

from __future__ import annotations

import math
from typing import Any, cast

from simulacrum.contract.fields import (
    ALLOWANCES,
    DTYPES,
    FLOAT_DTYPES,
    INTEGER_RANGES,
    SPACES,
    Bound,
    Field,
    Number,
    Tolerance,
    elements,
    round_to,
)
from simulacrum.contract.node import Node, show

_PLAIN = {"type", "minimum", "maximum", "items", "minItems", "maxItems", "description", "title", "$comment"}
_SHAPED = {"x-dtype", "x-shape", "x-low", "x-high"}
_TOLERANCE = {"x-atol", "x-rtol", "x-ulp", "x-tolerance-reason"}
_INNER = {"type", "minimum", "maximum", "items", "minItems", "maxItems", "$comment"}
_JSON_TYPES = {"boolean": ("bool",), "integer": tuple(INTEGER_RANGES), "number": FLOAT_DTYPES}

# Which extra keywords a leaf may carry, by the part of the schema it stands in.
_EXTRAS: dict[str, set[str]] = {
    "state": _TOLERANCE | {"x-allow"},
    "observation": _TOLERANCE | {"x-allow", "x-space", "x-nvec"},
    "action": {"x-allow", "x-space", "x-nvec"},
    "reward": _TOLERANCE | {"x-allow"},
    "info": _TOLERANCE | {"x-allow"},
    "action_mask": set(),
    "x-params": {"default"},
}
_NEEDS_SPACE = ("action", "observation")


def parse_leaf(node: Node, part: str, path: str, name: str) -> Field:
    """The Field that `node` describes; `part` is the part of the schema it stands in ("state", "x-params", ...).

    Raises:
        SchemaError: an unknown keyword, or keywords that contradict each other.
    """
    node.as_object(f"the field {path}")
    node.only(_PLAIN | _SHAPED | _EXTRAS[part], f"a leaf of {part}")
    dtype = node.need("x-dtype", "every field declares its dtype").one_of(DTYPES, "dtype")
    shape = _shape(node, part)
    inner = _innermost(node, shape)
    _json_type(inner, node, dtype)
    low, high = _bounds(node, inner, dtype, shape)
    space, nvec = _space(node, part, dtype, shape)
    if space is not None:
        low, high = _space_bounds(node, inner, space, dtype, (low, high), nvec)
    if dtype in INTEGER_RANGES and (low is None or high is None):
        missing = "minimum" if low is None else "maximum"
        inner.fail(
            f"the integer field {path} has no {missing}",
            expected="minimum and maximum for every integer field",
            found=sorted(inner.value),
            mend=f"add {missing} (the dtype itself ends at {INTEGER_RANGES[dtype]})",
        )
    return Field(
        path=path,
        name=name,
        dtype=dtype,
        shape=shape,
        low=low,
        high=high,
        space=space,
        nvec=nvec,
        tolerance=_tolerance(node, dtype),
        allow=_allow(node, dtype),
        description=str(node.value.get("description", "")),
    )


def parse_default(node: Node, field: Field) -> int | float | bool:
    """The default of a parameter, rounded to its dtype. Raises SchemaError where type or bounds forbid it."""
    default = node.need("default", "every parameter has a default")
    value = default.value
    if field.is_bool:
        if not isinstance(value, bool):
            default.fail(
                "the default must be a boolean", expected="true or false", found=show(value), mend="mend it"
            )
        return value
    number = _number(default, field.dtype)
    for bound, wrong in ((field.low, "below the minimum"), (field.high, "above the maximum")):
        for limit in elements(bound):
            if (number < limit) if bound is field.low else (number > limit):
                default.fail(
                    f"the default {value} is {wrong} {limit}",
                    expected=f"from {field.low} to {field.high}",
                    found=value,
                    mend="change the default or the bound",
                )
    return number


def _shape(node: Node, part: str) -> tuple[int, ...]:
    if part == "x-params" and "x-shape" not in node.value:
        return ()
    shape = node.need("x-shape", "every field declares its shape ([] for a scalar)").as_array("x-shape")
    lengths = tuple(item.as_integer("a length in x-shape", low=1) for item in shape.items())
    if lengths and part in ("x-params", "reward"):
        shape.fail(
            f"{part} holds scalars only", expected="[]", found=show(shape.value), mend="use one scalar each"
        )
    return lengths


def _innermost(node: Node, shape: tuple[int, ...]) -> Node:
    """The scalar schema inside the nested arrays, which must nest as x-shape says."""
    current = node
    for depth, length in enumerate(shape):
        kind = current.need("type", "every leaf has a JSON type")
        if kind.value != "array":
            kind.fail(
                f"x-shape {list(shape)} needs {len(shape)} nested array(s), and level {depth + 1} is none",
                expected="array",
                found=show(kind.value),
                mend="nest `type: array` with items once per dimension",
            )
        for keyword in ("minItems", "maxItems"):
            given = current.need(keyword, "arrays have a fixed length")
            if given.value != length:
                given.fail(
                    f"{keyword} contradicts x-shape",
                    expected=length,
                    found=show(given.value),
                    mend=f"set {keyword} to {length} or mend x-shape",
                )
        current.value.keys() & {"minimum", "maximum"} and current.fail(
            "bounds of an array stand in its items",
            expected="minimum and maximum inside items",
            found=sorted(current.value),
            mend="move them into items, or use x-low and x-high",
        )
        current = current.need("items", "an array says what it holds").as_object("items")
        current.only(_INNER, "the items of a leaf")
    if current.value.get("type") == "array" or "items" in current.value:
        current.fail(
            f"the arrays nest deeper than x-shape {list(shape)} says",
            expected=f"{len(shape)} level(s)",
            found="one more array",
            mend="add the length to x-shape or remove the array",
        )
    for keyword in ("minItems", "maxItems"):
        if keyword in current.value:
            current.child(keyword).fail(f"{keyword} belongs to arrays", found="a scalar", mend="remove it")
    return current


def _json_type(inner: Node, node: Node, dtype: str) -> None:
    kind = inner.need("type", "every leaf has a JSON type")
    allowed = _JSON_TYPES.get(kind.value) if isinstance(kind.value, str) else None
    if allowed is None or dtype not in allowed:
        fitting = next(name for name, dtypes in _JSON_TYPES.items() if dtype in dtypes)
        kind.fail(
            f"type {show(kind.value)} contradicts x-dtype {dtype}",
            expected=f'"{fitting}"',
            found=show(kind.value),
            mend=f'set type to "{fitting}", or choose another x-dtype',
        )


def _number(node: Node, dtype: str) -> Number:
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
        return round_to(dtype, value)
    except OverflowError:
        limits = INTEGER_RANGES.get(dtype, "the largest finite value")
        node.fail(
            f"{value} does not fit in {dtype}",
            expected=f"within {limits}",
            found=value,
            mend="choose a wider dtype",
        )


def _bounds(node: Node, inner: Node, dtype: str, shape: tuple[int, ...]) -> tuple[Bound, Bound]:
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
                _nested(per_element, dtype, shape, absent) if shape else _scalar_only(per_element, keyword)
            )
        else:
            pairs.append(_number(plain, dtype) if plain else None)
    low, high = pairs
    for bottom, top in zip(_spread(low, shape), _spread(high, shape), strict=True):
        if bottom is not None and top is not None and bottom > top:
            node.fail(
                "the lower bound is above the upper one",
                expected="low <= high",
                found=f"{bottom} > {top}",
                mend="swap or mend the bounds",
            )
    return low, high


def _scalar_only(node: Node, keyword: str) -> Bound:
    return node.fail("per-element bounds need an array", found="a scalar", mend=f"use {keyword} instead")


def _nested(node: Node, dtype: str, shape: tuple[int, ...], absent: float) -> Bound:
    """Nested lists of the field's shape as nested tuples; null is "no bound here" and becomes an infinity."""
    if not shape:
        if node.value is None and dtype in FLOAT_DTYPES:
            return absent
        return _number(node, dtype)
    if not isinstance(node.value, list) or len(cast("list[Any]", node.value)) != shape[0]:
        node.fail(
            "per-element values do not have the field's shape",
            expected=f"a list of {shape[0]}",
            found=show(node.value),
            mend="nest the lists as x-shape says",
        )
    return tuple(_nested(item, dtype, shape[1:], absent) for item in node.items())


def _spread(bound: Bound, shape: tuple[int, ...]) -> list[Number | None]:
    """One bound per element."""
    if isinstance(bound, tuple):
        return list(elements(bound))
    size = math.prod(shape)
    return [bound] * size


def _space(
    node: Node, part: str, dtype: str, shape: tuple[int, ...]
) -> tuple[str | None, tuple[Bound, ...] | None]:
    if part not in _NEEDS_SPACE:
        return None, None
    given = node.need("x-space", "leaves of action and observation name their Gymnasium space")
    space = given.one_of(SPACES, "Gymnasium space that simulacrum knows")
    rules: dict[str, tuple[str, bool, str]] = {
        "Discrete": ("int64", not shape, "a scalar (x-shape [])"),
        "MultiDiscrete": ("int64", bool(shape), "an array"),
        "MultiBinary": ("int8", bool(shape), "an array"),
    }
    if space == "Dict":
        given.fail(
            "Dict is the space of an object, not of a tensor",
            expected="type object",
            found=space,
            mend='write {"type": "object", "x-space": "Dict", "properties": {...}}',
        )
    if space in rules:
        wanted, shape_fits, shape_text = rules[space]
        if dtype != wanted:
            node.child("x-dtype").fail(
                f"{space} has the dtype {wanted}", expected=wanted, found=dtype, mend="change it"
            )
        if not shape_fits:
            node.child("x-shape").fail(
                f"{space} is {shape_text}", expected=shape_text, found=list(shape), mend="mend it"
            )
    elif dtype == "bool":
        node.child("x-dtype").fail(
            "a Box holds numbers",
            expected="a numeric dtype",
            found=dtype,
            mend="use MultiBinary with int8 for switches",
        )
    nvec = node.get("x-nvec")
    if space != "MultiDiscrete":
        if nvec:
            nvec.fail("x-nvec belongs to MultiDiscrete", found=space, mend="remove it")
        return space, None
    counts = node.need("x-nvec", "MultiDiscrete says how many values each element has")
    return space, cast("tuple[Bound, ...]", _nested(counts, dtype, shape, 0.0))


def _space_bounds(
    node: Node,
    inner: Node,
    space: str,
    dtype: str,
    given: tuple[Bound, Bound],
    nvec: tuple[Bound, ...] | None,
) -> tuple[Bound, Bound]:
    """Bounds as the space has them; what the author wrote must not say otherwise."""
    if space == "Discrete":
        if given[0] is None or given[1] is None:
            inner.fail(
                "Discrete needs minimum and maximum",
                expected="both",
                found=sorted(inner.value),
                mend="add the one that is missing; they are the first and the last action",
            )
        return given
    if space == "MultiBinary":
        return _fixed(node, given, (0, 1), space)
    if space == "MultiDiscrete":
        assert nvec is not None
        if any(count < 1 for count in elements(nvec)):
            node.child("x-nvec").fail(
                "every entry of x-nvec is at least 1",
                expected=">= 1",
                found=show(node.value["x-nvec"]),
                mend="mend the entry",
            )
        most = max(int(count) for count in elements(nvec)) - 1
        _fixed(node, given, (0, most), space)
        return 0, _minus_one(nvec)
    return given


def _fixed(node: Node, given: tuple[Bound, Bound], wanted: tuple[int, int], space: str) -> tuple[int, int]:
    for keyword, have, want in zip(("minimum", "maximum"), given, wanted, strict=True):
        if have is not None and have != want:
            node.fail(
                f"{keyword} contradicts the space {space}", expected=want, found=have, mend=f"write {want}"
            )
    return wanted


def _minus_one(nvec: Bound) -> Bound:
    return tuple(_minus_one(part) for part in nvec) if isinstance(nvec, tuple) else int(cast(int, nvec)) - 1


def _tolerance(node: Node, dtype: str) -> Tolerance | None:
    given = [keyword for keyword in ("x-atol", "x-rtol", "x-ulp") if keyword in node.value]
    reason = node.get("x-tolerance-reason")
    if not given:
        if reason:
            reason.fail(
                "a reason without a tolerance", found="x-tolerance-reason alone", mend="remove the reason"
            )
        return None
    if dtype not in FLOAT_DTYPES:
        node.child(given[0]).fail(
            f"{dtype} fields agree exactly", expected="no tolerance", found=given[0], mend="remove it"
        )
    words = node.need("x-tolerance-reason", "a tolerance is written down with why bits cannot agree")
    values: dict[str, float] = {}
    for keyword in given:
        place = node.child(keyword)
        value = place.as_integer(keyword, low=1) if keyword == "x-ulp" else _number(place, "float64")
        if not value > 0:
            place.fail(
                "a tolerance is positive",
                expected="> 0",
                found=value,
                mend="remove it: bits are compared anyway",
            )
        values[keyword] = value
    return Tolerance(
        atol=float(values.get("x-atol", 0.0)),
        rtol=float(values.get("x-rtol", 0.0)),
        ulp=int(values.get("x-ulp", 0)),
        reason=words.as_text("x-tolerance-reason"),
    )


def _allow(node: Node, dtype: str) -> frozenset[str]:
    allow = node.get("x-allow")
    if allow is None:
        return frozenset()
    names = [
        item.one_of(ALLOWANCES, "value that can be allowed") for item in allow.as_array("x-allow").items()
    ]
    if dtype not in FLOAT_DTYPES:
        allow.fail(
            f"{dtype} has no such values", expected="a float dtype", found=dtype, mend="remove x-allow"
        )
    if len(set(names)) != len(names) or not names:
        allow.fail(
            "x-allow names each value once, and at least one", found=show(allow.value), mend="mend the list"
        )
    return frozenset(names)
