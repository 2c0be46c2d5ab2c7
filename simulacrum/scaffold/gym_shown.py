"""Observations as plain numbers, and what they say of the fields of the state: which are shown, within which bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from simulacrum.scaffold.gym_runs import Runs
from simulacrum.scaffold.gym_spaces import Space


def with_bounds_of(observation: Space, runs: Runs, fields: list[Any]) -> list[Any]:
    """Fields that an observation shows as they are, with the bounds that its space states."""
    shown = [flat_parts(observation, moment.shown) for moment in runs.moments]
    bounds: list[Any] = []
    for part in observation.parts:
        bounds += [(part, low, high) for low, high in zip(part.low.ravel(), part.high.ravel(), strict=True)]
    made: list[Any] = []
    for field in fields:
        column = _matching(field, shown, bounds)
        if column is None:
            made.append(field)
            continue
        _, low, high = bounds[column]
        whole = field.dtype.startswith("int")
        limits = [int(one) if whole else float(str(one)) if abs(one) < 1e30 else None for one in (low, high)]
        if None in limits:
            made.append(field)
            continue
        within = all(limits[0] <= value <= limits[1] for value in field.values)
        words = "bounds of the observation space"
        made.append(replace(field, low=limits[0], high=limits[1], why=words) if within else field)
    return made


def flat_parts(observation: Space, seen: Any) -> list[Any]:
    """All numbers of an observation in the order of its parts."""
    plain = observation.plain(seen)
    values = [plain] if observation.single else [plain[part.name] for part in observation.parts]
    return [number for value in values for number in np.asarray(value).ravel().tolist()]


def oddities(values: Any) -> list[str]:
    """Those of nan, -0.0 and inf that occur."""
    array = np.asarray(values, dtype=np.float64)
    zero = bool(np.any((array == 0) & np.signbit(array)))
    found = {"nan": bool(np.isnan(array).any()), "-0.0": zero, "inf": bool(np.isinf(array).any())}
    return [name for name, there in found.items() if there]


def _matching(field: Any, shown: list[list[Any]], bounds: list[Any]) -> int | None:
    if field.shape or field.dtype == "bool":
        return None
    table = np.array(shown, dtype=np.float64)
    values = np.array(field.values, dtype=np.float64)
    for column, (part, _, _) in enumerate(bounds):
        rounded = values.astype(np.float32).astype(np.float64) if part.dtype == "float32" else values
        if len(set(field.values)) > 2 and np.array_equal(rounded, table[:, column]):
            return column
    return None
