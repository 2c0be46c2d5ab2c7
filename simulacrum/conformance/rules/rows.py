"""Rules about rows: each on its own, whoever is beside it, and one begun anew without the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulacrum.conformance.rule import Broken, NotJudged, demand_same, rule
from simulacrum.conformance.rules.seeding import demand_same_tape
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Tape, declared_mode, play, take
from simulacrum.conformance.values import clone, difference, leaves, on_host, row_of, short

MASK = "Vector Autoreset Mode, reset_mask; SyncVectorEnv.reset"
CLASS = "VectorEnv"


# --- independence ----------------------------------------------------------------------------------------------------


def _others_changed(subject: Subject) -> tuple[Tape, Tape]:
    """The usual run, and one in which all rows but the first act otherwise."""
    tape = subject.tape()
    rows = [0, *range(1000, 999 + tape.num_envs)]
    with subject.env(**subject.course.extra) as env:
        return tape, play(env, subject.actions, len(tape.steps), seed=subject.seed, rows=rows)


def _same_row(found: Tape, expected: Tape, steps: int, message: str) -> None:
    demand_same(difference(row_of(found.observation, 0), row_of(expected.observation, 0), "observation"),
                f"{message}, from the first observation on", row=0)  # fmt: skip
    for number in range(min(steps, len(found.steps), len(expected.steps))):
        parted = difference(found.steps[number].row(0), expected.steps[number].row(0))
        demand_same(parted, message, row=0, step=number)


@rule("rows.actions", "a row's episode does not depend on the actions of other rows", CLASS, "error")
def row_actions(subject: Subject) -> str:
    tape, other = _others_changed(subject)
    end = tape.first_end(0)
    steps = len(tape.steps) if end is None else end + 1
    _same_row(other, tape, steps, "other actions in other rows changed it")
    return f"{steps} steps of row 0"


@rule("rows.later_episodes", "a row's later episodes do not depend on when those of others end", CLASS, "warning")
def row_later_episodes(subject: Subject) -> str:
    tape, other = _others_changed(subject)
    if tape.first_end(0) is None:
        raise NotJudged("no episode ended in row 0")
    _same_row(other, tape, len(tape.steps), "other actions in other rows changed a later episode")
    return f"{len(tape.steps)} steps of row 0"


@rule("rows.number", "a row gives the same however many rows stand beside it", CLASS, "warning")
def row_number(subject: Subject) -> str:
    tape = subject.tape()
    for count in (1, 2 * tape.num_envs + 1):
        with subject.env(count, **subject.course.extra) as env:
            other = play(env, subject.actions, len(tape.steps), seed=subject.seed)
        _same_row(other, tape, len(tape.steps), f"with {count} rows it is another than with {tape.num_envs}")
    return f"row 0 with 1, {tape.num_envs} and {2 * tape.num_envs + 1} rows"


@rule("rows.instances", "two environments in one process, stepped in turns, know nothing of each other", CLASS, "error")
def row_instances(subject: Subject) -> str:
    tape = subject.tape()
    extra = subject.course.extra
    with subject.env(**extra) as one, subject.env(tape.num_envs + 1, **extra) as two:
        first = play(one, subject.actions, 0, seed=subject.seed)
        second = play(two, subject.actions, 0, seed=subject.seed + 9)
        for number in range(len(tape.steps)):
            take(one, first, subject.actions.rows(number, range(tape.num_envs)))
            take(two, second, subject.actions.rows(number, range(7, 8 + tape.num_envs)))
    demand_same_tape(first, tape, "another environment beside it changed the run")
    return f"{len(tape.steps)} steps in turns"


# --- partial resets --------------------------------------------------------------------------------------------------


def _quiet_step(tape: Tape) -> int:
    """A step, early in the run, after which every row is in the middle of an episode; `NotJudged` without one."""
    for number in range(1, len(tape.steps) - 1):
        if not tape.steps[number].ended.any():
            return number
    raise NotJudged("some row ends in each step")


def _partial(subject: Subject, env: Any, tape: Tape, number: int, mask: Any, seed: Any = None) -> Any:
    """Play to after step `number`, then reset the rows of a mask; what that returned."""
    play(env, subject.actions, number + 1, seed=subject.seed)
    try:
        return clone(env.reset(seed=seed, options={"reset_mask": mask.copy()}))
    except Exception as error:
        mode = declared_mode(env)
        if mode is not None and mode.name == "DISABLED":
            raise
        raise NotJudged(f"it takes no reset_mask: {type(error).__name__}: {short(str(error), 80)}") from error


def _mask_for(count: int) -> Any:
    return np.arange(count) % 2 == 1


@rule(
    "partial_reset.others_stay",
    "reset(options={'reset_mask': mask}) gives all rows, and those outside the mask are as they were and go on so",
    MASK,
    "warning",
)
def others_stay(subject: Subject) -> str:
    tape = subject.tape()
    number, mask = _quiet_step(tape), _mask_for(tape.num_envs)
    with subject.env(**subject.course.extra) as env:
        observation, _ = _partial(subject, env, tape, number, mask)
        again = Tape(declared_mode(env), tape.num_envs, None, {})
        rows = [int(row) for row in np.flatnonzero(~mask)]
        for path, leaf in leaves(observation):
            if np.shape(on_host(leaf))[:1] != (tape.num_envs,):
                raise Broken("it did not give all rows", field=f"observation{path}", step=number,
                             found=str(on_host(leaf).shape), expected=f"{tape.num_envs} rows")  # fmt: skip
        for row in rows:
            before = row_of(tape.steps[number].observation, row)
            demand_same(difference(row_of(observation, row), before, "observation"),
                        "a row outside the mask changed", row=row, step=number)  # fmt: skip
        again.observation = observation
        for later in range(number + 1, min(number + 6, len(tape.steps))):
            step = take(env, again, subject.actions.rows(later, range(tape.num_envs)))
            rows = [row for row in rows if not tape.ended_before(later)[row]]
            for row in rows:
                demand_same(difference(step.row(row), tape.steps[later].row(row)),
                            "a row outside the mask goes on in another way", row=row, step=later)  # fmt: skip
    return f"after step {number}, mask {short(mask)}"


@rule(
    "partial_reset.seeds",
    "a seed given with a mask begins the marked rows as a full reset with that seed does",
    MASK,
    "warning",
)
def partial_seeds(subject: Subject) -> str:
    tape = subject.tape()
    number, mask = _quiet_step(tape), _mask_for(tape.num_envs)
    with subject.env(**subject.course.extra) as env:
        observation, _ = _partial(subject, env, tape, number, mask, seed=subject.seed + 500)
    with subject.env(**subject.course.extra) as env:
        fresh = clone(env.reset(seed=subject.seed + 500)[0])
    for row in np.flatnonzero(mask):
        demand_same(difference(row_of(observation, int(row)), row_of(fresh, int(row)), "observation"),
                    "another start than a full reset gives", row=int(row))  # fmt: skip
    return f"{int(mask.sum())} rows"


@rule("partial_reset.refuses", "a mask of another length or dtype, or without a True, is refused", MASK, "warning")
def refuses(subject: Subject) -> str:
    count = subject.num_envs
    wrong = {
        "one row too many": np.ones(count + 1, dtype=bool),
        "no True": np.zeros(count, dtype=bool),
        "integers": np.ones(count, dtype=np.int64),
    }
    with subject.env(**subject.course.extra) as env:
        _partial(subject, env, subject.tape(), 0, np.ones(count, dtype=bool))
        for title, mask in wrong.items():
            try:
                env.reset(options={"reset_mask": mask})
            except Exception:  # any refusal will do
                continue
            raise Broken(f"a mask with {title} was taken", field="options['reset_mask']", found=short(mask))
    return ", ".join(wrong)
