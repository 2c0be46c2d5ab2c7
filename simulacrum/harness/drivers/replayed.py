"""Recorded actions once more, not quite as they were: some changed, some left out, some repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simulacrum.contract.schema import Schema
from simulacrum.engine.params import row_params
from simulacrum.harness.drivers.basic import Random, choose
from simulacrum.harness.frames import Array, Frame
from simulacrum.harness.recorder import Restart

if TYPE_CHECKING:
    from simulacrum.harness.lockstep import Lockstep

# How often a step of a sequence is replaced by a random action, left out, or taken once more.
CHANGED, LEFT_OUT, REPEATED = 0.04, 0.03, 0.03


@dataclass(frozen=True)
class Tape:
    """What one row did in an earlier run: its actions, `[T, ...]` or a dict of such, its seed, and its first episode.

    params: the row's, by name. ended: how its first episode ended ("terminated", "truncated" or "both"), "" where it
    had not. length: the steps of that episode.
    """

    actions: Any
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ended: str = ""
    length: int = 0


def tapes(lock: Lockstep, seeds: Sequence[int], rows: Sequence[int]) -> list[Tape]:
    """The tapes of some rows of a run; rows that were reset by hand have none that mean the same once more."""
    steps, frames = lock.actions, [batched for _, batched in lock.frames]
    if not steps or any(isinstance(action, Restart) for action in steps):
        return []
    stacked = _stacked(steps)
    flags = {name: np.stack([frame[name] for frame in frames[1:]]) for name in ("terminated", "truncated")}
    return [
        Tape(_row(stacked, row), seeds[row], row_params(lock.env.params, row), *_end(flags, frames, row))
        for row in rows
    ]


def _row(stacked: Any, row: int) -> Any:
    return {k: v[:, row] for k, v in stacked.items()} if isinstance(stacked, Mapping) else stacked[:, row]


def _end(flags: Mapping[str, Array], frames: Sequence[Frame], row: int) -> tuple[str, int]:
    """How the row's first episode ended, and after how many steps; ("", 0) where it had not."""
    terminated, truncated = flags["terminated"][:, row], flags["truncated"][:, row]
    ended = np.flatnonzero(np.logical_or(terminated, truncated))
    if not len(ended):
        return "", 0
    step = int(ended[0])
    kind = "both" if terminated[step] and truncated[step] else "terminated" if terminated[step] else "truncated"
    return kind, int(frames[step + 1]["episode_length"][row])


def params_of(schema: Schema, tapes: Sequence[Tape]) -> dict[str, Array]:
    """The parameters of each tape as arrays `[N]` by name."""
    return {
        name: np.array([tape.params[name] for tape in tapes], dtype=param.field.dtype)
        for name, param in schema.params.items()
    }


class Replayed:
    """Row i plays tape i, changed by chance unless `faithful`; after the tape's end it acts at random."""

    name = "replayed"

    def __init__(self, schema: Schema, tapes: Sequence[Tape], seed: int, *, faithful: bool = False) -> None:
        self.random, self.tapes = Random(schema, len(tapes), seed), list(tapes)
        generator = np.random.default_rng(seed + 1)
        lengths = [_length(tape.actions) for tape in self.tapes]
        self.order = [
            list(range(length)) if faithful else _order(length, generator) for length in lengths
        ]  # the steps of each tape that are played
        most = max(map(len, self.order), default=0)
        self.changed: Array = np.zeros((most, len(tapes)), np.bool_)
        if not faithful:
            self.changed = generator.random(self.changed.shape) < CHANGED

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        """The actions of all rows."""
        fresh = self.random.actions(frame, step)
        playing: Array = np.array([step < len(order) for order in self.order])
        if not playing.any():
            return fresh
        places = [order[step] if on else 0 for order, on in zip(self.order, playing, strict=True)]
        taped = _stacked([_at(tape.actions, place) for tape, place in zip(self.tapes, places, strict=True)])
        return choose(playing & ~self.changed[step], taped, fresh)


def _order(length: int, generator: np.random.Generator) -> list[int]:
    times = np.ones(length, np.int64)
    chance = generator.random(length)
    times[chance < LEFT_OUT] = 0
    times[chance > 1 - REPEATED] = 2
    return np.repeat(np.arange(length), times).tolist()


def _length(actions: Any) -> int:
    return len(next(iter(actions.values())) if isinstance(actions, Mapping) else actions)


def _at(actions: Any, step: int) -> Any:
    if isinstance(actions, Mapping):
        return {key: value[step] for key, value in cast("Mapping[str, Array]", actions).items()}
    return actions[step]


def _stacked(steps: Sequence[Any]) -> Any:
    if isinstance(steps[0], Mapping):
        return {key: np.stack([each[key] for each in steps]) for key in steps[0]}
    return np.stack(steps)
