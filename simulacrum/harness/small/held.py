"""Illegal actions from every state that was met: flagged in each row, and the row is exactly as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulacrum.harness.compare import bits
from simulacrum.harness.drivers import limits, per_field
from simulacrum.harness.frames import Array
from simulacrum.harness.illegal import illegal_values
from simulacrum.harness.small.table import CHUNK, Fast
from simulacrum.trace.values import spell_group
from simulacrum.twin.batched import dump_state


def unheld_anywhere(fast: Fast, places: Sequence[int]) -> tuple[str | None, int]:
    """What an illegal action does at one of these places that it must not, or None; and how many rows were tried."""
    schema, tried = fast.schema, 0
    for name, field in schema.action.items():
        for value in illegal_values(field):
            for start in range(0, len(places), CHUNK):
                sources = places[start : start + CHUNK]
                actions = per_field(schema.action, lambda one: np.stack([limits(one)[0].astype(one.dtype)]))
                actions = _repeated(actions, len(sources))
                own: Array = actions if schema.action.single else actions[name]
                own.reshape(len(sources), -1)[:, -1] = value
                tried += len(sources)
                problem = _unheld(fast, sources, actions)
                if problem is not None:
                    return f"illegal action {value} in {field.path}: {problem}", tried
    return None, tried


def _repeated(actions: Any, count: int) -> Any:
    if isinstance(actions, dict):
        return {name: np.repeat(value, count, axis=0) for name, value in actions.items()}
    return np.repeat(actions, count, axis=0)


def _unheld(fast: Fast, sources: Sequence[int], actions: Any) -> str | None:
    shown, refused = fast.drawn(sources, actions)
    if not refused.all():
        return f"step() accepts it in the state {_state(fast, sources[np.flatnonzero(~refused)[0]])}"
    for name, value in fast.standing(sources).items():
        unequal: Array = bits(value) != bits(shown[name])
        if unequal.any():
            row = np.flatnonzero(unequal.reshape(len(unequal), -1).any(axis=1))[0]
            return f"it changes {name} in the state {_state(fast, sources[row])}"
    return None


def _state(fast: Fast, place: int) -> Any:
    state = fast.state([place]).env
    host = type(state)(*(value.cpu() for value in state))
    return spell_group(fast.schema.state, dump_state(fast.schema, host, 0))
