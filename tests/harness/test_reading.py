"""Rows of a batch as scripted policies see them: nested tuples of Python's own scalars."""

from __future__ import annotations

import numpy as np
import pytest
from kit import package

from simulacrum.contract.fields import Field
from simulacrum.harness.reading import column
from simulacrum.portable.scalar import Float32


def field(dtype: str, shape: tuple[int, ...]) -> Field:
    given = package("toywalk").schema.reward
    return type(given)(**{**vars(given), "dtype": dtype, "shape": shape})


def nested(value: object) -> object:
    """What a list of lists is in tuples, one element after the other."""
    return tuple(map(nested, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64"])
def test_rows_are_nested_tuples_of_plain_scalars(dtype: str, shape: tuple[int, ...]) -> None:
    values = (np.arange(5 * int(np.prod(shape))) % 3 / 3).astype(dtype).reshape(5, *shape)
    rows = column(field(dtype, shape), values)
    assert rows == [nested(row) for row in values.tolist()]
    scalar = rows[0]
    for _ in shape:
        assert type(scalar) is tuple
        scalar = scalar[0]
    kinds = {"bool": bool, "int8": int, "int64": int, "float32": Float32, "float64": float}
    assert type(scalar) is kinds[dtype]


def test_no_rows_are_no_readings() -> None:
    assert column(field("float32", (2, 2)), np.zeros((0, 2, 2), np.float32)) == []
