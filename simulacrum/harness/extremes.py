"""States to load and dump: visited ones, and every field at the ends of what it may hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simulacrum.contract.fields import INTEGER_RANGES, Field
from simulacrum.contract.schema import Schema
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import StateError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.frames import Array, row_action
from simulacrum.twin import batched, state

Json = dict[str, Any]


def visited_states(bench: Bench, *, rows: int = 5, steps: int = 6) -> list[Json]:
    """What the reference dumps after a reset and after each of some steps, for a few rows."""
    schema = bench.schema
    found: list[Json] = []
    driver = drivers.standard(schema, rows, bench.seed)
    runners = [ReferenceRunner(bench.package, max_episode_steps=schema.max_episode_steps) for _ in range(rows)]
    for runner, seed in zip(runners, seeds_for(rows, bench.seed), strict=True):
        runner.reset(seed)
        found.append(state.dump_state(schema, runner.state))
    for step in range(steps):
        actions = driver.actions({}, step)
        for row, runner in enumerate(runners):
            if not runner.ended:
                runner.step(row_action(schema, actions, row))
                found.append(state.dump_state(schema, runner.state))
    return found


def extreme_states(schema: Schema, base: Json) -> list[Json]:
    """`base` with one field after the other at each of its ends, and with all fields at their ends together."""
    each = {name: ends(field) for name, field in schema.state.items()}
    found = [{**base, name: value} for name, values in each.items() for value in values]
    most = max(map(len, each.values()), default=0)
    together = [{name: values[number % len(values)] for name, values in each.items()} for number in range(most)]
    return found + together


def ends(field: Field) -> list[Any]:
    """Values of the field as nested lists: its bounds, one step inside them, and what its dtype has at the ends."""
    if field.is_bool:
        return [np.full(field.shape, value).tolist() for value in (False, True)]
    low, high = bounds(field)
    if field.is_integer:
        inside = (np.minimum(low + (low < high), high), np.maximum(high - (low < high), low))
        return [value.tolist() for value in (low, high, *inside)]
    kind = np.dtype(field.dtype)
    info = np.finfo(kind)
    special = [info.smallest_subnormal, info.tiny, 0.0, 1.0 / 3.0]
    values: list[Array] = [low, high, np.nextafter(low, high), np.nextafter(high, low)]
    for number in special:
        values += [np.full(field.shape, number, kind), np.full(field.shape, -number, kind)]
    kept = [np.minimum(np.maximum(value, low), high) for value in values]
    if "-0.0" in field.allow:
        kept.append(np.minimum(np.maximum(np.full(field.shape, -0.0, kind), low), high))
    else:
        kept = [value + kind.type(0.0) for value in kept]  # -0.0 becomes 0.0
    kept += [np.full(field.shape, word, kind) for word in ("nan", "inf") if word in field.allow and _open(field, word)]
    return [value.tolist() for value in kept]


def bounds(field: Field) -> tuple[Array, Array]:
    """The lowest and highest value of each element `[*shape]`, the dtype's own where there is no bound."""
    if field.is_float:
        info = np.finfo(np.dtype(field.dtype))
        least, most = info.min, info.max
    else:
        least, most = INTEGER_RANGES.get(field.dtype, (0, 1))
    low = least if field.low is None else field.low
    high = most if field.high is None else field.high
    first: Array = np.broadcast_to(np.array(low, dtype=field.dtype), field.shape)
    last: Array = np.broadcast_to(np.array(high, dtype=field.dtype), field.shape)
    return first, last


def _open(field: Field, word: str) -> bool:
    return word == "nan" or field.high is None


def round_trips(bench: Bench, states: Sequence[Json]) -> list[str]:
    """What does not come back as it went in, through the reference and through the batched twin; [] when all does."""
    schema = bench.schema
    problems: list[str] = []
    given = [spelled(one) for one in states]
    read = [json.loads(text) for text in given]
    try:
        scalar = [state.dump_state(schema, state.load_state(schema, one)) for one in read]
        loaded = batched.load_states(schema, read, bench.device)
        batched.check_state(schema, loaded, len(read))
        env = bench.env(len(read))
        env.load_states(read)
        rows = env.dump_states()
        env.close()
    except StateError as error:
        return [f"schema.json: state: a legal state cannot be loaded; {error}"]
    for text, one, row in zip(given, scalar, rows, strict=True):
        for side, back in (("reference", spelled(one)), ("batched twin", spelled(row))):
            if back != text:
                problems.append(f"schema.json: state: {text} comes back from the {side} as {back}; mend its dtypes")
    return problems


def spelled(one: Mapping[str, Any]) -> str:
    """A state as JSON text, in which -0.0, NaN, True, 1 and 1.0 are five different things."""
    return json.dumps(one, sort_keys=True)
