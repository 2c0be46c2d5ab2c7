"""Whole rollouts of one batch, kept frame by frame, and one rollout held against another row for row.

Where both sides are batches (a row alone and the row in company, an eager form and a compiled one), there is no
reference twin to step beside them: each is recorded, and the recordings are compared as arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.contract.fields import Field
from simulacrum.engine.boundary import EngineState
from simulacrum.engine.params import row_params
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import FieldDifference, differences
from simulacrum.harness.diverge import Moment, diverged
from simulacrum.harness.frames import Array, BatchSide, Frame, frame_fields, rows_of
from simulacrum.harness.recorder import Restart
from simulacrum.trace.divergence import Divergence


@dataclass
class Recording:
    """A rollout of `env`: `frames[0]` is the reset's; `actions[i]` led from `frames[i]` to `frames[i + 1]`.

    An entry of `actions` is a batch of actions, or a `Restart` where rows were reset by hand. `states[i]` is the engine
    state before `frames[i]` (None before the reset).
    """

    env: SimulacrumVectorEnv
    seeds: list[int]
    actions: list[Any] = field(default_factory=list[Any])
    frames: list[Frame] = field(default_factory=list[Frame])
    states: list[EngineState | None] = field(default_factory=list[EngineState | None])

    @property
    def transitions(self) -> int:
        """Rows times steps."""
        return self.env.num_envs * sum(not isinstance(action, Restart) for action in self.actions)

    @property
    def ends(self) -> Array:
        """How many episodes each row has finished, int64 `[N]`."""
        flags: list[Array] = [frame["terminated"] | frame["truncated"] for frame in self.frames]
        return np.sum(flags, axis=0, dtype=np.int64)


def record(env: SimulacrumVectorEnv, seeds: Sequence[int] | int, actions: Sequence[Any]) -> Recording:
    """Reset with `seeds` and step through `actions`; in DISABLED mode, ended rows are reset before each step."""
    own = [seeds + row for row in range(env.num_envs)] if isinstance(seeds, int) else list(seeds)
    side, made = BatchSide(env), Recording(env, own)
    made.states.append(None)
    made.frames.append(side.reset(seed=seeds if isinstance(seeds, int) else own))
    for action in actions:
        last = made.frames[-1]
        ended: Array = last["terminated"] | last["truncated"]
        if env.autoreset_mode == AutoresetMode.DISABLED and ended.any():
            made.states.append(side.state)
            made.frames.append(side.reset(options={"reset_mask": ended}))
            made.actions.append(Restart(ended))
        made.states.append(side.state)
        made.frames.append(side.step(action))
        made.actions.append(action)
    return made


@dataclass(frozen=True)
class Parting:
    """Where two recordings part: the frame, and the differences; `rows` in them count the compared rows."""

    frame: int
    found: list[FieldDifference]

    @property
    def place(self) -> int:
        """The first differing row among the compared ones."""
        return int(min(difference.rows[0] for difference in self.found))


def parting(
    bench: Bench, one: Recording, other: Recording, ones: Sequence[int], others: Sequence[int]
) -> Parting | None:
    """The first frame in which row `ones[i]` of `one` and row `others[i]` of `other` differ, or None."""
    fields = exact(frame_fields(bench.schema, final=other.env.autoreset_mode == AutoresetMode.SAME_STEP))
    for number, (a, b) in enumerate(zip(one.frames, other.frames, strict=False)):
        found = differences(rows_of(a, ones), rows_of(b, others), fields, used=bench.used)
        if found:
            return Parting(number, found)
    return None


def exact(fields: Mapping[str, Field]) -> dict[str, Field]:
    """The fields without tolerances: those are between the twins, and here both sides are of one twin."""
    return {name: replace(field, tolerance=None) for name, field in fields.items()}


def explain(
    bench: Bench,
    parted: Parting,
    one: Recording,
    other: Recording,
    ones: Sequence[int],
    others: Sequence[int],
    *,
    side: str,
    notes: tuple[str, ...] = (),
) -> Divergence:
    """The record of a parting, with `one` in the place of the reference; `side` says what `one` is."""
    fields = frame_fields(bench.schema, final=other.env.autoreset_mode == AutoresetMode.SAME_STEP)
    last, place = parted.frame, parted.place
    pairs = [
        (rows_of(a, ones), b) for a, b in zip(one.frames[: last + 1], other.frames[: last + 1], strict=True)
    ]
    moment = Moment(
        bench=bench,
        env=other.env,
        row=others[place],
        place=place,
        step=last - 1,
        before=other.states[last],
        actions=other.actions[:last],
        frames=pairs,
        runner=_runner(bench, other, others[place], last),
        sampled=len(others) < other.env.num_envs,
        transitions=other.transitions,
        reference_form=side,
        notes=(f"the column `reference` shows {side}", *notes),
    )
    return diverged(moment, parted.found, pairs[-1][0], rows_of(pairs[-1][1], others), fields)


def _runner(bench: Bench, recording: Recording, row: int, frame: int) -> ReferenceRunner:
    """A runner that knows the row's seed and episode, for the record."""
    env = recording.env
    runner = ReferenceRunner(
        bench.package, params=row_params(env.params, row), max_episode_steps=env.max_episode_steps
    )
    runner.seed, runner.episode = recording.seeds[row], int(recording.frames[frame]["episode"][row])
    return runner
