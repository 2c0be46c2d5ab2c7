"""JSON Schema validators for the JSON values of a group, built from its fields."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from simulacrum.contract.fields import Bound, Field, Group

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# Spellings of values that JSON has no number for, beside the floats that Python's json module makes of them.
_SPECIAL: dict[str, list[float | str]] = {
    "nan": ["NaN"],
    "inf": [math.inf, -math.inf, "Infinity", "-Infinity"],
}


def validator_for(group: Group) -> Validator:
    """A validator of plain JSON values of `group`: Python ints, bools, floats and lists, exactly as declared.

    Stricter than JSON Schema alone: 1.0 is no integer, true is no number, and NaN or an infinity passes only
    where the field allows it.
    """
    return cast("Validator", _strict_validator()(group_schema(group)))


def group_schema(group: Group) -> dict[str, Any]:
    """Plain JSON Schema (no extension keywords) of a group's JSON values."""
    if group.single:
        return field_schema(group.leaf)
    return {
        "type": "object",
        "properties": {key: field_schema(field) for key, field in group},
        "required": list(group.names),
        "additionalProperties": False,
    }


def field_schema(field: Field) -> dict[str, Any]:
    """Plain JSON Schema of one field's JSON value, with the bounds as the dtype rounds them."""
    return _nest(field, field.shape, field.low, field.high)


def _nest(field: Field, shape: tuple[int, ...], low: Bound, high: Bound) -> dict[str, Any]:
    if not shape:
        return _scalar(field, low, high)
    frame: dict[str, Any] = {"type": "array", "minItems": shape[0], "maxItems": shape[0]}
    if isinstance(low, tuple) or isinstance(high, tuple):
        frame["prefixItems"] = [
            _nest(field, shape[1:], _part(low, index), _part(high, index)) for index in range(shape[0])
        ]
    else:
        frame["items"] = _nest(field, shape[1:], low, high)
    return frame


def _part(bound: Bound, index: int) -> Bound:
    return bound[index] if isinstance(bound, tuple) else bound


def _scalar(field: Field, low: Bound, high: Bound) -> dict[str, Any]:
    kind = "boolean" if field.is_bool else "integer" if field.is_integer else "number"
    plain: dict[str, Any] = {"type": kind}
    bounds = {"minimum": low, "maximum": high}
    plain |= {
        key: bound
        for key, bound in bounds.items()
        if isinstance(bound, (int, float)) and math.isfinite(bound)
    }
    special = [value for name in ("nan", "inf") if name in field.allow for value in _SPECIAL[name]]
    if not special:
        return plain
    choices: list[dict[str, Any]] = [plain, {"enum": special}]
    if "nan" in field.allow:
        choices.append({"type": "nan"})
    return {"anyOf": choices}


def _strict_validator() -> Callable[[dict[str, Any]], object]:
    from jsonschema import Draft202012Validator, validators

    def is_integer(_: object, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def is_number(_: object, value: object) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

    def is_nan(_: object, value: object) -> bool:
        return isinstance(value, float) and math.isnan(value)

    checker = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": is_integer, "number": is_number, "nan": is_nan}
    )
    return cast(
        "Callable[[dict[str, Any]], object]",
        cast(Any, validators).extend(Draft202012Validator, type_checker=checker),
    )
