"""A trajectory done again, from its seed and its actions: by the reference, by the batched twin alone or in company."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.params import row_params
from simulacrum.engine.single import scalar_action
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.frames import Array
from simulacrum.harness.recorder import row_event, trajectory
from simulacrum.harness.recording import Recording, record
from simulacrum.harness.scribe import Scribe
from simulacrum.trace.records import checked
from simulacrum.trace.trajectory import Trajectory


def in_reference(package: EnvPackage, given: Trajectory) -> Trajectory:
    """The trajectory that the reference makes of the same seed, parameters, limit and actions."""
    scribe = Scribe(package, seed=given.seed, params=given.params, limit=given.max_episode_steps)
    for start, steps in given.episodes():
        scribe.start(start.episode)
        for step in steps:
            if scribe.runner.ended:
                break  # the file goes on where the reference has ended: the comparison will say so
            scribe.step(scalar_action(package.schema.action, step.action))
    return scribe.written()


def in_batch(
    bench: Bench,
    given: Sequence[Trajectory],
    *,
    mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    form: str = "eager",
    strangers: bool = False,
) -> tuple[SimulacrumVectorEnv, list[int], list[Trajectory]]:
    """The trajectories that the batched twin makes of the same seeds, parameters and actions, all in one batch.

    With `strangers`, every other row is a row of its own seed that acts at random. All of `given` have one time limit
    and begin at episode 0. Returns (env, the rows they had, the trajectories).
    """
    size = 2 * len(given) + 1 if strangers else len(given)
    rows = [2 * i + 1 for i in range(len(given))] if strangers else list(range(len(given)))
    return in_rows(bench, given, rows, size, mode=mode, form=form)


def in_rows(
    bench: Bench,
    given: Sequence[Trajectory],
    rows: Sequence[int],
    size: int,
    *,
    mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    form: str = "eager",
) -> tuple[SimulacrumVectorEnv, list[int], list[Trajectory]]:
    """`in_batch` with the rows chosen: trajectory i in row `rows[i]` of `size`, strangers in the others."""
    schema = bench.schema
    seeds, params = seeds_for(size, bench.seed), bench.row_params(size, bench.seed)
    for name, param in schema.params.items():
        column = params.setdefault(name, np.full(size, param.default, dtype=param.field.dtype))
        for row, one in zip(rows, given, strict=True):
            column[row] = one.params[name]
    for row, one in zip(rows, given, strict=True):
        seeds[row] = one.seed
    env = bench.env(size, mode=mode, form=form, limit=given[0].max_episode_steps, params=params)
    lines = [timeline(one, mode) for one in given]
    driver = drivers.Random(schema, size, bench.seed)
    actions: list[Any] = []
    for step in range(max(map(len, lines))):
        batch = driver.actions({}, step)
        for row, line in zip(rows, lines, strict=True):
            if step < len(line) and line[step] is not None:
                put_action(schema, batch, row, line[step])
        actions.append(batch)
    recording = record(env, seeds, actions)
    return env, list(rows), [_cut(of_row(schema, recording, row), one) for row, one in zip(rows, given, strict=True)]


def timeline(given: Trajectory, mode: AutoresetMode) -> list[Any]:
    """The row's action for each step of the batch; None where NEXT_STEP spends a step on the reset."""
    line: list[Any] = []
    for number, (_, steps) in enumerate(given.episodes()):
        if number and mode == AutoresetMode.NEXT_STEP:
            line.append(None)
        line.extend(step.action for step in steps)
    return line


def of_row(schema: Schema, recording: Recording, row: int) -> Trajectory:
    """One row of a recorded rollout as a trajectory."""
    env = recording.env
    actions = [row_event(schema, action, row) for action in recording.actions]
    made = trajectory(
        schema, recording.frames, actions, row, form=env.form, seed=recording.seeds[row],
        params=row_params(env.params, row), limit=env.max_episode_steps, mode=env.autoreset_mode.name,
    )
    return checked(made, schema)


def _cut(made: Trajectory, given: Trajectory) -> Trajectory:
    """What was made, without what came after the end of what was given: other rows may have taken longer."""
    steps = made.steps[: len(given.steps)]
    last = max((start.episode for start in given.starts), default=0)
    starts = tuple(start for start in made.starts if start.episode <= last)
    return replace(made, starts=starts, steps=tuple(step for step in steps if step.episode <= last))


def whole_episodes(given: Trajectory, episodes: int) -> Trajectory:
    """The first `episodes` episodes of a trajectory."""
    parts = given.episodes()[:episodes]
    steps = tuple(step for _, own in parts for step in own)
    return replace(given, starts=tuple(start for start, _ in parts), steps=steps)


def put_action(schema: Schema, batch: Any, row: int, action: Any) -> None:
    """Write one row's action into a batch of actions."""
    if schema.action.single:
        column: Array = batch
        column[row] = action
        return
    for name in schema.action.fields:
        batch[name][row] = action[name]
