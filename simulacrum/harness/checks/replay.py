"""`replay`: trajectories survive the way through a file and reproduce themselves in both twins.

Rows are recorded from the reference and from the batched twin, in both modes that let a trajectory go on. Each goes
through every file format and back, and what comes out of the file is then done again by the reference, by the batched
twin alone, and by the batched twin among strangers: every bit must be that of the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, passed, seeds_for
from simulacrum.harness.diverge import configuration
from simulacrum.harness.frames import row_action
from simulacrum.harness.recording import Recording, record
from simulacrum.harness.rerun import in_batch, in_reference, of_row, whole_episodes
from simulacrum.harness.scribe import Scribe
from simulacrum.trace.compare import first_difference
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.failures import write_failure
from simulacrum.trace.files import read_trajectories, write_trajectory
from simulacrum.trace.trajectory import Trajectory

ROWS = 2  # recorded from the reference, and from the batched twin in each mode
EPISODES = 2  # kept of each row, where it gets that far
# Time limits of a recording, in a full run and in a quick one, where the schema has a longer one or none: a file of an
# episode that the clock ends here says as much as one of an episode five times as long.
LIMIT, QUICK_LIMIT = 500, 100
MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED)
FORMATS = ("json", "jsonl", "npz")


@dataclass(frozen=True)
class Taken:
    """A recorded trajectory, where from, and the returns that the engine reported for its ended episodes."""

    source: str
    trajectory: Trajectory
    returns: tuple[float, ...]


def run(bench: Bench) -> Outcome:
    """Record, write, read, compare; then do again what the files say."""
    bench.say("recording", 0, 4)
    taken = [*_from_reference(bench), *_from_batches(bench)]
    evidence: dict[str, Any] = {
        "trajectories": len(taken),
        "steps": sum(len(one.trajectory.steps) for one in taken),
        "ended_episodes": [len(one.returns) for one in taken],
    }
    bench.say("files", 1, 4)
    problem, evidence["bytes"], read = _through_files(bench, taken)
    if problem is None:
        problem = _returns(taken)
    if problem is not None:
        return failed(problem, **evidence)
    bench.say("reference", 2, 4)
    for one, given in zip(taken, read, strict=True):
        found = _apart(bench, given, in_reference(bench.package, given), None, 0)
        if found is not None:
            return failed(_said(one, "the reference", found), found, **evidence)
    bench.say("batched twin", 3, 4)
    for mode in MODES:
        found, said = _in_batches(bench, taken, read, mode)
        if found is not None:
            return failed(said, found, **evidence)
    counted = f"{len(taken)} trajectories, {evidence['steps']:,} steps"
    return passed(f"{counted}, through {len(FORMATS)} formats and both twins", **evidence)


def _limit(bench: Bench) -> int:
    """The time limit of all recordings."""
    declared, most = bench.schema.max_episode_steps, QUICK_LIMIT if bench.quick else LIMIT
    return most if declared is None else min(declared, most)


def _steps(bench: Bench) -> int:
    """Steps of a recording: the episodes, however long, and the resets between them."""
    return EPISODES * (_limit(bench) + 1)


def _from_reference(bench: Bench) -> list[Taken]:
    schema, found = bench.schema, list[Taken]()
    driver = drivers.standard(schema, ROWS, bench.seed)
    actions = [driver.actions({}, step) for step in range(_steps(bench))]
    params = bench.row_params(ROWS, bench.seed)
    for row, seed in enumerate(seeds_for(ROWS, bench.seed)):
        given = {name: values[row].item() for name, values in params.items()}
        scribe = Scribe(bench.package, seed=seed, params=given, limit=_limit(bench))
        scribe.start(0)
        for batch in actions:
            if scribe.runner.ended:
                if len(scribe.starts) == EPISODES:
                    break
                scribe.start(len(scribe.starts))
            scribe.step(row_action(schema, batch, row))
        found.append(Taken("the reference", scribe.written(), tuple(scribe.returns)))
    return found


def _from_batches(bench: Bench) -> list[Taken]:
    found: list[Taken] = []
    for number, mode in enumerate(MODES, start=1):
        seed = bench.seed + number
        driver = drivers.standard(bench.schema, ROWS, seed)
        env = bench.env(ROWS, mode=mode, limit=_limit(bench), params=bench.row_params(ROWS, seed))
        made = record(env, seeds_for(ROWS, seed), [driver.actions({}, step) for step in range(_steps(bench))])
        for row in range(ROWS):
            one = whole_episodes(of_row(bench.schema, made, row), EPISODES)
            returns = tuple(_reported(made, row)[:EPISODES])
            found.append(Taken(f"the batched twin in {mode.name}", one, returns))
    return found


def _reported(made: Recording, row: int) -> list[float]:
    """The returns that the engine gave in the frames in which the row's episodes ended."""
    return [
        float(frame["episode_return"][row])
        for frame in made.frames
        if bool(frame["terminated"][row]) or bool(frame["truncated"][row])
    ]


def _through_files(bench: Bench, taken: Sequence[Taken]) -> tuple[str | None, dict[str, int], list[Trajectory]]:
    """(what a file did not give back, bytes written by format, what the JSON files gave back).

    The first trajectory of each source goes through every format, the others through the first one.
    """
    schema, back = bench.schema, list[Trajectory]()
    size: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="simulacrum-replay-") as folder:
        for number, one in enumerate(taken):
            for kind in FORMATS if number % ROWS == 0 else FORMATS[:1]:
                path = Path(folder) / f"{number}.{kind}"
                write_trajectory(path, one.trajectory, schema)
                size[kind] = size.get(kind, 0) + path.stat().st_size
                (read,) = read_trajectories(path, schema)  # bounds are invariant_sweep's business
                if read != one.trajectory:
                    found = first_difference(one.trajectory, read, schema)
                    place = "its header" if found is None else found.difference.path
                    problem = f"a trajectory of {one.source} comes back from .{kind} with other bits in {place}"
                    return problem, size, back
                if kind == "json":
                    back.append(read)
    return None, size, back


def _returns(taken: Sequence[Taken]) -> str | None:
    """Recorded rewards must add up, in order and to the bit, to the returns that the engine reported."""
    for one in taken:
        sums = one.trajectory.returns()
        for episode, reported in enumerate(one.returns):
            if np.float64(sums[episode]).tobytes() != np.float64(reported).tobytes():
                return (
                    f"a trajectory of {one.source} (seed {one.trajectory.seed}, episode {episode}): the rewards add up "
                    f"to {sums[episode]!r}, the engine reported {reported!r}"
                )
    return None


def _in_batches(
    bench: Bench, taken: Sequence[Taken], read: Sequence[Trajectory], mode: AutoresetMode
) -> tuple[Divergence | None, str]:
    turn = MODES.index(mode)  # each trajectory goes alone once, the modes taking turns; together all go in both
    alone = [([taken[i]], [read[i]], False) for i in range(turn, len(taken), len(MODES))]
    for ones, given, strangers in [*alone, (list(taken), list(read), True)]:
        env, rows, made = in_batch(bench, given, mode=mode, strangers=strangers)
        for one, row, before, after in zip(ones, rows, given, made, strict=True):
            found = _apart(bench, before, after, env, row)
            if found is not None:
                company = f"among {env.num_envs - 1} other rows" if strangers else "alone"
                return found, _said(one, f"the batched twin {company}, in {mode.name}", found)
    return None, ""


def _apart(
    bench: Bench, given: Trajectory, again: Trajectory, env: SimulacrumVectorEnv | None, row: int
) -> Divergence | None:
    """The first difference between the file and its repetition, written to the failures folder."""
    found = first_difference(
        given, again, bench.schema, configuration=None if env is None else configuration(env, row)
    )
    if found is None:
        return None
    found = replace(found, row=row, hints=(*found.hints, f"`reference` is the file, recorded from form {given.form}"))
    files = write_failure(found, given, again, bench.failures, schema=bench.schema, env=bench.told_env)
    return files.divergence


def _said(one: Taken, who: str, found: Divergence) -> str:
    return f"a trajectory of {one.source} is not reproduced by {who}: {found.difference.path}"
