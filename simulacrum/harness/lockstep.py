"""Both twins side by side, step by step, until something differs.

One `Lockstep` is one batch beside references for all or some of its rows. The fast side is compared as whole arrays;
Python per row happens only in the references.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.engine.boundary import EngineState
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import FieldDifference, differences
from simulacrum.harness.diverge import Moment, diverged
from simulacrum.harness.drivers import Driver, Reading
from simulacrum.harness.frames import Array, BatchSide, Frame, ReferenceSide, frame_fields, rows_of, take
from simulacrum.harness.recorder import Restart
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
        self.places = {row: place for place, row in enumerate(self.chosen)}
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
        self.before = self.batch.state
        batched = self.batch.step(actions)
        reference = self.reference.step(take(actions, self.chosen))
        self.transitions += len(self.chosen)
        self.episodes += reference["terminated"] | reference["truncated"]
        self._meet(reference)
        return self._compare(reference, batched, actions)

    def restart(
        self, rows: np.ndarray, seeds: Sequence[int | None] | None = None, *, given: Any = None
    ) -> Divergence | None:
        """Reset the rows of a bool mask `[N]` by hand on both sides and compare all rows, the others too.

        `given` is the mask in the form that the batch gets it (array, tensor or list); the array by default.
        """
        self.before = self.env.state
        options = {"reset_mask": rows if given is None else given}
        batched = self.batch.reset(seed=None if seeds is None else list(seeds), options=options)
        each = [None] * self.env.num_envs if seeds is None else seeds
        reference = self.reference.restart(
            [bool(rows[row]) for row in self.chosen], [each[row] for row in self.chosen]
        )
        return self._compare(reference, batched, Restart(rows, None if seeds is None else tuple(seeds)))

    def run(
        self, driver: Driver, seeds: Sequence[int | None], *, episodes: int, most: int, least: int = 0
    ) -> Divergence | None:
        """Reset, then step until every chosen row has finished `episodes` episodes, or `most` steps are done.

        At least `least` steps are done in any case. In DISABLED mode, rows that have ended are reset before each step.
        """
        found = self.reset(seeds)
        step = 0
        while found is None and step < most and (step < least or int(self.episodes.min()) < episodes):
            found = self._reset_ended() or self.step(driver.actions(self.last, step))
            step += 1
        for runner in self.reference.runners:
            self._meet_slots(runner)
        return found

    def _reset_ended(self) -> Divergence | None:
        if self.env.autoreset_mode != AutoresetMode.DISABLED:
            return None
        ended: Array = np.logical_or(self.last["terminated"], self.last["truncated"])
        return self.restart(ended) if ended.any() else None

    @property
    def last(self) -> Frame:
        """The batch's last frame."""
        return self.frames[-1][1]

    def reading(self, row: int) -> Reading | None:
        """What a scripted policy sees of a row: its reference's. None where an end leaves nothing to decide."""
        place = self.places.get(row)
        runner = None if place is None else self.reference.runners[place]
        if runner is None or runner.ended:
            return None
        return runner.observe(), runner.state, runner.t

    def _meet(self, frame: Frame) -> None:
        terminated: Array = frame["terminated"]
        truncated: Array = frame["truncated"]
        met = {
            "terminated": terminated & ~truncated,
            "truncated": truncated & ~terminated,
            "both": terminated & truncated,
            "ended": np.logical_or(terminated, truncated),
        }
        for name, rows in met.items():
            self.bench.meet(name, int(np.count_nonzero(rows)))

    def _meet_slots(self, runner: ReferenceRunner) -> None:
        for slot in runner.used:
            self.bench.meet(f"slot:{slot}")

    def _compare(self, reference: Frame, batched: Frame, actions: Any) -> Divergence | None:
        whole = batched
        if self.rows is not None:
            batched = rows_of(batched, self.chosen)
        self.frames.append((reference, whole))
        if actions is not None:
            self.actions.append(actions)
        found = differences(reference, batched, self.fields, used=self.bench.used)
        self._meet_slots(self.reference.runners[0])
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
