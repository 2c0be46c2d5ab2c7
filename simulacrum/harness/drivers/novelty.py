"""Restarts from rarely visited states: an archive of kinds of states, and the shortest way to each.

After Go-Explore (Ecoffet, Huizinga, Lehman, Stanley, Clune 2021), which returns to a state before it explores from
there. Returning costs nothing here: the state is loaded into both twins. The rows that are restarted get new seeds, so
that chance goes another way, and both twins are compared on every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulacrum.contract.schema import Schema
from simulacrum.harness.drivers.cells import cells, keys
from simulacrum.harness.frames import Array, Frame
from simulacrum.harness.lockstep import Lockstep
from simulacrum.trace.divergence import Divergence


@dataclass
class Place:
    """The nearest known state of a cell: JSON state, `t` steps into its episode, and how often rows began there."""

    state: Mapping[str, Any]
    t: int
    begun: int = 0
    seen: int = 1


class Archive:
    """A place for each cell that was reached, the one that took the fewest steps of an episode."""

    def __init__(self, schema: Schema, seed: int) -> None:
        self.schema = schema
        self.places: dict[bytes, Place] = {}
        self.generator = np.random.default_rng(seed)

    def add(self, frame: Frame) -> None:
        """Take in the rows of a reference's frame; rows whose episode has ended are no place to begin from."""
        ended: Array = np.logical_or(frame["terminated"], frame["truncated"])
        for row, key in enumerate(keys(cells(self.schema, frame))):
            t, known = int(frame["t"][row]), self.places.get(key)
            if known is not None:
                known.seen += 1
            if not ended[row] and (known is None or t < known.t):
                state = {name: frame[f"state.{name}"][row].tolist() for name in self.schema.state.fields}
                self.places[key] = Place(state, t, known.begun if known else 0, known.seen if known else 1)

    def rare(self, count: int) -> list[Place]:
        """So many places, rarely visited ones more often: weight 1 / sqrt(visits + 1)."""
        places = list(self.places.values())
        visits: Array = np.array([place.seen + place.begun for place in places], dtype=np.float64)
        weights = 1.0 / np.sqrt(visits + 1.0)
        chosen = self.generator.choice(len(places), size=count, p=weights / weights.sum())
        picked = [places[index] for index in chosen.tolist()]
        for place in picked:
            place.begun += 1
        return picked


class LoadedLockstep(Lockstep):
    """Both twins side by side from states that were put into them, instead of from a reset."""

    def begin(self, places: Sequence[Place], seeds: Sequence[int]) -> Divergence | None:
        """Put row i at `places[i]`, with episode 0 of `seeds[i]` for what is drawn from now on, and compare."""
        self.before = None
        self.batch.reset(seed=list(seeds))
        self.env.load_states([place.state for place in places], t=[place.t for place in places])
        observation, info, mask = self.env.core.observe(self.env.state, self.env.params)
        shown = (observation, info if mask is None else {**info, "action_mask": mask})
        batched = self.batch.shown(shown, self.env.state)
        for row, runner in zip(self.chosen, self.reference.runners, strict=True):
            runner.load(places[row].state, t=places[row].t, seed=seeds[row], episode=0)
        reference = self.reference.restart([False] * len(self.chosen), [None] * len(self.chosen))
        return self._compare(reference, batched, None)
