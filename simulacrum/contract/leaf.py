"""Reading one leaf of schema.json: its keywords one by one, and each held against the others."""

from __future__ import annotations

from simulacrum.contract.bounds import parse_bounds, parse_number
from simulacrum.contract.fields import (
    ALLOWANCES,
    DTYPES,
    FLOAT_DTYPES,
    INTEGER_RANGES,
    Field,
    Tolerance,
    elements,
)
from simulacrum.contract.node import Node, show
from simulacrum.contract.space_rules import parse_space, space_bounds

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


def parse_leaf(node: Node, part: str, path: str, name: str) -> Field:
    """The Field that `node` describes; `part` says where in the schema it stands ("state", "x-params", ...).

    Raises:
        SchemaError: an unknown keyword, or keywords that contradict each other.
    """
    node.as_object(f"the field {path}")
    node.only(_PLAIN | _SHAPED | _EXTRAS[part], f"a leaf of {part}")
    dtype = node.need("x-dtype", "every field declares its dtype").one_of(DTYPES, "dtype")
    shape = _shape(node, part)
    inner = _innermost(node, shape)
    _json_type(inner, node, dtype)
    low, high = parse_bounds(node, inner, dtype, shape)
    space, nvec = parse_space(node, part, dtype, shape)
    if space is not None:
        low, high = space_bounds(node, inner, space, dtype, (low, high), nvec)
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
    number = parse_number(default, field.dtype)
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
        if current.value.keys() & {"minimum", "maximum"}:
            current.fail(
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
        value = place.as_integer(keyword, low=1) if keyword == "x-ulp" else parse_number(place, "float64")
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
