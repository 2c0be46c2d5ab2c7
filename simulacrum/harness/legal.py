"""Is every value of a frame one that the schema allows? Bounds, NaN, infinities and -0.0, over whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.schema import Schema
from simulacrum.harness.compare import first_place
from simulacrum.harness.frames import CLOCK, Array, Frame, frame_fields


@dataclass(frozen=True)
class Breach:
    """A field with values that the schema does not allow: rows, first place in the first row, what was asked."""

    name: str
    rows: Array  # int64, ascending
    index: tuple[int, ...]
    expected: str


class Legal:
    """The schema's limits as arrays, made once.

    A frame's reward means something only in rows that were stepped, its final values only in rows that ended; so
    `breaches` is told which rows were stepped.
    """

    def __init__(self, schema: Schema, *, final: bool = False) -> None:
        self.fields = {name: field for name, field in frame_fields(schema, final=final).items() if name not in CLOCK}
        self.limits = {name: _limits(field) for name, field in self.fields.items()}

    def breaches(self, frame: Frame, stepped: Array | None) -> list[Breach]:
        """What is not allowed in the frame, state first. `stepped` is bool `[N]`, or None after a reset."""
        found: list[Breach] = []
        for name, field in self.fields.items():
            breach = self._breach(name, field, frame[name], _meant(name, frame, stepped))
            if breach is not None:
                found.append(breach)
        return found

    def _breach(self, name: str, field: Field, value: Array, rows: Array | None) -> Breach | None:
        for expected, wrong in _faults(field, value, *self.limits[name]):
            if rows is not None:
                wrong &= rows.reshape(-1, *([1] * (wrong.ndim - 1)))
            if wrong.any():
                places: Array = np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1))
                return Breach(name, places, first_place(wrong[places[0]]), expected)
        return None


def _meant(name: str, frame: Frame, stepped: Array | None) -> Array | None:
    """The rows in which a field means something, as a mask; None for all of them."""
    if name == "reward":
        return np.zeros(len(frame[name]), dtype=np.bool_) if stepped is None else stepped
    if name.startswith("final_"):
        return np.logical_or(frame["terminated"], frame["truncated"])
    return None


def _limits(field: Field) -> tuple[Array | None, Array | None]:
    low, high = (None if bound is None else np.array(bound, field.dtype) for bound in (field.low, field.high))
    if field.space == "MultiDiscrete":
        return np.zeros(field.shape, field.dtype), np.array(field.nvec, field.dtype) - 1
    return low, high


def _faults(field: Field, value: Array, low: Array | None, high: Array | None) -> list[tuple[str, Array]]:
    faults: list[tuple[str, Array]] = []
    if field.is_bool:
        return faults
    if field.is_float:
        if "nan" not in field.allow:
            faults.append(("a number, not NaN", np.isnan(value)))
        if "inf" not in field.allow:
            faults.append(("a finite number", np.isinf(value)))
        if "-0.0" not in field.allow:
            faults.append(("0.0, not -0.0", np.signbit(value) & (value == 0)))
    if low is not None:
        faults.append((_bound("at least", field.low), value < low))
    if high is not None:
        faults.append((_bound("at most", field.high), value > high))
    return faults


def _bound(word: str, bound: object) -> str:
    return f"{word} {bound}" if not isinstance(bound, tuple) else f"{word} the element's bound"


def contiguous(given: Mapping[str, Array]) -> list[str]:
    """The names of arrays that do not lie in memory row by row."""
    return [name for name, value in given.items() if not value.flags["C_CONTIGUOUS"]]
