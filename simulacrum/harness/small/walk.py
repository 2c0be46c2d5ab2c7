"""All that can happen in a small configuration, breadth first, and both twins held against each other on all of it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench
from simulacrum.harness.frames import Array, Frame
from simulacrum.harness.small.comparison import Comparison
from simulacrum.harness.small.held import unheld_anywhere


@dataclass(frozen=True)
class Budget:
    """How much of a model is walked before it counts as too large."""

    transitions: int
    seconds: float  # of processor time: what else the machine does must not change the outcome


@dataclass
class Depth:
    """A row of the table: the states `depth` steps after a start, and the transitions from them."""

    depth: int
    states: int = 0
    transitions: int = 0
    terminated: int = 0
    truncated: int = 0


class Walk(Comparison):
    """The walk over one configuration: `run`, then look at `found`, `problem` and `complete`."""

    def __init__(
        self, bench: Bench, package: EnvPackage, budget: Budget, small: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(bench, package, small=small)
        self.budget = budget
        self.depths: list[Depth] = []
        self.cut = False  # the budget is used up
        self.illegal = 0  # illegal actions tried
        self.sets: dict[str, list[Array]] = {"reference": [], "batched": []}
        self._walked: set[str] = set()
        self._until = time.process_time() + budget.seconds

    @property
    def transitions(self) -> int:
        """Transitions told by the reference."""
        return sum(depth.transitions for depth in self.depths)

    @property
    def complete(self) -> bool:
        """Whether everything was walked and agrees."""
        return self.sound and not self.cut

    def evidence(self) -> dict[str, Any]:
        """What was walked, for the report."""
        sums = {side: _sum_of(parts) for side, parts in self.sets.items()}
        return {
            "small_model": {
                "states": len(self.sources), "transitions": self.transitions, "illegal_actions": self.illegal,
                "states_sha256": sums["reference"], "same_states": sums["reference"] == sums["batched"],
                "complete": self.complete,
                "constants": dict((self.small or {}).get("constants", {})), "max_episode_steps": self.limit,
            },
            "depths": [asdict(depth) for depth in self.depths],
        }  # fmt: skip

    def run(self) -> None:
        """Walk until nothing is left, something differs, or the budget is used up."""
        frontier = self._starts()
        while frontier and self.sound and not self.cut:
            frontier = self._level(frontier)
        self.compare()
        exact = all(field.tolerance is None for field in self.schema.state.values())
        if self.sound and exact and len({_sum_of(parts) for parts in self.sets.values()}) > 1:
            self.problem = "the twins come to different sets of states in the small model"
        if self.sound:
            self.problem, self.illegal = unheld_anywhere(self.fast, self.sources)

    def agreed(self, reference: Frame, batched: Frame) -> None:
        """Keep which states each side came to."""
        for side, frame in (("reference", reference), ("batched", batched)):
            self.sets[side].append(state_rows(frame))

    def _starts(self) -> list[int]:
        """The places that episodes start from, compared."""
        starts: dict[int, None] = {}
        for taken, state in self.resets():
            starts[self.start(taken, state)] = None
            if self._used_up():
                break
        self.compare()
        return self._unwalked(list(starts))

    def _level(self, frontier: list[int]) -> list[int]:
        """All transitions from these places; the places they lead to where the episode goes on."""
        row, onward = Depth(len(self.depths)), dict[int, None]()
        self.depths.append(row)
        for source in frontier:
            self._from(source, row, onward)
            self.compare(whole=False)
            if self._used_up() or not self.sound:
                break
        return self._unwalked(list(onward))

    def _from(self, source: int, row: Depth, onward: dict[int, None]) -> None:
        """All transitions from one place."""
        self.sources.append(source)
        row.states += 1
        for action in range(len(self.given)):
            for taken, outcome in self.steps(source, action):
                made = self.step(source, action, taken, outcome)
                row.transitions += 1
                row.terminated += made.terminated
                row.truncated += made.truncated
                if not (made.terminated or made.truncated):
                    onward[made.end] = None

    def _used_up(self) -> bool:
        """Whether the budget is; it stays so."""
        used = max(self.transitions, len(self.table)) > self.budget.transitions
        self.cut = self.cut or used or time.process_time() > self._until
        return self.cut

    def _unwalked(self, places: list[int]) -> list[int]:
        """Without a time limit the clock ends nothing, and a state is walked from once, whenever it is met."""
        if self.limit is not None:
            return places
        kept = {repr(self.nodes.places[place][2]): place for place in reversed(places)}
        fresh = [place for text, place in reversed(kept.items()) if text not in self._walked]
        self._walked.update(kept)
        return fresh


def state_rows(frame: Frame) -> Array:
    """The bits of each row's state and clock as one opaque value a row, each value once, sorted."""
    names = [name for name in frame if name.startswith("state.")] + ["t"]
    parts = [np.ascontiguousarray(frame[name]).reshape(len(frame[name]), -1) for name in names]
    flat: Array = np.concatenate([part.view(np.uint8).reshape(len(part), -1) for part in parts], axis=1)
    whole = np.ascontiguousarray(flat).view(np.dtype((np.void, flat.shape[1]))).reshape(-1)
    return np.unique(whole)


def _sum_of(parts: list[Array]) -> str:
    """The SHA-256 of a set of states."""
    return hashlib.sha256(np.unique(np.concatenate(parts)).tobytes() if parts else b"").hexdigest()
