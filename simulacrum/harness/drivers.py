"""Where actions come from: random, edges of the space, runs of one action, and the package's scripted policies.

A driver gives a whole batch of actions as NumPy arrays of the schema's dtypes. `Mixed` lets every row follow its own
driver, so that one batch holds rows that end early, rows that run into the limit, and rows at the walls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.harness.frames import Frame

# A float action without bounds is drawn from this range: wide, and far from overflow.
UNBOUNDED = 1e3


class Driver(Protocol):
    """Gives actions for all rows; `frame` is the last frame, `step` counts from 0."""

    name: str

    def actions(self, frame: Frame, step: int) -> Any: ...


def limits(field: Field) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest legal value of each element of an action field, both included."""
    if field.space == "MultiDiscrete":
        high = np.array(field.nvec) - 1
        return np.zeros_like(high), high
    low = -UNBOUNDED if field.low is None else field.low
    high = UNBOUNDED if field.high is None else field.high
    kind = field.dtype
    return np.broadcast_to(np.array(low, dtype=kind), field.shape), np.broadcast_to(np.array(high, dtype=kind), field.shape)


def _per_field(group: Group, make: Callable[[Field], np.ndarray]) -> Any:
    if group.single:
        return make(group.leaf)
    return {name: make(field) for name, field in group.fields.items()}


class Random:
    """Uniform over the action space, every row and step anew."""

    name = "random"

    def __init__(self, schema: Schema, num_envs: int, seed: int) -> None:
        self.group, self.num_envs = schema.action, num_envs
        self.generator = np.random.default_rng(seed)

    def actions(self, frame: Frame, step: int) -> Any:
        return _per_field(self.group, self._draw)

    def _draw(self, field: Field) -> np.ndarray:
        low, high = limits(field)
        shape = (self.num_envs, *field.shape)
        if field.is_float:
            share = self.generator.random(shape)
            return np.clip((low + share * (high.astype(np.float64) - low)).astype(field.dtype), low, high)
        return self.generator.integers(low, high, size=shape, endpoint=True).astype(field.dtype)


class Edge:
    """Only the ends of the space: each element lowest or highest, held for runs of random length."""

    name = "edge"

    def __init__(self, schema: Schema, num_envs: int, seed: int) -> None:
        self.group, self.num_envs = schema.action, num_envs
        self.generator = np.random.default_rng(seed)
        self.left = np.zeros(num_envs, dtype=np.int64)
        self.held: Any = None

    def actions(self, frame: Frame, step: int) -> Any:
        renew = self.left <= 0
        fresh = _per_field(self.group, self._draw)
        self.held = fresh if self.held is None else _choose(renew, fresh, self.held)
        self.left = np.where(renew, self.generator.integers(1, 12, self.num_envs), self.left - 1)
        return self.held

    def _draw(self, field: Field) -> np.ndarray:
        low, high = limits(field)
        top = self.generator.random((self.num_envs, *field.shape)) < 0.5
        return np.where(top, high, low).astype(field.dtype)


class Constant:
    """Row i always takes the same action: action i modulo the number of actions (ends and middle of a Box)."""

    name = "constant"

    def __init__(self, schema: Schema, num_envs: int, seed: int) -> None:
        self.rows = np.arange(num_envs) + seed
        self.group = schema.action

    def actions(self, frame: Frame, step: int) -> Any:
        return _per_field(self.group, self._value)

    def _value(self, field: Field) -> np.ndarray:
        low, high = limits(field)
        rows = self.rows.reshape(-1, *([1] * len(field.shape)))
        if field.is_float:
            share = (rows % 5) / 4.0
            return np.clip((low + share * (high.astype(np.float64) - low)).astype(field.dtype), low, high)
        return (low + rows % (high.astype(np.int64) - low + 1)).astype(field.dtype)


class Scripted:
    """One of the package's probes, fed with what the reference showed. Exact, so it can drive both twins.

    `rows_of_frame` turns the frame into (observation, state, t) per row in the reference's own types.
    """

    def __init__(self, name: str, act: Callable[[Any, Any, int], Any], schema: Schema, read: Callable[[], Sequence[Any]]):
        self.name, self.act, self.schema, self.read = name, act, schema, read

    def actions(self, frame: Frame, step: int) -> Any:
        chosen = [self.act(*row) for row in self.read()]
        if self.schema.action.single:
            return np.array(chosen, dtype=self.schema.action.leaf.dtype)
        return {k: np.array([c[k] for c in chosen], dtype=f.dtype) for k, f in self.schema.action.fields.items()}


class Mixed:
    """Row i follows driver i modulo their number."""

    def __init__(self, drivers: Sequence[Driver], num_envs: int) -> None:
        self.drivers = list(drivers)
        self.name = "+".join(driver.name for driver in self.drivers)
        self.owner = np.arange(num_envs) % len(self.drivers)

    def actions(self, frame: Frame, step: int) -> Any:
        result = self.drivers[0].actions(frame, step)
        for number, driver in enumerate(self.drivers[1:], start=1):
            result = _choose(self.owner == number, driver.actions(frame, step), result)
        return result


def _choose(rows: np.ndarray, yes: Any, no: Any) -> Any:
    if isinstance(yes, dict):
        return {key: _choose(rows, yes[key], no[key]) for key in yes}
    return np.where(rows.reshape(-1, *([1] * (yes.ndim - 1))), yes, no)


def standard(schema: Schema, num_envs: int, seed: int) -> Mixed:
    """Random, edge and constant rows side by side: what most checks drive with."""
    kinds = (Random, Edge, Random, Constant)
    return Mixed([kind(schema, num_envs, seed + i) for i, kind in enumerate(kinds)], num_envs)
