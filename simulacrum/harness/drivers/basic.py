"""Where actions come from: random, edges of the space, one action for good, and the package's scripted policies.

A driver gives a whole batch of actions as NumPy arrays of the schema's dtypes. `Mixed` lets every row follow its
own driver, so that one batch holds rows that end early, rows that run into the limit, and rows at the walls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.harness.frames import Array, Frame

# A float action without bounds is drawn from this range: wide, and far from overflow.
UNBOUNDED = 1e3


class Driver(Protocol):
    """Gives actions for all rows.

    `frame` is the last frame, `step` counts from 0. `rows` (bool `[N]`) names the rows whose action will be used,
    None all of them; the others may hold any legal action.
    """

    name: str

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any: ...


def limits(field: Field) -> tuple[Array, Array]:
    """The lowest and highest legal value of each element of an action field, both included."""
    if field.space == "MultiDiscrete":
        top: Array = np.array(field.nvec) - 1
        return np.zeros_like(top), top
    low = -UNBOUNDED if field.low is None else field.low
    high = UNBOUNDED if field.high is None else field.high
    ends = (np.broadcast_to(np.array(end, dtype=field.dtype), field.shape) for end in (low, high))
    first, last = ends
    return first, last


def per_field(group: Group, make: Callable[[Field], Any]) -> Any:
    """`make` of the one field, or a dict of it for each field."""
    if group.single:
        return make(group.leaf)
    return {name: make(field) for name, field in group.fields.items()}


class Random:
    """Uniform over the action space, every row and step anew."""

    name = "random"

    def __init__(self, schema: Schema, num_envs: int, seed: int) -> None:
        self.group, self.num_envs = schema.action, num_envs
        self.generator = np.random.default_rng(seed)

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        return per_field(self.group, self._draw)

    def _draw(self, field: Field) -> Array:
        low, high = limits(field)
        shape = (self.num_envs, *field.shape)
        if field.is_float:
            return _between(field, low, high, self.generator.random(shape))
        return self.generator.integers(low, high, size=shape, endpoint=True).astype(field.dtype)


class Edge:
    """Only the ends of the space: each element lowest or highest, held for runs of random length."""

    name = "edge"

    def __init__(self, schema: Schema, num_envs: int, seed: int) -> None:
        self.group, self.num_envs = schema.action, num_envs
        self.generator = np.random.default_rng(seed)
        self.left: Array = np.zeros(num_envs, dtype=np.int64)
        self.held: Any = None

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        """An end for each element, held for 2 to 12 steps; all rows count on, whichever `rows` names."""
        renew = self.left <= 0
        fresh = per_field(self.group, self._draw)
        self.held = fresh if self.held is None else choose(renew, fresh, self.held)
        self.left = np.where(renew, self.generator.integers(1, 12, self.num_envs), self.left - 1)
        return self.held

    def _draw(self, field: Field) -> Array:
        low, high = limits(field)
        top = self.generator.random((self.num_envs, *field.shape)) < 0.5
        return np.where(top, high, low).astype(field.dtype)


class Constant:
    """Row i always takes the same action: action i modulo the number of actions (ends and middle of a Box)."""

    name = "constant"

    def __init__(self, schema: Schema, num_envs: int, seed: int) -> None:
        self.rows: Array = np.arange(num_envs) + seed
        self.group = schema.action

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        return per_field(self.group, self._value)

    def _value(self, field: Field) -> Array:
        low, high = limits(field)
        number = self.rows.reshape(-1, *([1] * len(field.shape)))
        if field.is_float:
            return _between(field, low, high, (number % 5) / 4.0)
        span = high.astype(np.int64) - low + 1
        return np.broadcast_to(low + number % span, (len(number), *field.shape)).astype(field.dtype)


def _between(field: Field, low: Array, high: Array, share: Array) -> Array:
    """From `low` (share 0) to `high` (share 1), without an overflow where they lie as far apart as can be."""
    wide_low, wide_high = low.astype(np.float64), high.astype(np.float64)
    values: Array = (wide_low * (1.0 - share) + wide_high * share).astype(field.dtype)
    return np.maximum(np.minimum(values, high), low)


# What a policy sees of a row: (observation, state, t) in the reference's types; None where the row needs no action.
Reading = tuple[Any, Any, int]


class Scripted:
    """One of the package's probes, asked row by row; `read` gives what it sees of a row."""

    def __init__(
        self,
        name: str,
        act: Callable[[Any, Any, int], Any],
        schema: Schema,
        num_envs: int,
        read: Callable[[int], Reading | None],
    ) -> None:
        self.name, self.act, self.group, self.num_envs, self.read = name, act, schema.action, num_envs, read

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        """The policy's actions for `rows`; the lowest legal one elsewhere, and in rows that need none."""
        wanted = range(self.num_envs) if rows is None else np.flatnonzero(rows).tolist()
        result = per_field(self.group, self._lowest)
        for row in wanted:
            reading = self.read(row)
            if reading is not None:
                self._put(result, row, self.act(*reading))
        return result

    def _lowest(self, field: Field) -> Array:
        return np.broadcast_to(limits(field)[0], (self.num_envs, *field.shape)).astype(field.dtype)

    def _put(self, result: Any, row: int, action: Any) -> None:
        if self.group.single:
            result[row] = action
            return
        for name in self.group.fields:
            result[name][row] = action[name]


class Mixed:
    """Row i follows driver i modulo their number."""

    def __init__(self, drivers: Sequence[Driver], num_envs: int) -> None:
        self.drivers = list(drivers)
        self.name = "+".join(driver.name for driver in self.drivers)
        self.owner: Array = np.arange(num_envs) % len(self.drivers)

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        """Each row's action from its own driver; a driver is told which of its own rows are asked for."""
        result: Any = None
        for number, driver in enumerate(self.drivers):
            own = self.owner == number
            given = driver.actions(frame, step, own if rows is None else own & rows)
            result = given if result is None else choose(own, given, result)
        return result


def choose(rows: Array, yes: Any, no: Any) -> Any:
    """The actions `yes` in the rows of the mask, `no` elsewhere."""
    if isinstance(yes, Mapping):
        named = cast("Mapping[str, Array]", yes)
        return {key: choose(rows, value, no[key]) for key, value in named.items()}
    return np.where(rows.reshape(-1, *([1] * (yes.ndim - 1))), yes, no)


def standard(schema: Schema, num_envs: int, seed: int) -> Mixed:
    """Random, edge and constant rows side by side: what most checks drive with."""
    kinds = (Random, Edge, Random, Constant)
    return Mixed([kind(schema, num_envs, seed + i) for i, kind in enumerate(kinds)], num_envs)
