"""Rows of the batched twin as a scripted policy sees them: the reference's own scalars and tuples, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.harness.drivers import Reading
from simulacrum.harness.frames import Array, Frame
from simulacrum.portable.scalar import Float32
from simulacrum.twin.state import state_type


def _float32(value: float) -> Float32:
    """A number that came out of a float32 array needs no rounding, and rounding it would be most of the work."""
    return float.__new__(Float32, value)


def column(field: Field, values: Array) -> list[Any]:
    """Rows `[M, *shape]` of a field as Python scalars or nested tuples; NumPy already gives ints, bools and floats.

    All numbers become one list, which is then cut into tuples from the last dimension on: a policy that looks at an
    image is asked for half a million of them.
    """
    flat = values.reshape(-1).tolist()
    rows: list[Any] = [*map(_float32, flat)] if field.dtype == "float32" else flat
    for size in reversed(field.shape):
        rows = [*zip(*[iter(rows)] * size, strict=True)]
    return rows


def readings(schema: Schema, frame: Frame, rows: Sequence[int]) -> list[Reading]:
    """(observation, state, t) of the rows, in order."""
    index = list(rows)
    states = [column(field, frame[f"state.{name}"][index]) for name, field in schema.state.items()]
    struct = state_type(schema)
    observations = _group(schema.observation, frame, index)
    times = frame["t"][index].tolist()
    return [
        (observation, struct(*state), t)
        for observation, state, t in zip(observations, zip(*states, strict=True), times, strict=True)
    ]


def _group(group: Group, frame: Frame, index: list[int]) -> list[Any]:
    if group.single:
        return column(group.leaf, frame["observation"][index])
    columns = {name: column(field, frame[f"observation.{name}"][index]) for name, field in group.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
