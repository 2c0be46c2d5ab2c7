"""Where the reference can stand, each place once: state, clock and parameters, and all that is shown there."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage
from simulacrum.engine.draws import NO_DRAW, draw_layout
from simulacrum.harness.frames import Array, Frame, frame_fields
from simulacrum.harness.small.answers import Book
from simulacrum.twin.checks import Checks
from simulacrum.twin.invariant import invariants_of
from simulacrum.twin.reference import Context, Transition
from simulacrum.twin.state import params_type, params_values

SHOWN = ("state", "observation", "info", "action_mask")  # what a frame holds of a place, beside its clock


class Scalar:
    """The reference twin as plain functions of (state, t, parameters); results checked against the schema.

    params: the sets of parameters that are stepped with, by name; the first is the defaults.
    """

    def __init__(self, package: EnvPackage, params: Sequence[Mapping[str, Any]] = ({},)) -> None:
        self.schema = package.schema
        self.env = package.reference()
        self.layout = draw_layout(self.schema)
        self.checks = Checks(self.schema)
        kind = params_type(self.schema)
        self.params = [kind(**params_values(self.schema, given)) for given in params]
        self._invariants = [getattr(self.env, one.method) for one in invariants_of(self.env)]

    def reset(self, draw: Any, p: int = 0) -> Any:
        """The state an episode starts from, the draws being answered by `draw`."""
        return self.checks.state(self.env.reset(Context(draw, 0, self.params[p])))

    def step(self, state: Any, t: int, action: Any, draw: Any, p: int = 0) -> tuple[Any, float, bool, bool]:
        """(next state, reward, terminated, truncated by a rule) of one transition; `Nodes` checks the state."""
        made: Transition = self.env.step(state, action, Context(draw, t, self.params[p]))
        return made.state, self.checks.reward(made.reward), bool(made.terminated), bool(made.truncated)

    def holds(self, state: Any, t: int, p: int = 0) -> bool:
        """Whether every invariant accepts the state there."""
        ctx = Context(NO_DRAW, t, self.params[p])
        return all(invariant(state, ctx) for invariant in self._invariants)


class Nodes:
    """Every place met, numbered in the order of meeting; `frame` gives any of them as arrays.

    book: what an equal reference showed in an earlier run.
    """

    def __init__(self, scalar: Scalar, book: Book | None = None) -> None:
        self.scalar, schema = scalar, scalar.schema
        self._book = book
        self.fields: dict[str, Field] = {
            name: field for name, field in frame_fields(schema).items() if name.partition(".")[0] in SHOWN
        }
        self.places: list[tuple[int, int, Any]] = []  # (number of the parameters, t, state)
        self._numbers: dict[Any, int] = {}
        self._columns: dict[str, list[Any]] = {name: [] for name in self.fields}
        self._arrays: dict[str, Array] = {
            name: np.zeros((0, *field.shape), field.dtype) for name, field in self.fields.items()
        }
        # Equal numbers need not be equal bits: where -0.0 or NaN may occur, a state is known by its text.
        self._by_text = any({"-0.0", "nan"} & field.allow for field in schema.state.values())

    def __len__(self) -> int:
        return len(self.places)

    def number(self, state: Any, t: int, p: int = 0) -> int:
        """The number of a place, a new one where it was not met before.

        Raises `TwinError` for a state that the schema does not allow. One that equals an earlier one is not looked at
        again: that takes longer than the step did.
        """
        try:
            found = None if self._by_text else self._numbers.get((p, t, state))
        except TypeError:  # lists, arrays: the check makes tuples of them
            found = None
        if found is not None:
            return found
        state = self.scalar.checks.state(state)
        key = self.key(state, t, p)
        found = self._numbers.get(key)
        if found is None:
            # May raise: until here nothing is kept.
            shown = (
                self._shown(state, t, p) if self._book is None
                else self._book.one(("shown", key), lambda: self._shown(state, t, p))
            )  # fmt: skip
            for name, column in self._columns.items():
                column.append(shown[name])
            found = self._numbers[key] = len(self.places)
            self.places.append((p, t, state))
        return found

    def key(self, state: Any, t: int, p: int) -> tuple[int, int, Any]:
        """What tells a place from others; `state` is one that the schema allows."""
        return p, t, repr(state) if self._by_text else state

    def _shown(self, state: Any, t: int, p: int) -> dict[str, Any]:
        """All that is shown of a place, by the names of a frame."""
        env, checks = self.scalar.env, self.scalar.checks
        schema, ctx = self.scalar.schema, Context(NO_DRAW, t, self.scalar.params[p])
        shown = {f"state.{name}": value for name, value in zip(state._fields, state, strict=True)}
        observation = checks.observation(env.observe(state, ctx))
        if schema.observation.single:
            shown["observation"] = observation
        else:
            shown |= {f"observation.{name}": value for name, value in observation.items()}
        if schema.info.fields:
            shown |= {f"info.{name}": value for name, value in checks.info(env.info(state, ctx)).items()}
        if checks.action_mask is not None:
            shown["action_mask"] = checks.action_mask(env.action_mask(state, ctx))
        return shown

    def frame(self, numbers: Array) -> Frame:
        """All that is shown at these places, arrays `[len(numbers), ...]` by the names of a frame, and `t`."""
        for name, field in self.fields.items():
            fresh = self._columns[name]
            if fresh:
                self._arrays[name] = np.concatenate([self._arrays[name], column(field, fresh)])
                fresh.clear()
        frame: Frame = {name: array[numbers] for name, array in self._arrays.items()}
        frame["t"] = np.array([self.places[number][1] for number in numbers], np.int32)
        return frame


def column(field: Field, values: Sequence[Any]) -> Array:
    """Scalars or nested tuples, one a row, as an array `[N, *shape]` of the field's dtype."""
    flat: Any = values
    for _ in field.shape:
        flat = itertools.chain.from_iterable(flat)
    made = np.fromiter(flat, dtype=field.dtype, count=len(values) * field.size)
    return made.reshape(len(values), *field.shape)
