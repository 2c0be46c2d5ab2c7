"""Rules about infos: what the batch of many rows' dicts looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simulacrum.conformance.rule import Broken, NotJudged, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Tape
from simulacrum.conformance.values import is_array, on_host

VECTOR = "VectorEnv, infos; DictInfoToList"


def _dicts(tape: Tape) -> Iterator[tuple[int | None, str, dict[Any, Any]]]:
    """(step, path, dict) of every dict in every info, the reset's first."""
    for number, info in enumerate([tape.info, *(step.info for step in tape.steps)]):
        yield from _nested(number - 1 if number else None, "info", info)


def _nested(step: int | None, path: str, info: Any) -> Iterator[tuple[int | None, str, dict[Any, Any]]]:
    if not isinstance(info, dict):
        return
    yield step, path, info
    for key, value in info.items():
        if key not in ("final_obs", "_final_obs"):  # an observation is nested by its space
            yield from _nested(step, f"{path}.{key}", value)


def _keys(info: dict[Any, Any]) -> list[Any]:
    """The names in a dict that are no mask of another one."""
    return [key for key in info if not (isinstance(key, str) and key[:1] == "_" and key[1:] in info)]


def _judged(subject: Subject) -> Tape:
    tape = subject.tape()
    if not any(_keys(info) for _, _, info in _dicts(tape)):
        raise NotJudged("it gives no infos")
    return tape


@rule("info.masks", "the mask `_key` of an info is one bool a row", VECTOR, "error")
def masks(subject: Subject) -> str:
    tape, count = _judged(subject), 0
    for step, path, info in _dicts(tape):
        for key in _keys(info):
            if f"_{key}" not in info:
                continue
            mask = info[f"_{key}"]
            found = f"{on_host(mask).dtype} {on_host(mask).shape}" if is_array(mask) else type(mask).__name__
            if found != f"bool ({tape.num_envs},)":
                raise Broken("no mask", step=step, field=f"{path}._{key}", found=found,
                             expected=f"bool ({tape.num_envs},)")  # fmt: skip
            count += 1
    if not count:
        raise NotJudged("no info has a mask")
    return f"{count} masks"


@rule(
    "info.has_mask",
    "an info that is not given at every step has a mask `_key` that says in which rows it was set",
    VECTOR,
    "warning",
)
def has_mask(subject: Subject) -> str:
    tape, seen, bare = _judged(subject), dict[str, int](), dict[tuple[str, Any], tuple[int, int]]()
    for step, path, info in _dicts(tape):
        if step is None:
            continue
        seen[path] = seen.get(path, 0) + 1
        for key in _keys(info):
            if f"_{key}" not in info:
                first, count = bare.get((path, key), (step, 0))
                bare[path, key] = first, count + 1
    for (path, key), (step, count) in bare.items():
        if count < seen[path]:
            raise Broken(f"no mask, and given in {count} of {seen[path]} steps alone", step=step,
                         field=f"{path}.{key}", expected=f"_{key}")  # fmt: skip
    return f"{sum(seen.values())} dicts"


@rule("info.rows", "each info is an array with a row for each row of the batch, or a dict of such", VECTOR, "warning")
def rows(subject: Subject) -> str:
    tape, count = _judged(subject), 0
    for step, path, info in _dicts(tape):
        for key in _keys(info):
            value = info[key]
            if isinstance(value, dict) or key == "final_obs":
                continue
            shape = on_host(value).shape if is_array(value) else None
            if shape is None or shape[:1] != (tape.num_envs,):
                found = type(value).__name__ if shape is None else f"shape {shape}"
                raise Broken("no row for each row", step=step, field=f"{path}.{key}", found=found,
                             expected=f"an array of {tape.num_envs} rows")  # fmt: skip
            count += 1
    return f"{count} infos"


@rule(
    "info.masked_values",
    "an array of objects holds something in the rows that its mask marks",
    VECTOR,
    "warning",
)
def masked_values(subject: Subject) -> str:
    tape, count = _judged(subject), 0
    for step, path, info in _dicts(tape):
        for key in _keys(info):
            value, mask = info[key], info.get(f"_{key}")
            if not isinstance(value, np.ndarray) or value.dtype != object or not is_array(mask):
                continue
            for row in np.flatnonzero(on_host(mask).ravel()[: len(value)]):
                if value[row] is None:
                    raise Broken("nothing in a marked row", row=int(row), step=step, field=f"{path}.{key}")
            count += 1
    if not count:
        raise NotJudged("no info is an array of objects")
    return f"{count} arrays of objects"
