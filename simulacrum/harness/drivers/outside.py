"""Actions just outside the space in the midst of a rollout: refused by name, and nothing moves in either twin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from simulacrum.engine.single import SimulacrumEnv
from simulacrum.errors import ActionError
from simulacrum.harness.frames import Array
from simulacrum.harness.illegal import CHOSEN
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.purity import print_of


def deciding(lock: Lockstep) -> list[int]:
    """The rows of `CHOSEN` whose next action counts: those whose episode goes on."""
    ended: Array = lock.env.state.ended.cpu().numpy()
    return [row for row in CHOSEN if not ended[row]]


def refusal(lock: Lockstep, single: SimulacrumEnv, actions: Any) -> str | None:
    """What goes wrong when both sides are given a batch that is illegal in the rows `CHOSEN`, or None.

    At least one of these rows must be `deciding`.

    `single` is an env of the package that stands in for each of those rows' references in turn. Where all is well
    nothing has moved, and the rollout goes on from where it stood.
    """
    before, stood = print_of(lock.env.state), [runner.save() for runner in lock.reference.runners]
    try:
        lock.env.step(actions)
    except ActionError as error:
        named = set(map(int, re.findall(r"\d+", error.message)))
        unnamed = [row for row in deciding(lock) if row not in named]
        if unnamed:
            return f"the batch's error does not name the rows {unnamed}: {error.message}"
    else:
        return "the batch's step() accepts it"
    if print_of(lock.env.state) != before:
        return "the batch refused it, and its state has changed all the same"
    for row in deciding(lock):
        problem = _single(single, stood[lock.places[row]], _row(actions, row))
        if problem is not None:
            return problem
    return None


def _single(single: SimulacrumEnv, stood: Mapping[str, Any], action: Any) -> str | None:
    single.runner.restore(stood)
    try:
        single.step(action)
    except ActionError:
        same = repr(single.runner.save()) == repr(stood)  # a NaN equals no NaN, but its text does
        return None if same else "the single environment refused it, and its state has changed all the same"
    return "the single environment's step() accepts it"


def _row(actions: Any, row: int) -> Any:
    """One row's action as a member of a Gymnasium space would be: a NumPy scalar or array, or a dict of such."""
    if isinstance(actions, Mapping):
        return {key: _row(value, row) for key, value in cast("Mapping[str, Array]", actions).items()}
    return np.asarray(actions[row]) if actions.ndim > 1 else actions[row]
