"""Rules about seeds: the same one gives the same run, another one another run, and none goes on."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from simulacrum.conformance.rule import Broken, NotJudged, demand_same, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Tape, play
from simulacrum.conformance.values import clone, difference, leaves, row_of
from simulacrum.conformance.variety import alike, run_of, starts_vary, steps_to_tell

RESET = "VectorEnv.reset, seed"
TIMES = ("time", "elapsed_time", "fps")  # names of infos that are about the clock on the wall


def demand_same_tape(found: Tape, expected: Tape, message: str, row: int | None = None) -> None:
    """`Broken` at the first step, row and field in which two tapes part; with a row, of it alone (0 of `found`)."""
    chosen = (lambda tree: tree) if row is None else (lambda tree: row_of(tree, row))
    mine = (lambda tree: tree) if row is None else (lambda tree: row_of(tree, 0))
    demand_same(difference(mine(found.observation), chosen(expected.observation), "observation"),
                f"{message}, from the first observation on", row=row)  # fmt: skip
    for number, (step, other) in enumerate(zip(found.steps, expected.steps, strict=False)):
        parted = difference(mine(step.returned()), chosen(other.returned()))
        demand_same(parted, message, row=row, step=number)


@rule("seeding.same_seed", "two environments with one seed and the same actions give the same bits", RESET, "error")
def same_seed(subject: Subject) -> str:
    tape = subject.tape()
    with subject.env(**subject.course.extra) as env:
        again = play(env, subject.actions, len(tape.steps), seed=subject.seed)
    demand_same_tape(again, tape, "a second environment with the same seed differs")
    return f"{len(tape.steps)} steps, {len(tape.ends())} ends"


@rule("seeding.same_infos", "two environments with one seed and the same actions give the same infos", RESET, "warning")
def same_infos(subject: Subject) -> str:
    tape = subject.tape()
    with subject.env(**subject.course.extra) as env:
        again = play(env, subject.actions, len(tape.steps), seed=subject.seed)
    count = 0
    demand_same(difference(_timeless(again.info), _timeless(tape.info), "info"), "infos of reset differ")
    for number, (step, other) in enumerate(zip(again.steps, tape.steps, strict=True)):
        demand_same(difference(_timeless(step.info), _timeless(other.info), "info"), "infos differ", step=number)
        count += len(list(leaves(step.info)))
    if not count:
        raise NotJudged("it gives no infos")
    return f"{count} values"


def _timeless(info: Any) -> Any:
    """An info without wall times: those named so, and the "t" of episode statistics."""
    if not isinstance(info, dict):
        return info
    times = (*TIMES, "t") if {"r", "l"} <= info.keys() else TIMES
    return {key: _timeless(value) for key, value in info.items() if str(key).lstrip("_") not in times}


@rule(
    "seeding.reseeded",
    "reset(seed=s) in the middle of everything leads to the same run as in a new environment",
    f"{RESET}; Env.reset",
    "error",
)
def reseeded(subject: Subject) -> str:
    tape = subject.tape()
    with subject.env(**subject.course.extra) as env:
        play(env, subject.actions, min(13, len(tape.steps)), seed=subject.seed + 1000)
        again = play(env, subject.actions, len(tape.steps), seed=subject.seed)
    demand_same_tape(again, tape, "something survived reset(seed=...)")
    return f"{len(tape.steps)} steps"


@rule("seeding.seed_matters", "a new environment reset with another seed gives another run", RESET, "error")
def seed_matters(subject: Subject) -> str:
    steps, runs = steps_to_tell(subject, 5 * subject.num_envs), list[Any]()
    for k in range(6):
        with subject.env(**subject.course.extra) as env:
            tape = play(env, subject.actions, steps, seed=subject.seed + 100 * k)
        runs.append([run_of(tape, row) for row in range(tape.num_envs)])
    if alike(runs):
        raise Broken("six new environments, each reset with another seed, all give the same run", field="observation")
    return "later than the first observation" if steps else "in the first observation"


def _sixteen_rows(subject: Subject, seed: int | None) -> str:
    """16 rows that act alike must not be alike."""
    steps = steps_to_tell(subject, 15)
    with subject.env(16, **subject.course.extra) as env:
        tape = play(env, subject.actions, steps, seed=seed, rows=[0] * 16)
    if alike([run_of(tape, row) for row in range(16)]):
        raise Broken("16 rows with the same actions are all alike", row=1, field="observation")
    return "16 rows with the same actions"


@rule(
    "seeding.rows_differ",
    "rows of one seeded batch are random on their own, and not copies of each other",
    f"{RESET}; SyncVectorEnv.reset",
    "error",
)
def rows_differ(subject: Subject) -> str:
    return _sixteen_rows(subject, subject.seed)


@rule("seeding.unseeded_rows_differ", "rows of a batch that nobody seeded differ", RESET, "error")
def unseeded_rows_differ(subject: Subject) -> str:
    return _sixteen_rows(subject, None)


@rule("seeding.unseeded_differ", "two environments that nobody seeded differ", f"{RESET}; Env.np_random", "warning")
def unseeded_differ(subject: Subject) -> str:
    steps, runs = steps_to_tell(subject, 16), list[Any]()
    for _ in range(3):
        with subject.env(8, **subject.course.extra) as env:
            tape = play(env, subject.actions, steps, seed=None)
        runs.append([run_of(tape, row) for row in range(8)])
    if alike(runs):
        raise Broken("three new environments give the same run", field="observation")
    return "3 environments of 8 rows"


@rule("seeding.none_goes_on", "reset() after reset(seed=s) goes on with the generators: new episodes, the same ones "
      "each time", f"{RESET}; Env.reset", "error")  # fmt: skip
def none_goes_on(subject: Subject) -> str:
    starts_vary(subject, 5 * 8)
    runs: list[list[Any]] = []
    for _ in range(2):
        with subject.env(8, **subject.course.extra) as env:
            first = clone(env.reset(seed=subject.seed)[0])
            runs.append([first, *(clone(env.reset()[0]) for _ in range(5))])
    if alike(runs[0]):
        raise Broken("reset() gave the first episode again, five times", row=0, field="observation")
    demand_same(difference(runs[1], runs[0], "observation of resets"), "the same resets give other episodes")
    return "5 resets without a seed, twice"


@rule(
    "seeding.episodes_differ",
    "the episodes that autoreset begins in a row do not repeat one start for ever",
    "Vector Autoreset Mode; Env.reset",
    "error",
)
def episodes_differ(subject: Subject) -> str:
    tape = subject.tape_with_ends()
    starts = [tape.first_observations(row) for row in range(tape.num_envs)]
    again = [(row, first) for row, first in enumerate(starts) if len(first) > 1]
    if not again:
        raise NotJudged("no episode was begun by autoreset")
    starts_vary(subject, sum(len(first) - 1 for _, first in again))
    if all(difference(one, first[0]) is None for _, first in again for one in first[1:]):
        raise Broken("each row begins each episode alike", row=again[0][0], field="observation")
    return f"{sum(map(len, starts))} starts"


@rule(
    "seeding.seed_list",
    "reset takes a list of one seed a row, and reset(seed=s) is reset(seed=[s, s + 1, ...])",
    "SyncVectorEnv.reset, seed",
    "warning",
)
def seed_list(subject: Subject) -> str:
    tape = subject.tape()
    seeds = [subject.seed + row for row in range(tape.num_envs)]
    with subject.env(**subject.course.extra) as env:
        again = play(env, subject.actions, len(tape.steps), seed=seeds)
    demand_same_tape(again, tape, f"seed={seeds} is not seed={subject.seed}")
    return f"{len(seeds)} seeds"


@rule(
    "seeding.row_seed",
    "row i of a batch seeded with s is the only row of a batch seeded with s + i",
    "SyncVectorEnv.reset, seed",
    "warning",
)
def row_seed(subject: Subject) -> str:
    tape = subject.tape()
    steps_to_tell(subject, 100)  # nothing to judge only where nothing depends on the seed
    for row in range(tape.num_envs):
        with subject.env(1, **subject.course.extra) as env:
            alone = play(env, subject.actions, len(tape.steps), seed=subject.seed + row, rows=[row])
        demand_same_tape(alone, tape, f"row {row} is not what seed {subject.seed + row} gives alone", row)
    return f"{tape.num_envs} rows"


@rule(
    "seeding.global_generators",
    "a seeded run leaves the global generators of Python and NumPy alone",
    "Env.np_random; Seeding",
    "warning",
)
def global_generators(subject: Subject) -> str:
    with subject.env(**subject.course.extra) as env:
        before = _global_state()
        play(env, subject.actions, min(20, subject.course.steps), seed=subject.seed)
        after = _global_state()
    for name, state in before.items():
        if after[name] != state:
            raise Broken("its state moved", field=name)
    return "20 steps"


def _global_state() -> dict[str, Any]:
    numpy: Any = np.random.get_state()
    return {"random": random.getstate(), "numpy.random": (numpy[1].tobytes(), numpy[2])}
