"""Recorded actions once more, not quite as they were: some changed, some left out, some repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from simulacrum.contract.schema import Schema
from simulacrum.harness.drivers.basic import Random, choose
from simulacrum.harness.frames import Array, Frame
from simulacrum.harness.recorder import Restart

# How often a step of a sequence is replaced by a random action, left out, or taken once more.
CHANGED, LEFT_OUT, REPEATED = 0.04, 0.03, 0.03


@dataclass(frozen=True)
class Tape:
    """What one row did in an earlier run: its actions, `[T, ...]` or a dict of such, its seed, and its first episode.

    ended: how its first episode ended ("terminated", "truncated" or "both"), "" where it had not. length: of that.
    """

    actions: Any
    seed: int
    ended: str = ""
    length: int = 0


def tapes(actions: Sequence[Any], frames: Sequence[Frame], seeds: Sequence[int], rows: Sequence[int]) -> list[Tape]:
    """The tapes of some rows of a run; `frames` are the batch's, the reset's first."""
    steps = [action for action in actions if not isinstance(action, Restart)]
    if not steps:
        return []
    stacked = _stacked(steps)
    flags = {name: np.stack([frame[name] for frame in frames[1:]]) for name in ("terminated", "truncated")}
    return [_tape(stacked, flags, frames, seeds[row], row) for row in rows]


def _tape(stacked: Any, flags: Mapping[str, Array], frames: Sequence[Frame], seed: int, row: int) -> Tape:
    terminated, truncated = flags["terminated"][:, row], flags["truncated"][:, row]
    ended = np.flatnonzero(np.logical_or(terminated, truncated))
    actions = {k: v[:, row] for k, v in stacked.items()} if isinstance(stacked, Mapping) else stacked[:, row]
    if not len(ended):
        return Tape(actions, seed)
    step = int(ended[0])
    kind = "both" if terminated[step] and truncated[step] else "terminated" if terminated[step] else "truncated"
    return Tape(actions, seed, kind, int(frames[step + 1]["episode_length"][row]))


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
