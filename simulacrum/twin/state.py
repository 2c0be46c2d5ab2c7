"""The state struct of both twins, made from the schema, and the way between it and plain JSON.

One field of the schema is one field of the struct. In the reference a field holds a Python scalar (`bool`, `int`,
`Float32`, `float`) or, for a field with a shape, nested tuples of them; in the batched twin it holds a tensor
`[N, *shape]`. The struct is a namedtuple, so torch treats it as a tree of tensors without being told.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

from simulacrum.contract.fields import INTEGER_RANGES, Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.errors import StateError, TwinError
from simulacrum.portable.scalar import Float32, round32


@functools.cache
def _struct(type_name: str, names: tuple[str, ...]) -> Any:
    # The fields come from the schema at run time, so no class statement can name them.
    kind: Any = namedtuple(type_name, names)  # pyright: ignore[reportUntypedNamedTuple]
    # `replace` without the underscore: it is the one method that authors call.
    kind.replace = kind._replace
    kind.__reduce__ = lambda struct: (_rebuild, (type_name, names, tuple(struct)))
    return kind


def _rebuild(type_name: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """The inverse of pickling a struct, whose class no module holds by name."""
    return _struct(type_name, names)(*values)


def state_type(schema: Schema) -> Any:
    """The namedtuple class of the environment's state, with `.replace(**changes)` returning a changed copy."""
    return _struct("State", tuple(schema.state.fields))


def params_type(schema: Schema) -> Any:
    """The namedtuple class of the environment's parameters."""
    return _struct("Params", tuple(schema.params))


def canonical(field: Field, value: Any) -> Any:
    """`value` as the plain scalar or nested tuples that `field` declares, or `TwinError`.

    Accepts Python and NumPy scalars, lists, tuples and arrays. Nothing is converted that would change: a float
    for an integer field, or a float64 that float32 cannot hold, is refused, since the twin that computed it did
    not compute in the declared type.
    """
    return _canonical(field, value, field.shape, ())


def _canonical(field: Field, value: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    if shape:
        length = _length(value)
        if length != shape[0]:
            found = repr(value) if length is None else f"{length} items"
            raise _refuse(field, index, f"a sequence of {shape[0]} items", found)
        if len(shape) == 1 and _plainly_right(field, value):
            return tuple(value)
        return tuple(_canonical(field, item, shape[1:], (*index, i)) for i, item in enumerate(value))
    return _canonical_scalar(field, value, index)


def _plainly_right(field: Field, value: Any) -> bool:
    """Whether a row is of plain ints, or bools, within bounds that are the same for all of them.

    An image has hundreds of them, and to look at each by itself takes longer than most references need for a step.
    """
    kinds = set(map(type, value))
    if field.dtype == "bool":
        return kinds == {bool}
    low, high = field.low, field.high
    if field.dtype not in INTEGER_RANGES or kinds != {int} or not (type(low) is int and type(high) is int):
        return False
    return low <= min(value) and max(value) <= high


def _length(value: Any) -> int | None:
    """How many items a sequence or array has; None for what is neither."""
    if isinstance(value, (str, bytes, Mapping)):
        return None
    try:
        return len(value)
    except TypeError:  # a scalar, or a NumPy array without dimensions
        return None


def _canonical_scalar(field: Field, value: Any, index: tuple[int, ...]) -> Any:
    if field.dtype == "bool":
        if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
            return bool(value)
        raise _refuse(field, index, "a bool", _show(value))
    if field.dtype in INTEGER_RANGES:
        return _canonical_integer(field, value, index)
    return _canonical_float(field, value, index)


def _canonical_integer(field: Field, value: Any, index: tuple[int, ...]) -> int:
    if isinstance(value, (bool, float)):
        raise _refuse(field, index, f"an integer ({field.dtype})", _show(value))
    try:
        plain = operator.index(value)
    except TypeError:
        raise _refuse(field, index, f"an integer ({field.dtype})", _show(value)) from None
    low, high = INTEGER_RANGES[field.dtype]
    if not low <= plain <= high:
        raise _refuse(field, index, f"a value of {field.dtype}, {low} to {high}", str(plain))
    _check_bounds(field, plain, index)
    return plain


def _canonical_float(field: Field, value: Any, index: tuple[int, ...]) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise _refuse(field, index, f"a float ({field.dtype})", _show(value))
    plain = float(value)
    if math.isnan(plain):
        if "nan" not in field.allow:
            raise _refuse(field, index, "a number (the schema does not allow NaN here)", "nan")
    elif math.isinf(plain) and "inf" not in field.allow:
        raise _refuse(field, index, "a finite number (the schema does not allow infinities here)", str(plain))
    elif plain == 0.0 and math.copysign(1.0, plain) < 0 and "-0.0" not in field.allow:
        raise _refuse(field, index, "0.0 (the schema does not allow -0.0 here)", "-0.0")
    if field.dtype == "float32" and not isinstance(value, Float32):
        if not math.isnan(plain) and round32(plain) != plain:
            raise _refuse(field, index, "a float32 (compute with Float32)", _show(value))
        plain = Float32(plain)
    elif field.dtype == "float32":
        plain = value
    _check_bounds(field, float(plain), index)  # as plain floats: the comparisons of Float32 round first, in vain
    return plain


def _check_bounds(field: Field, value: Any, index: tuple[int, ...]) -> None:
    """`value` is of the field's dtype, and so are the field's bounds already."""
    low, high = bound_at(field.low, index), bound_at(field.high, index)
    if (low is not None and value < low) or (high is not None and value > high):
        raise _refuse(field, index, f"a value in [{low}, {high}]", _show(value))


def bound_at(bound: Any, index: tuple[int, ...]) -> Any:
    """The bound of one element."""
    for i in index:
        if not isinstance(bound, tuple):
            return bound
        bound = bound[i]
    return bound


def _show(value: Any) -> str:
    return f"{value!r} ({type(value).__name__})"


def _refuse(field: Field, index: tuple[int, ...], expected: str, found: str) -> TwinError:
    at = field.path + "".join(f"[{i}]" for i in index)
    return TwinError(f"{at} is not what the schema declares", expected=expected, found=found, where=at)


def canonical_group(group: Group, value: Any) -> Any:
    """`canonical` over a whole group: a single leaf gives a value, a Dict gives a dict with the declared keys."""
    if group.single:
        return canonical(group.leaf, value)
    if not isinstance(value, Mapping):
        raise TwinError(
            f"{group.name} is not a mapping",
            expected=f"keys {list(group.fields)}",
            found=_show(value),
            where=group.name,
        )
    if set(value) != set(group.fields):
        raise TwinError(
            f"{group.name} has other keys than the schema",
            expected=str(sorted(group.fields)),
            found=str(sorted(str(key) for key in value)),
            where=group.name,
        )
    return {name: canonical(field, value[name]) for name, field in group.fields.items()}


def canonical_state(schema: Schema, state: Any) -> Any:
    """A reference state checked field by field; `TwinError` names the field."""
    kind = state_type(schema)
    if not isinstance(state, tuple) or getattr(state, "_fields", None) != kind._fields:
        raise TwinError(
            "the twin returned something that is not its State struct",
            expected=f"self.State({', '.join(kind._fields)})",
            found=_show(state),
            where="state",
        )
    return kind(*(canonical(field, value) for field, value in zip(schema.state.fields.values(), state, strict=True)))


def dump_state(schema: Schema, state: Any) -> dict[str, Any]:
    """A reference state as a JSON-able dict: ints, bools, floats, nested lists. Float32 keeps its exact value."""
    return {name: _plain(value) for name, value in zip(schema.state.fields, state, strict=True)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, float) else value


def load_state(schema: Schema, data: Mapping[str, Any]) -> Any:
    """A reference state from a JSON dict (the inverse of `dump_state`). `StateError` names what is wrong."""
    names = set(schema.state.fields)
    if not isinstance(data, Mapping) or set(data) != names:
        found = sorted(str(key) for key in data) if isinstance(data, Mapping) else _show(data)
        raise StateError(
            "this is not a state of the environment", expected=f"keys {sorted(names)}", found=found, where=schema.name
        )
    try:
        values = [canonical(field, _typed(field, data[name])) for name, field in schema.state.fields.items()]
    except TwinError as error:
        raise StateError(
            error.message, expected=error.expected, found=error.found, where=f"{schema.name}: {error.where}"
        ) from None
    return state_type(schema)(*values)


def _typed(field: Field, value: Any) -> Any:
    """JSON has one kind of number; give a float field its floats."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_typed(field, item) for item in value)
    if field.dtype in ("float32", "float64") and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def params_values(schema: Schema, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of one instance as typed scalars: defaults, changed by `given`.

    Raises:
        StateError: an unknown name, or a value outside the declared type or bounds.
    """
    given = dict(given or {})
    unknown = [name for name in given if name not in schema.params]
    if unknown:
        raise StateError(
            f"unknown parameter {unknown[0]!r}",
            expected=f"one of {sorted(schema.params)}",
            found=unknown[0],
            where=schema.name,
        )
    values: dict[str, Any] = {}
    for name, param in schema.params.items():
        field, value = param.field, given.get(name, param.default)
        if field.dtype == "float32" and isinstance(value, (int, float)) and not isinstance(value, bool):
            value = Float32(value)
        try:
            values[name] = canonical(field, _typed(field, value))
        except TwinError as error:
            raise StateError(error.message, expected=error.expected, found=error.found, where=error.where) from None
    return values
