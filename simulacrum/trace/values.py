"""Single values between memory and paper, to the bit.

In memory a value is plain Python: bool, int, float, and nested lists for shaped fields; a float32 is the
Python float of the same value. On paper (JSON) a value is spelled so:

    float32   the shortest decimal that reads back to the same 32 bits (0.1, not 0.10000000149011612)
    float64   the shortest decimal that reads back to the same 64 bits (Python's repr)
    -0.0      the number -0.0
    infinity  the strings "inf" and "-inf"
    NaN       the string "nan"; one with other bits than the plain quiet one carries them: "nan:0xffc00000"
    integers  JSON numbers, also beyond 2**53: readers in other languages must take care of int64 fields

A signalling NaN of float32 cannot live in a Python float and is not representable.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simulacrum.contract.fields import INTEGER_RANGES
from simulacrum.trace.jsonio import BadValue, Keys, short

if TYPE_CHECKING:
    from simulacrum.contract.fields import Field, Group

_FLOATS = {"float32": ("<f", "<I", 8, 0x7FC00000), "float64": ("<d", "<Q", 16, 0x7FF8000000000000)}
_WHOLE = {**INTEGER_RANGES, "uint32": (0, 2**32 - 1)}  # words of draws are uint32
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def float_bits(value: float, dtype: str) -> int:
    """The bits of a float as float32 or float64. Raises OverflowError for a finite value beyond float32."""
    as_float, as_int, _, _ = _FLOATS[dtype]
    return cast("int", struct.unpack(as_int, struct.pack(as_float, value))[0])


def from_bits(bits: int, dtype: str) -> float:
    as_float, as_int, _, _ = _FLOATS[dtype]
    return cast("float", struct.unpack(as_float, struct.pack(as_int, bits))[0])


def round_to(value: float, dtype: str) -> float:
    """The nearest float of the dtype, ties to even. Raises OverflowError for a finite value beyond
    float32."""
    return from_bits(float_bits(value, dtype), dtype)


def bits_of(value: Any, dtype: str) -> str | None:
    """The bits of a scalar in its dtype as hex of full width (two's complement for integers); None when
    the value is none of that dtype."""
    if dtype == "bool":
        return f"0x{int(value):02x}" if isinstance(value, bool) else None
    if dtype in _WHOLE:
        low, high = _WHOLE[dtype]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            return None
        width = int(dtype.lstrip("uint"))
        return f"0x{value & (2**width - 1):0{width // 4}x}"
    if dtype not in _FLOATS or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return f"0x{float_bits(float(value), dtype):0{_FLOATS[dtype][2]}x}"
    except OverflowError:
        return None


def spell_scalar(value: Any, dtype: str) -> Any:
    """A scalar in memory as its JSON value (see the top of this file)."""
    if dtype not in _FLOATS:
        return value
    value = float(value)
    if math.isnan(value):
        bits = float_bits(value, dtype)
        return "nan" if bits == _FLOATS[dtype][3] else f"nan:0x{bits:0{_FLOATS[dtype][2]}x}"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if dtype == "float32":
        brief = float(str(np.float32(value)))
        # The shortest decimal is read as a float64 first; should that ever round twice, the long one is
        # exact.
        return brief if round_to(brief, dtype) == value else value
    return value


def read_value(field: Field, raw: Any, *, bounds: bool = False, path: Keys = ()) -> Any:
    """A field's value in memory from JSON, Python, NumPy or a tensor. Shape and dtype must fit the field;
    with `bounds` also its limits and its rule about NaN, -0.0 and infinity. Raises BadValue, with `path`
    in front."""
    dtype = getattr(raw, "dtype", None)
    if dtype is not None and str(dtype).rpartition(".")[2] != field.dtype:
        raise BadValue("a value of another dtype", path=path, expected=field.dtype, found=str(dtype))
    value = _nested(field, raw.tolist() if hasattr(raw, "tolist") else raw, tuple(field.shape), bounds, path)
    if bounds:
        _check_limits(field, value, path)
    return value


def _nested(field: Field, raw: Any, shape: tuple[int, ...], bounds: bool, path: Keys) -> Any:
    if not shape:
        return _scalar(field, raw, bounds, path)
    if not isinstance(raw, (list, tuple)):
        raise BadValue("not a list", path=path, expected=f"a list of {shape[0]}", found=short(raw))
    items = cast("Sequence[Any]", raw)
    if len(items) != shape[0]:
        raise BadValue("a list of another length", path=path, expected=shape[0], found=len(items))
    return [_nested(field, item, shape[1:], bounds, (*path, index)) for index, item in enumerate(items)]


def _scalar(field: Field, raw: Any, bounds: bool, path: Keys) -> Any:
    if field.dtype in _FLOATS:
        value = _float(field.dtype, raw, path)
        if bounds:
            _check_special(field, value, path)
        return value
    if field.dtype == "bool":
        if not isinstance(raw, bool):
            raise BadValue("not a boolean", path=path, expected="true or false", found=short(raw))
        return raw
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise BadValue("not an integer", path=path, expected=field.dtype, found=short(raw))
    low, high = INTEGER_RANGES[field.dtype]
    if not low <= raw <= high:
        raise BadValue(
            f"an integer that {field.dtype} cannot hold", path=path, expected=f"{low}..{high}", found=raw
        )
    return int(raw)


def _float(dtype: str, raw: Any, path: Keys) -> float:
    if isinstance(raw, str):
        value = _WORDS.get(raw, _nan(dtype, raw))
        if value is not None:
            return value
    elif isinstance(raw, (int, float)) and not isinstance(raw, bool):
        try:
            value = float(raw)
            return value if dtype == "float64" else round_to(value, dtype)
        except OverflowError:
            raise BadValue(
                f"a number that {dtype} cannot hold", path=path, expected=dtype, found=short(raw)
            ) from None
    raise BadValue(
        "not a number", path=path, expected=f'a {dtype}, or "nan", "inf", "-inf"', found=short(raw)
    )


def _nan(dtype: str, raw: str) -> float | None:
    head, _, digits = raw.partition(":")
    try:
        bits = int(digits, 16)
    except ValueError:
        return None
    if head != "nan" or not 0 <= bits < 2 ** (4 * _FLOATS[dtype][2]):
        return None
    value = from_bits(bits, dtype)
    return value if math.isnan(value) and float_bits(value, dtype) == bits else None


def _check_special(field: Field, value: float, path: Keys) -> None:
    name = "nan" if math.isnan(value) else "inf" if math.isinf(value) else None
    if value == 0.0 and math.copysign(1.0, value) < 0:
        name = "-0.0"
    if name is not None and name not in field.allow:
        expected = f"another value (or {name} in the field's x-allow)"
        raise BadValue(f"{name} is not allowed here", path=path, expected=expected, found=value)


def _check_limits(field: Field, value: Any, path: Keys) -> None:
    if field.dtype == "bool":
        return
    array = np.asarray(value)
    for limit, name, beyond in ((field.low, "low", np.less), (field.high, "high", np.greater)):
        if limit is None:
            continue
        edge = np.asarray(limit)
        if (
            field.dtype == "float32"
        ):  # the bound is a decimal of the schema; the field can only hold its rounding
            edge = edge.astype(np.float32).astype(np.float64)
        out = np.argwhere(beyond(array, np.broadcast_to(edge, array.shape)))
        if len(out):
            index = tuple(int(i) for i in out[0])
            at = edge if edge.ndim == 0 else edge[index]
            raise BadValue(
                f"a value beyond the field's {name} bound",
                path=(*path, *index),
                expected=at.item(),
                found=array[index].item(),
            )


def spell(field: Field, value: Any) -> Any:
    """A field's value in memory as JSON value."""
    if isinstance(value, list):
        return [spell(field, item) for item in cast("list[Any]", value)]
    return spell_scalar(value, field.dtype)


def read_group(group: Group, raw: Any, *, bounds: bool = False, path: Keys = ()) -> Any:
    """A group's value in memory: the one leaf's, or a dict with exactly the group's names. Raises
    BadValue."""
    if group.single:
        return read_value(group.leaf, raw, bounds=bounds, path=path)
    items = read_object(raw._asdict() if hasattr(raw, "_asdict") else raw, tuple(group.fields), path)
    return {
        name: read_value(leaf, items[name], bounds=bounds, path=(*path, name))
        for name, leaf in group.fields.items()
    }


def read_object(raw: Any, names: Sequence[str], path: Keys) -> Mapping[str, Any]:
    """A mapping with exactly these names. Raises BadValue."""
    if not isinstance(raw, Mapping):
        raise BadValue("not an object", path=path, expected=", ".join(names) or "{}", found=short(raw))
    items = cast("Mapping[str, Any]", raw)
    missing = [name for name in names if name not in items]
    extra = [str(name) for name in items if name not in names]
    if missing or extra:
        found = [f"missing {', '.join(missing)}"] if missing else []
        found += [f"unknown {', '.join(extra)}"] if extra else []
        raise BadValue(
            "the names do not fit", path=path, expected=", ".join(names) or "none", found="; ".join(found)
        )
    return items


def spell_group(group: Group, value: Any) -> Any:
    """A group's value in memory as JSON value."""
    if group.single:
        return spell(group.leaf, value)
    return {name: spell(leaf, value[name]) for name, leaf in group.fields.items()}


def plain_json(value: Any) -> Any:
    """Any value as JSON without a schema: tuples, NumPy values and tensors become lists and numbers,
    floats are taken as float64 (exact for a float32, though not its shortest decimal)."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain_json(item) for name, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, float):
        return spell_scalar(value, "float64")
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return int(value)
    raise BadValue("a value that JSON cannot hold", found=short(value))
