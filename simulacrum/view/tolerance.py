"""What a schema tolerates: values of the batched side that differ, but within the tolerance that a field declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from simulacrum.contract.fields import Field, Group, Tolerance
from simulacrum.contract.schema import Schema
from simulacrum.harness.compare import compare_field
from simulacrum.harness.page.story import Moment, key_of
from simulacrum.trace.trajectory import Start, Step, Trajectory

M = TypeVar("M", bound="Start | Step")
_GROUPS = ("state", "observation", "info")


def tolerates(schema: Schema) -> bool:
    """Whether any field of the schema declares a tolerance."""
    fields = [schema.reward, *(field for name in _GROUPS for field in getattr(schema, name).values())]
    return any(field.tolerance is not None for field in fields)


def forgiven(reference: Moment, batched: M, schema: Schema) -> M:
    """The batched moment with each value that is within its field's tolerance put to the reference's.

    What still differs is what the battery would call a difference. Both moments fit the schema.
    """
    if not tolerates(schema):
        return batched
    changes: dict[str, Any] = {}
    for name in _GROUPS:
        changes[name] = _group(getattr(schema, name), getattr(reference, name), getattr(batched, name))
    if isinstance(reference, Step) and isinstance(batched, Step):
        changes["reward"] = _value(schema.reward, reference.reward, batched.reward)
    return replace(batched, **changes)


def forgiven_all(reference: Trajectory, batched: Trajectory, schema: Schema) -> Trajectory:
    """The batched trajectory, each of its moments forgiven beside the reference's of the same episode and time."""
    if not tolerates(schema):
        return batched
    there = {key_of(moment): moment for moment in (*reference.starts, *reference.steps)}

    def one(moment: M) -> M:
        beside = there.get(key_of(moment))
        return moment if beside is None else forgiven(beside, moment, schema)

    return replace(batched, starts=tuple(map(one, batched.starts)), steps=tuple(map(one, batched.steps)))


def told(tolerance: Tolerance | None) -> str:
    """A tolerance in words, such as "4 ulp or 1e-06 + 1e-05 of it"; empty for none."""
    if tolerance is None:
        return ""
    parts = [f"{tolerance.ulp} ulp" if tolerance.ulp else ""]
    size = f"{tolerance.atol:g}" if tolerance.atol else "", f"{tolerance.rtol:g} of it" if tolerance.rtol else ""
    parts.append(" + ".join(filter(None, size)))
    return " or ".join(filter(None, parts))


def flat(value: Any) -> Iterator[Any]:
    """The items of a nested list, row by row; a scalar is its one item."""
    if isinstance(value, (list, tuple)):
        for item in cast("list[Any]", value):
            yield from flat(item)
    else:
        yield value


def _group(fields: Group, left: Any, right: Any) -> Any:
    if fields.single:
        return _value(fields.leaf, left, right)
    return {name: _value(field, left[name], right[name]) for name, field in fields.items()}


def _value(field: Field, left: Any, right: Any) -> Any:
    """`right` with the items that are within the tolerance taken from `left`."""
    if field.tolerance is None:
        return right
    ours, theirs = list(flat(left)), list(flat(right))
    # Each item as a row of its own, so that the battery's comparator names every one that is outside.
    left_array, right_array = (np.array(items, field.dtype) for items in (ours, theirs))
    found = compare_field(field.path, left_array, right_array, replace(field, shape=()))
    for row in [] if found is None else found.rows.tolist():
        ours[row] = theirs[row]
    return _nested(right, iter(ours))


def _nested(like: Any, items: Iterator[Any]) -> Any:
    """The items in the nesting of another value."""
    return [_nested(item, items) for item in cast("list[Any]", like)] if isinstance(like, list) else next(items)
