"""M8: the same actions in another form give the same step, and the caller's array stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from simulacrum.contract.fields import Field
from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.drivers import limits
from simulacrum.harness.frames import Array, BatchSide
from simulacrum.harness.recording import Recording, explain, parting, record
from simulacrum.harness.world import World

Form = Callable[[Array], Any]  # from an array of the schema's dtype, own memory, to the form
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")


def action_forms(bench: Bench, world: World, first: Recording) -> Outcome:
    """Another form in every step of the first rollout, then one action for all rows that only looks like many."""
    forms = forms_of(bench)
    used: list[str] = []
    again, edited = _run(world, forms, used)
    rows = range(world.size)
    counted: dict[str, Any] = {"compared_transitions": again.transitions, "forms": len(forms)}
    if edited:
        return failed(edited, **counted)
    parted = parting(bench, first, again, rows, rows)
    if parted is None:
        plain, flat = _alike(world)
        counted["compared_transitions"] += flat.transitions
        parted, used = parting(bench, plain, flat, rows, rows), ["one action, expanded to all rows"] * len(flat.actions)
        first, again = plain, flat
    if parted is None:
        return passed(f"{len(forms) + 1} forms of actions", **counted)
    what = used[max(parted.frame - 1, 0)]
    notes = (f"the actions were given as {what}",)
    found = explain(bench, parted, first, again, rows, rows, side="plain actions", notes=notes)
    return failed(f"{found.difference.path} of row {found.row}; {notes[0]}", found, **counted)


def _run(world: World, forms: Mapping[str, Form], used: list[str]) -> tuple[Recording, str]:
    """(the rollout, the form that a step has edited or "")."""
    env = world.bench.env(world.size, limit=world.limit, params=world.params)
    side, again = BatchSide(env), Recording(env, world.seeds, list(world.actions))
    again.states.append(None)
    again.frames.append(side.reset(seed=world.seeds))
    names = list(forms)
    for step, actions in enumerate(world.actions):
        name = names[step % len(names)]
        used.append(name)
        given = _each(actions, forms[name])
        before = _spelled(given)
        again.states.append(env.state)
        again.frames.append(side.step(given))
        if _spelled(given) != before:
            return again, f"step() edits the caller's actions, given as {name}"
    return again, ""


def _alike(world: World) -> tuple[Recording, Recording]:
    """One row's actions for all rows: as arrays of their own, and as one number that is shown N times."""
    rows = np.zeros(world.size, dtype=np.int64)
    plain = [_each(actions, lambda value: value[rows]) for actions in world.actions[:8]]
    flat = [
        _each(actions, lambda value: torch.from_numpy(value[:1].copy()).expand(world.size, *value.shape[1:]))
        for actions in world.actions[:8]
    ]

    def run(actions: list[Any]) -> Recording:
        return record(world.bench.env(world.size, limit=world.limit, params=world.params), world.seeds, actions)

    return run(plain), run(flat)


def forms_of(bench: Bench) -> dict[str, Form]:
    """Every form by name: containers and layouts, and the other dtypes that hold all actions of the space."""
    found: dict[str, Form] = {
        "a tensor": lambda value: torch.from_numpy(value.copy()),
        "a read-only array": _read_only,
        "every second row of an array": lambda value: np.repeat(value, 2, axis=0)[::2],
        "every second row of a tensor": lambda value: torch.from_numpy(np.repeat(value, 2, axis=0))[::2],
        "a column of a wider tensor": _column,
        "an array from the last row to the first": lambda value: value[::-1].copy()[::-1],
        "an array of the other byte order": lambda value: value.astype(value.dtype.newbyteorder()),
        "nested lists": lambda value: value.tolist(),
    }
    fields = list(bench.schema.action.fields.values())
    if all(field.is_integer for field in fields):
        for dtype in INTEGERS:
            if all(_holds(field, dtype) for field in fields):
                found[f"an array of {dtype}"] = lambda value, dtype=dtype: value.astype(dtype)
                found[f"a tensor of {dtype}"] = lambda value, dtype=dtype: torch.from_numpy(value.astype(dtype))
    elif all(field.is_float and np.dtype(field.dtype).itemsize <= 4 for field in fields):
        found["an array of float64"] = lambda value: value.astype(np.float64)
        found["a tensor of float64"] = lambda value: torch.from_numpy(value.astype(np.float64))
    return found


def _holds(field: Field, dtype: str) -> bool:
    """Whether every action of the field's space is a number of the dtype."""
    low, high = limits(field)
    info = np.iinfo(dtype)
    return int(low.min()) >= info.min and int(high.max()) <= info.max


def _read_only(value: Array) -> Array:
    kept = value.copy()
    kept.flags.writeable = False
    return kept


def _column(value: Array) -> torch.Tensor:
    """A tensor whose rows do not lie beside each other, nor the elements of a row."""
    return torch.from_numpy(np.stack([value, value], axis=-1))[..., 0]


def _each(actions: Any, form: Form) -> Any:
    return {name: form(value) for name, value in actions.items()} if isinstance(actions, dict) else form(actions)


def _spelled(given: Any) -> list[bytes]:
    """The bytes of what was given."""
    values = list(given.values()) if isinstance(given, dict) else [given]
    return [np.asarray(value).tobytes() for value in values]
