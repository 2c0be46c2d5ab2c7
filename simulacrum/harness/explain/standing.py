"""Where a row stands before a step, as a failure's record or a trajectory says it. Not a line of torch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import SimulacrumError
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.failures import trajectory_file
from simulacrum.trace.files import read_trajectories
from simulacrum.trace.jsonio import BadValue
from simulacrum.trace.trajectory import Start, Step, Trajectory
from simulacrum.trace.values import read_group


@dataclass(frozen=True)
class Standing:
    """Where a row stands before a step, as a record or a trajectory says it; `state` is None at a reset.

    state: plain values by field. action: as the schema's action group holds it in memory. forced: draw slot -> the
    value that both sides take in place of drawing.
    """

    state: Mapping[str, Any] | None
    action: Any
    seed: int
    episode: int
    t: int
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limit: int | None = None
    forced: Mapping[str, Any] = field(default_factory=dict[str, Any])


def for_rows(forced: Mapping[str, Any]) -> dict[str, Any] | None:
    """Values put in place of draws as a batch takes them: those of a slot of several indices are one row's."""
    return {slot: [value] if isinstance(value, list) else value for slot, value in forced.items()} or None


def standing(record: Divergence, package: EnvPackage) -> Standing | None:
    """Where the record's row stood before the step; None where its state or action does not fit the schema now."""
    where, schema = record.configuration, package.schema
    try:
        state = None if record.previous_state is None else read_group(schema.state, record.previous_state)
        action = None if record.action is None else read_group(schema.action, record.action)
    except BadValue:
        return None
    known = {name: value for name, value in where.params.items() if name in schema.params}
    return Standing(
        state, action, record.seed, record.episode, record.t, known, where.max_episode_steps, record.forced
    )


def earlier(record: Divergence, path: Path | None, package: EnvPackage, most: int) -> Iterator[Standing]:
    """Where the row stood before each of the last steps that still agreed, by the reference's trajectory."""
    given = trajectory_of(record, path, package, "reference")
    if given is None:
        return
    moments = [moment for start, steps in given.episodes() for moment in (start, *steps)]
    pairs = [(one, two) for one, two in itertools.pairwise(moments) if isinstance(two, Step)]
    before = [(one, two) for one, two in pairs if (two.episode, two.t) < (record.episode, record.t)]
    for one, two in before[-most:]:
        yield standing_before(given, one, two)


def standing_before(
    given: Trajectory, one: Start | Step, two: Step, forced: Mapping[str, Any] | None = None
) -> Standing:
    """Where a trajectory's row stands before its step `two`, which follows the moment `one`."""
    limit = given.max_episode_steps
    return Standing(one.state, two.action, given.seed, two.episode, two.t, given.params, limit, forced or {})


def trajectory_of(record: Divergence, path: Path | None, package: EnvPackage, side: str) -> Trajectory | None:
    """One side's trajectory up to the divergence; None where there is no file, or none that fits the schema now."""
    file = None if path is None else trajectory_file(path, record, side)
    try:
        return None if file is None else next(iter(read_trajectories(file, package.schema)), None)
    except SimulacrumError:
        return None
