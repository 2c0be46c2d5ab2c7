"""The batched twin: the same rules on tensors with a leading `[N]`, as pure functions.

    class ToyWalk(BatchedEnv):
        def reset(self, ctx): ...                       # State of tensors [N, ...]
        def step(self, state, action, ctx): ...         # Transition of tensors [N, ...]
        def observe(self, state, ctx): ...              # tensor [N, ...] or a dict of them

Nothing is changed in place and no Python branch looks at a value, so that a step is one graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.errors import StateError, TwinError
from simulacrum.twin.invariant import invariant, invariants_of
from simulacrum.twin.reference import Context, Transition
from simulacrum.twin.state import load_state, state_type

__all__ = [
    "BatchedEnv",
    "Context",
    "Transition",
    "check_group",
    "dump_state",
    "invariant",
    "invariants_of",
    "load_states",
    "torch_dtype",
]

_DTYPES: dict[str, torch.dtype] = {
    "bool": torch.bool,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "float32": torch.float32,
    "float64": torch.float64,
}


def torch_dtype(name: str) -> torch.dtype:
    """The torch dtype of a schema's `x-dtype`."""
    return _DTYPES[name]


class BatchedEnv:
    """Base of all batched twins. `self.State` builds a state of tensors; `self.schema` is the parsed schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.State = state_type(schema)

    def reset(self, ctx: Context) -> Any:
        """First states `[N, ...]` for all rows. `ctx.draw` serves the slots declared for reset; `ctx.t` is 0."""
        raise NotImplementedError(f"{type(self).__name__}.reset")

    def step(self, state: Any, action: Any, ctx: Context) -> Transition:
        """Next state, reward `[N]`, terminated `[N]` and, where the rules cut episodes, truncated `[N]`."""
        raise NotImplementedError(f"{type(self).__name__}.step")

    def observe(self, state: Any, ctx: Context) -> Any:
        """The observation `[N, ...]`, or a dict of tensors for a Dict space."""
        raise NotImplementedError(f"{type(self).__name__}.observe")

    def action_mask(self, state: Any, ctx: Context) -> torch.Tensor:
        """bool `[N, actions]`, True where an action is allowed. Called only when the schema declares it."""
        raise NotImplementedError(f"{type(self).__name__}.action_mask")

    def info(self, state: Any, ctx: Context) -> dict[str, torch.Tensor]:
        """Task metrics `[N, ...]`, with exactly the names the schema declares under `info`."""
        return {}


def check_group(group: Group, value: Any, num_envs: int) -> None:
    """Raise `TwinError` unless `value` has the keys, dtypes and shapes `[N, *shape]` of `group`. Metadata only."""
    if group.single:
        check_field(group.leaf, value, num_envs)
        return
    if not isinstance(value, Mapping) or set(value) != set(group.fields):
        found = sorted(str(key) for key in value) if isinstance(value, Mapping) else type(value).__name__
        raise TwinError(
            f"{group.name} has other keys than the schema", expected=sorted(group.fields), found=found, where=group.name
        )
    for name, field in group.fields.items():
        check_field(field, value[name], num_envs)


def check_state(schema: Schema, state: Any, num_envs: int) -> None:
    """Raise `TwinError` unless `state` is the State struct with every field's dtype and shape right."""
    names = tuple(schema.state.fields)
    if not isinstance(state, tuple) or getattr(state, "_fields", None) != names:
        raise TwinError(
            "the batched twin returned something that is not its State struct",
            expected=f"self.State({', '.join(names)})",
            found=type(state).__name__,
            where="state",
        )
    for field, value in zip(schema.state.fields.values(), state, strict=True):
        check_field(field, value, num_envs)


def check_field(field: Field, value: Any, num_envs: int) -> None:
    """Raise `TwinError` unless `value` is a tensor `[N, *field.shape]` of the field's dtype. Metadata only."""
    shape, dtype = (num_envs, *field.shape), torch_dtype(field.dtype)
    if not isinstance(value, torch.Tensor):
        raise TwinError(
            f"{field.path} is not a tensor", expected=f"{dtype} {list(shape)}", found=repr(value), where=field.path
        )
    if tuple(value.shape) != shape or value.dtype != dtype:
        raise TwinError(
            f"{field.path} has the wrong shape or dtype in the batched twin",
            expected=f"{dtype} {list(shape)}",
            found=f"{value.dtype} {list(value.shape)}",
            where=field.path,
        )


def load_states(schema: Schema, rows: Sequence[Mapping[str, Any]], device: torch.device | str = "cpu") -> Any:
    """A State of tensors `[len(rows), ...]` from JSON dicts, one a row. `StateError` names row and field."""
    if not rows:
        raise StateError("no states given", expected="at least one", found="an empty list", where=schema.name)
    scalars: list[Any] = []
    for row, data in enumerate(rows):
        try:
            scalars.append(load_state(schema, data))
        except StateError as error:  # noqa: PERF203 -- the row belongs in the message
            raise StateError(
                f"row {row}: {error.message}", expected=error.expected, found=error.found, where=error.where
            ) from None
    columns = [
        torch.tensor([state[i] for state in scalars], dtype=torch_dtype(field.dtype), device=device)
        for i, field in enumerate(schema.state.fields.values())
    ]
    return state_type(schema)(*columns)


def dump_state(schema: Schema, state: Any, row: int) -> dict[str, Any]:
    """One row of a batched state as a JSON-able dict, equal to what the reference's dump gives for it."""
    return {name: value[row].tolist() for name, value in zip(schema.state.fields, state, strict=True)}
