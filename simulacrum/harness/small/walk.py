"""All that can happen in a small configuration, breadth first, and both twins held against each other on all of it."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import differences
from simulacrum.harness.frames import Array, Frame, frame_fields, row_actions
from simulacrum.harness.small.actions import legal_actions
from simulacrum.harness.small.choices import ChoosingDraw, every
from simulacrum.harness.small.held import unheld_anywhere
from simulacrum.harness.small.nodes import Nodes, Scalar
from simulacrum.harness.small.options import Options
from simulacrum.harness.small.record import Failed, failure
from simulacrum.harness.small.table import CHUNK, Chosen, Fast, Row, Table, chunks, told
from simulacrum.trace.divergence import Divergence

MOST_ACTIONS = 64


@dataclass(frozen=True)
class Budget:
    """How much of a model is walked before it counts as too large."""

    transitions: int
    seconds: float


@dataclass
class Depth:
    """A row of the table: the states `depth` steps after a start, and the transitions from them."""

    depth: int
    states: int = 0
    transitions: int = 0
    terminated: int = 0
    truncated: int = 0


@dataclass
class Walk:
    """The walk over one configuration.

    small: the content of small.json that the configuration was made with, None for the package as it is.
    """

    bench: Bench
    package: EnvPackage
    budget: Budget
    small: dict[str, Any] | None = None
    depths: list[Depth] = field(default_factory=list[Depth])
    complete: bool = False
    cut: bool = False  # the budget is used up
    found: Divergence | None = None
    problem: str | None = None  # what is wrong with an illegal action
    illegal: int = 0  # illegal actions tried

    def __post_init__(self) -> None:
        schema = self.package.schema
        self.scalar = Scalar(self.package)
        self.limit = schema.max_episode_steps
        self.nodes, self.chosen = Nodes(self.scalar), Chosen()
        self.fast = Fast(self.package, self.limit, self.nodes, self.chosen, self.bench.device)
        self.options = Options()
        self.actions = legal_actions(schema, MOST_ACTIONS)
        self.given = row_actions(schema, self.actions)
        self.fields = frame_fields(schema)
        self.stepped: list[int] = []  # the places that were stepped from
        self.sums: dict[str, Any] = {"reference": hashlib.sha256(), "batched": hashlib.sha256()}
        self._walked: set[str] = set()
        self.table: Table = []  # told by the reference, not compared yet
        self._until = time.perf_counter() + self.budget.seconds

    @property
    def transitions(self) -> int:
        """Transitions compared."""
        return sum(depth.transitions for depth in self.depths)

    def evidence(self) -> dict[str, Any]:
        """What was walked, for the report."""
        sums = {side: one.hexdigest() for side, one in self.sums.items()}
        return {
            "depths": [asdict(depth) for depth in self.depths],
            "states": len(self.stepped), "transitions": self.transitions, "illegal_actions": self.illegal,
            "states_sha256": sums["reference"], "same_states": sums["reference"] == sums["batched"],
        }  # fmt: skip

    def run(self) -> None:
        """Walk until nothing is left, something differs, or the budget is used up."""
        frontier = self._starts()
        while frontier and self.found is None and not self.cut:
            frontier = self._level(frontier)
        self._compare()
        self.complete = self.found is None and not self.cut
        if self.found is None:
            self.problem, self.illegal = unheld_anywhere(self.fast, self.stepped)

    def _starts(self) -> list[int]:
        """The places that episodes start from, compared."""
        for taken, state in every(self.scalar.layout, "reset", self.options, self.scalar.reset):
            start = self.nodes.number(state, 0)
            self.table.append(Row(-1, -1, self.chosen.number(taken), start))
            if self._used_up():
                break
        starts = list(dict.fromkeys(row.end for row in self.table))
        self._compare()
        return self._unwalked(starts)

    def _level(self, frontier: list[int]) -> list[int]:
        """All transitions from these places; the places they lead to where the episode goes on."""
        row, onward = Depth(len(self.depths)), dict[int, None]()
        self.depths.append(row)
        for source in frontier:
            self._from(source, row, onward)
            if self._used_up():
                break
            if len(self.table) >= CHUNK:
                self._compare()
        return self._unwalked(list(onward))

    def _from(self, source: int, row: Depth, onward: dict[int, None]) -> None:
        """All transitions from one place."""
        scalar, nodes, chosen, table = self.scalar, self.nodes, self.chosen, self.table
        _, t, state = nodes.places[source]
        self.stepped.append(source)
        row.states += 1
        last = self.limit is not None and t + 1 >= self.limit
        for number, action in enumerate(self.given):

            def call(draw: ChoosingDraw, action: Any = action) -> Any:
                return scalar.step(state, t, action, draw)

            for taken, (after, reward, terminated, cut) in every(scalar.layout, "step", self.options, call):
                end, truncated = nodes.number(after, t + 1), cut or last
                table.append(Row(source, number, chosen.number(taken), end, reward, terminated, truncated))
                row.transitions += 1
                row.terminated += terminated
                row.truncated += truncated
                if not (terminated or truncated):
                    onward[end] = None

    def _used_up(self) -> bool:
        """Whether the budget is; it stays so."""
        used = self.transitions > self.budget.transitions or len(self.table) > self.budget.transitions
        self.cut = self.cut or used or time.perf_counter() > self._until
        return self.cut

    def _unwalked(self, places: list[int]) -> list[int]:
        """Without a time limit the clock ends nothing, and a state is walked from once, whenever it is met."""
        if self.limit is not None:
            return places
        kept = {repr(self.nodes.places[place][2]): place for place in reversed(places)}
        fresh = [place for text, place in reversed(kept.items()) if text not in self._walked]
        self._walked.update(kept)
        return fresh

    def _compare(self) -> None:
        """Hold the batched twin against the table so far; `found` is the record of the first difference."""
        table, self.table = self.table, []
        sets: dict[str, list[Array]] = {"reference": [], "batched": []}
        self.bench.say(f"{self.transitions:,} transitions of the small model")
        for rows in chunks(table) if self.found is None else ():
            reference = told(self.package.schema, rows, self.nodes)
            batched = self.fast.starts(rows) if rows[0].source < 0 else self.fast.steps(rows, self.actions)
            found = differences(reference, batched, self.fields, used=self.bench.used)
            if found:
                self.found = failure(self, Failed(rows, reference, batched, found, self.transitions))
                return
            for side, frame in (("reference", reference), ("batched", batched)):
                sets[side].append(state_rows(frame))
        for side, parts in sets.items():
            if parts:
                self.sums[side].update(np.unique(np.concatenate(parts)).tobytes())


def state_rows(frame: Frame) -> Array:
    """The bits of each row's state and clock as one opaque value a row, each value once."""
    names = [name for name in frame if name.startswith("state.")] + ["t"]
    parts = [np.ascontiguousarray(frame[name]).reshape(len(frame[name]), -1) for name in names]
    flat: Array = np.concatenate([part.view(np.uint8).reshape(len(part), -1) for part in parts], axis=1)
    whole = np.ascontiguousarray(flat).view(np.dtype((np.void, flat.shape[1]))).reshape(-1)
    return np.unique(whole)
