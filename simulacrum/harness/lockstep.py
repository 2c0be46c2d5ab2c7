"""Both twins side by side, step by step, until something differs.

One `Lockstep` is one batch beside references for all or some of its rows. The fast side is compared as whole arrays;
Python per row happens only in the references.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulacrum.engine.boundary import EngineState
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import FieldDifference, differences
from simulacrum.harness.diverge import Moment, diverged
from simulacrum.harness.drivers import Driver
from simulacrum.harness.frames import BatchSide, Frame, ReferenceSide, frame_fields, rows_of, take
from simulacrum.trace.divergence import Divergence


@dataclass
class Lockstep:
    """A batch and its references, with all that happened since the reset.

    Args:
        bench: the run it belongs to.
        env: the batched env (any form, any mode).
        rows: the rows that get a reference; all by default.
    """

    bench: Bench
    env: SimulacrumVectorEnv
    rows: Sequence[int] | None = None
    frames: list[tuple[Frame, Frame]] = field(default_factory=list[tuple[Frame, Frame]])  # (reference, batched)
    actions: list[Any] = field(default_factory=list[Any])
    transitions: int = 0

    def __post_init__(self) -> None:
        self.chosen = list(range(self.env.num_envs)) if self.rows is None else list(self.rows)
        self.batch = BatchSide(self.env)
        self.reference = ReferenceSide.beside(self.env, self.chosen)
        self.fields = frame_fields(self.bench.schema, final=self.env.autoreset_mode.name == "SAME_STEP")
        self.episodes = np.zeros(len(self.chosen), dtype=np.int64)  # finished, per chosen row
        self.before: EngineState | None = None

    def reset(self, seeds: Sequence[int | None]) -> Divergence | None:
        """Reset all rows of both sides and compare."""
        self.before = None
        batched = self.batch.reset(seed=list(seeds))
        reference = self.reference.reset([seeds[row] for row in self.chosen])
        return self._compare(reference, batched, None)

    def step(self, actions: Any) -> Divergence | None:
        """Step both sides with the same actions `[N, ...]` and compare everything they show."""
        self.before = self.env.state
        batched = self.batch.step(actions)
        reference = self.reference.step(take(actions, self.chosen))
        self.transitions += len(self.chosen)
        self.episodes += reference["terminated"] | reference["truncated"]
        self._meet(reference)
        return self._compare(reference, batched, actions)

    def run(self, driver: Driver, seeds: Sequence[int | None], *, episodes: int, most: int) -> Divergence | None:
        """Reset, then step until every chosen row has finished `episodes` episodes, or `most` steps are done."""
        found = self.reset(seeds)
        step = 0
        while found is None and step < most and int(self.episodes.min()) < episodes:
            found = self.step(driver.actions(self.last, step))
            step += 1
        return found

    @property
    def last(self) -> Frame:
        """The batch's last frame."""
        return self.frames[-1][1]

    def readings(self) -> list[Any]:
        """(observation, state, t) of every reference row, for scripted policies."""
        return [(runner.observe(), runner.state, runner.t) for runner in self.reference.runners]

    def _meet(self, frame: Frame) -> None:
        terminated, truncated = frame["terminated"], frame["truncated"]
        self.bench.meet("terminated", int((terminated & ~truncated).sum()))
        self.bench.meet("truncated", int((truncated & ~terminated).sum()))
        self.bench.meet("both", int((terminated & truncated).sum()))
        self.bench.meet("ended", int((terminated | truncated).sum()))

    def _compare(self, reference: Frame, batched: Frame, actions: Any) -> Divergence | None:
        whole = batched
        if self.rows is not None:
            batched = rows_of(batched, self.chosen)
        self.frames.append((reference, whole))
        if actions is not None:
            self.actions.append(actions)
        found = differences(reference, batched, self.fields, used=self.bench.used)
        for runner in self.reference.runners[:1]:
            for slot in runner.used:
                self.bench.meet(f"slot:{slot}")
        return self._diverged(found, reference, batched) if found else None

    def _diverged(self, found: list[FieldDifference], reference: Frame, batched: Frame) -> Divergence:
        place = int(min(difference.rows[0] for difference in found))
        moment = Moment(
            bench=self.bench,
            env=self.env,
            row=self.chosen[place],
            place=place,
            step=len(self.actions) - 1,
            before=self.before,
            actions=self.actions,
            frames=self.frames,
            runner=self.reference.runners[place],
            sampled=self.rows is not None,
            transitions=self.transitions,
        )
        return diverged(moment, found, reference, batched, self.fields)
