"""Actions to try from a state: all there are where that is possible, else a spread with every end in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.schema import Schema
from simulacrum.harness.drivers import limits
from simulacrum.harness.frames import Array

FEW = 16  # values of one element, up to which all are tried


def legal_actions(schema: Schema, most: int) -> Any:
    """Legal actions, arrays `[A, *shape]` of the schema's dtypes (a dict of them for a Dict space).

    All of the space where it is discrete and has at most `most`. Otherwise every combination of each element's ends,
    middle, 0 and neighbours of the ends; where these are too many, all elements together at each of them and each
    element alone at each of them.
    """
    fields = list(schema.action.items())
    columns = [values for _, field in fields for values in element_values(field)]
    chosen = _combined(columns, most)
    start, made = 0, dict[str, Array]()
    for name, field in fields:
        own = [row[start : start + field.size] for row in chosen]
        made[name] = np.array(own, dtype=field.dtype).reshape(len(chosen), *field.shape)
        start += field.size
    return made[""] if schema.action.single else made


def element_values(field: Field) -> list[list[Any]]:
    """For each element of an action field, in order, the values it is tried at."""
    low, high = (end.reshape(-1).tolist() for end in limits(field))
    return [_values(field, a, b) for a, b in zip(low, high, strict=True)]


def _values(field: Field, low: Any, high: Any) -> list[Any]:
    if not field.is_float:
        low, high = int(low), int(high)
        if high - low < FEW:
            return list(range(low, high + 1))
        return sorted({low, low + 1, (low + high) // 2, high - 1, high})
    kind = np.dtype(field.dtype).type
    a, b = kind(low), kind(high)
    tried = (a, b, kind(a + (b - a) / kind(2.0)), min(max(kind(0.0), a), b), np.nextafter(a, b), np.nextafter(b, a))
    return list(dict.fromkeys(float(value) + 0.0 for value in tried))


def _combined(columns: Sequence[Sequence[Any]], most: int) -> list[tuple[Any, ...]]:
    total = 1
    for values in columns:
        total *= len(values)
    if total <= most:
        return list(itertools.product(*columns))
    longest = max(map(len, columns))
    together = [tuple(values[min(k, len(values) - 1)] for values in columns) for k in range(longest)]
    alone = [
        (*(other[0] for other in columns[:place]), value, *(other[-1] for other in columns[place + 1 :]))
        for place, values in enumerate(columns) for value in values
    ]  # fmt: skip
    return list(dict.fromkeys([*together, *alone]))[:most]
