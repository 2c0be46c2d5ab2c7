"""Actions outside the space: refused by name at the door, and a row that met one is exactly as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from simulacrum.contract.fields import INTEGER_RANGES, Field
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import merge
from simulacrum.errors import ActionError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.drivers import limits
from simulacrum.harness.frames import Array
from simulacrum.harness.purity import print_of

ROWS = 9
CHOSEN = (0, 4, 8)  # the rows that are given an illegal action: the first, one between, the last


def unheld(bench: Bench) -> tuple[str | None, int]:
    """What an illegal action does that it must not, or None; and how many kinds of them were tried."""
    tried = 0
    for name, value, actions in illegal_actions(bench):
        tried += 1
        problem = _door(bench, actions) if torch.device(bench.device).type == "cpu" else None
        problem = problem or _core(bench, actions)
        if problem is not None:
            return f"illegal action {value} in {name}: {problem}", tried
    return None, tried


def illegal_actions(bench: Bench) -> Iterator[tuple[str, Any, Any]]:
    """(field, illegal value, batch of `ROWS` legal actions with that value in the rows `CHOSEN`)."""
    group = bench.schema.action
    for key, field in group.items():
        for value in illegal_values(field):
            actions = drivers.Random(bench.schema, ROWS, bench.seed).actions({}, 0)
            own: Array = actions if group.single else actions[key]
            own.reshape(ROWS, -1)[list(CHOSEN), -1] = value  # its last element, where it has several
            yield (field.path, value, actions)


def illegal_values(field: Field) -> list[Any]:
    """Values that the dtype can hold and the space cannot."""
    low, high = (end.reshape(-1)[-1].item() for end in limits(field))
    if field.is_float:
        values = [np.nan, np.inf, -np.inf]
        kind = np.dtype(field.dtype).type
        if field.high is not None:
            values.append(float(np.nextafter(kind(high), kind(np.inf))))
        if field.low is not None:
            values.append(float(np.nextafter(kind(low), kind(-np.inf))))
        return values
    least, most = INTEGER_RANGES.get(field.dtype, (0, 1))
    return [value for value in (low - 1, high + 1, least, most) if least <= value <= most and not low <= value <= high]


def _door(bench: Bench, actions: Any) -> str | None:
    """Through `step`: an error that names the rows, and nothing stepped."""
    env = bench.env(ROWS)
    env.reset(seed=seeds_for(ROWS, bench.seed))
    before = print_of(env.state)
    try:
        env.step(actions)
    except ActionError as error:
        if not all(str(row) in error.message for row in CHOSEN):
            return f"the error does not name the rows {CHOSEN}: {error.message}"
        return None if print_of(env.state) == before else "it was refused, and the state has changed all the same"
    return "step() accepts it"


def _core(bench: Bench, actions: Any) -> str | None:
    """Through the pure step: the rows are flagged and held, and the other rows do not notice."""
    env = bench.env(ROWS)
    env.reset(seed=seeds_for(ROWS, bench.seed))
    state, wrong = env.state, to_tensors(bench.schema.action, actions, ROWS, env.device)
    legal = to_tensors(
        bench.schema.action, drivers.Random(bench.schema, ROWS, bench.seed).actions({}, 0), ROWS, env.device
    )
    held = torch.zeros(ROWS, dtype=torch.bool, device=env.device)
    held[list(CHOSEN)] = True
    after, out = env.core.step(env.autoreset_mode, state, wrong, env.params)
    normal, _ = env.core.step(env.autoreset_mode, state, legal, env.params)
    if not torch.equal(out.illegal, held):
        return f"flagged are the rows {out.illegal.nonzero().flatten().tolist()}, not {list(CHOSEN)}"
    if print_of(after) != print_of(merge(held, state, normal)):
        return "a row that met it has moved, or a row beside it has noticed"
    quiet = ~(out.terminated | out.truncated) & (out.reward == 0)
    return None if bool(quiet[held].all()) else "a row that met it got a reward or an end"
