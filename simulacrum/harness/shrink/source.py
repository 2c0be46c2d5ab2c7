"""Where cases come from: what the failing batch did, or what a record and its trajectory tell of one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.params import row_params
from simulacrum.harness.diverge import Moment
from simulacrum.harness.recorder import Restart
from simulacrum.trace.case import RESET, WAIT, Case, Line
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.failures import trajectory_file
from simulacrum.trace.files import read_trajectories
from simulacrum.trace.values import spell_group
from simulacrum.twin.batched import dump_state


class Source(Protocol):
    """Gives lines of a rollout. `first` and `last` number the frames that a line can start from; `last` is the frame
    before the one that differs. A `first` of -1 is the reset itself, and a `last` of -1 that nothing came before."""

    first: int
    last: int
    row: int
    num_envs: int

    def line(self, row: int, start: int) -> Line: ...


@dataclass
class Rollout:
    """The failing batch as the check saw it."""

    moment: Moment

    def __post_init__(self) -> None:
        self.env, self.schema, self.row = self.moment.env, self.moment.bench.schema, self.moment.row
        self.num_envs = self.env.num_envs
        self.last = len(self.moment.actions) - 1
        reseeded = [
            number for number, action in enumerate(self.moment.actions)
            if isinstance(action, Restart) and action.seeds is not None
        ]  # fmt: skip
        # Only the seeds that were given last are known; the reset that gave them can still be the last event.
        self.first = reseeded[-1] + 1 if reseeded and reseeded[-1] < self.last else -1
        if reseeded and reseeded[-1] == self.last:
            self.first = self.last
        self.seeds: Sequence[int] = self.env.np_random_seed

    def line(self, row: int, start: int) -> Line:
        """What a row did from a frame on, to the step that differs."""
        params = row_params(self.env.params, row)
        taken = tuple(self._action(number, row) for number in range(max(start, 0), self.last + 1))
        if start < 0:
            return Line(row, self.seeds[row], params=params, actions=taken)
        if start == self.last and self.moment.before is not None:
            return self._before(row, params, taken)
        frame = self.moment.frames[start][1]
        state = {name: np.asarray(frame[f"state.{name}"][row]).tolist() for name in self.schema.state.fields}
        ended = bool(frame["terminated"][row] or frame["truncated"][row]) and self._waits
        return Line(
            row, self.seeds[row], spell_group(self.schema.state, state), int(frame["episode"][row]),
            int(frame["t"][row]), ended, params, taken,
        )  # fmt: skip

    @property
    def _waits(self) -> bool:
        """Whether a row that has ended stands there until the next step."""
        return self.env.autoreset_mode.name != "SAME_STEP"

    def _before(self, row: int, params: dict[str, Any], taken: tuple[Any, ...]) -> Line:
        before = self.moment.before
        assert before is not None
        host = type(before.env)(*(value.cpu() for value in before.env))
        return Line(
            row, self.seeds[row], spell_group(self.schema.state, dump_state(self.schema, host, row)),
            int(before.episode[row]), int(before.t[row]), bool(before.ended[row]), params, taken,
        )  # fmt: skip

    def _action(self, number: int, row: int) -> Any:
        action = self.moment.actions[number]
        if isinstance(action, Restart):
            if not action.rows[row]:
                return WAIT
            seed = None if action.seeds is None else action.seeds[row]
            return RESET if seed is None else {RESET: seed}
        return spelled_action(self.schema, action, row)


def spelled_action(schema: Schema, actions: Any, row: int) -> Any:
    """One row of a batch of actions, as JSON."""
    if schema.action.single:
        return spell_group(schema.action, np.asarray(actions[row]).tolist())
    return spell_group(schema.action, {name: np.asarray(value[row]).tolist() for name, value in actions.items()})


class Recorded:
    """One row as a failure's record and trajectory file tell of it."""

    def __init__(self, package: EnvPackage, record: Divergence) -> None:
        self.record, self.row, self.num_envs, self.first = record, 0, 1, 0
        self.params = dict(record.configuration.params)
        self.whole: tuple[Any, ...] | None = None
        if record.previous_state is None and record.episode == 0:
            self.first = self.last = -1
            return
        self.last = 0
        file = trajectory_file(Path(), record, "batched")
        if record.previous_state is not None and record.episode == 0 and file is not None:
            (given,) = read_trajectories(file, package.schema)
            if len(given.steps) > 1:
                self.first = -1
                self.whole = tuple(spell_group(package.schema.action, step.action) for step in given.steps)

    def line(self, row: int, start: int) -> Line:
        """The recorded step alone, or from the reset (-1) with all actions."""
        record = self.record
        if start < 0:
            return Line(row, record.seed, params=self.params, actions=self.whole or ())
        state, ended = record.previous_state, False
        return Line(row, record.seed, state, record.episode, record.t, ended, self.params, (record.action,))


def case_of(
    source: Source, rows: Sequence[int], start: int, *, form: str, against: str, record: Divergence
) -> Case:
    """The case of some rows of a source (the differing one among them), in their order, from a frame on."""
    lines = [_moved(source.line(row, start), place) for place, row in enumerate(rows)]
    looked_at = rows.index(source.row)
    ordered = (lines[looked_at], *lines[:looked_at], *lines[looked_at + 1 :])
    ran = record.configuration
    return Case(
        form=form, device="cpu" if form == "eager" and against == "reference" else ran.device,
        autoreset_mode=ran.autoreset_mode, max_episode_steps=ran.max_episode_steps, num_envs=len(rows),
        lines=ordered, against=against, forced=record.forced, small=ran.small,
    )  # fmt: skip


def _moved(line: Line, place: int) -> Line:
    return Line(place, line.seed, line.start, line.episode, line.t, line.ended, line.params, line.actions)
