"""Which kind of state a row stands in: an abstraction made from the schema, so coarse that kinds are met again.

Flags and integers of a small range stand for themselves, other numbers for a bin: one of `BINS` between declared
bounds, else sign and power of two. A field of more than `FEW` elements stands for the number of its elements that are
true, or that lie at the lowest, at the highest bound and at zero.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.schema import Schema
from simulacrum.harness.frames import Array, Frame

SMALL = 32  # integers of a range up to so many values stand for themselves
BINS = 8
FEW = 4
NAN = 99  # the bin of what is no number


def cells(schema: Schema, frame: Frame) -> Array:
    """The cell of each row of a frame: int16 `[N, C]`, where equal rows are equal kinds of states."""
    columns = [_columns(field, frame[f"state.{name}"]) for name, field in schema.state.items()]
    count = len(frame["t"])
    return np.concatenate(columns, axis=1) if columns else np.zeros((count, 0), np.int16)


def keys(table: Array) -> list[bytes]:
    """The rows of a table of cells as keys of a dict or set."""
    packed = np.ascontiguousarray(table)
    return [row.tobytes() for row in packed]


def distinct(tables: list[Array]) -> set[bytes]:
    """The keys of all different cells in these tables."""
    if not tables:
        return set()
    return set(keys(np.unique(np.concatenate(tables), axis=0)))


def _columns(field: Field, values: Array) -> Array:
    flat: Array = values.reshape(len(values), -1)
    if flat.shape[1] > FEW:
        return _counts(field, flat)
    if field.dtype == "bool":
        return flat.astype(np.int16)
    low, high = (_ends(field, end) for end in (field.low, field.high))
    if low is None or high is None:
        return _powers(flat)
    if not field.is_float and int((high.astype(np.int64) - low.astype(np.int64)).max()) <= SMALL:
        return flat.astype(np.int16)
    return _bins(flat, low, high)


def _ends(field: Field, end: Any) -> Array | None:
    """The bound of each element, or None where there is none."""
    if end is None:
        return None
    wide = cast("Array", np.broadcast_to(np.array(end), field.shape).reshape(1, -1))
    return None if field.is_float and not np.isfinite(wide).all() else wide


def _counts(field: Field, flat: Array) -> Array:
    if field.dtype == "bool":
        return flat.sum(axis=1, keepdims=True).astype(np.int16)
    found = [flat == 0]
    for end in (field.low, field.high):
        bound = _ends(field, end)
        if bound is not None:
            found.append(flat == bound)
    return np.stack([each.sum(axis=1) for each in found], axis=1).clip(0, 2**15 - 1).astype(np.int16)


def _bins(flat: Array, low: Array, high: Array) -> Array:
    wide = np.maximum(high.astype(np.float64) - low, np.finfo(np.float64).tiny)
    share = (flat.astype(np.float64) - low) / wide * BINS
    return np.where(np.isnan(share), NAN, np.clip(np.floor(share), -1, BINS)).astype(np.int16)


def _powers(flat: Array) -> Array:
    """Sign and power of two; 0 for zero."""
    number = flat.astype(np.float64)
    finite = np.where(np.isfinite(number), number, np.sign(np.nan_to_num(number)) * 2.0**60)
    power = np.clip(np.frexp(finite)[1], -8, 60) + 10
    return np.where(np.isnan(number), NAN, np.sign(finite) * np.where(finite == 0, 0, power)).astype(np.int16)
