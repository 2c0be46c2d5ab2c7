"""Rules about the three autoreset modes, each by its table in Gymnasium's documentation.

              step in which an episode ends                         the step after
    NEXT_STEP last observation, its reward, the flag                action ignored: first observation, 0, no flag
    SAME_STEP first observation of the next episode, reward and     an ordinary step
              flag of the old one; final_obs, final_info with masks
    DISABLED  last observation, its reward, the flag                refused until the row is reset by reset_mask
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.conformance.actions import batched
from simulacrum.conformance.membership import misfit
from simulacrum.conformance.rule import Broken, NotJudged, demand_same, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Step, Tape, play, take
from simulacrum.conformance.values import convert, difference, is_array, on_host, row_of, short

MODES_PAGE = "Vector Autoreset Mode"
NEXT, SAME, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


# --- NEXT_STEP -------------------------------------------------------------------------------------------------------


@rule(
    "next_step.reset_step",
    "in NEXT_STEP the step after an end has reward 0 and both flags false",
    f"{MODES_PAGE}, next-step",
    "error",
)
def next_reset_step(subject: Subject) -> str:
    tape, judged = subject.tape_with_ends(NEXT), 0
    for number, row in tape.ends():
        if number + 1 == len(tape.steps):
            continue
        after = tape.steps[number + 1]
        judged += 1
        for name, wanted in (("reward", 0.0), ("terminated", False), ("truncated", False)):
            found = on_host(after.returned()[name])[row]
            if found != wanted:
                raise Broken("the step after an end is no reset step", row=row, step=number + 1, field=name,
                             found=short(found), expected=str(wanted))  # fmt: skip
    return f"{judged} steps after an end"


@rule(
    "next_step.action_ignored",
    "in NEXT_STEP the action given in the step after an end changes nothing",
    f"{MODES_PAGE}, next-step",
    "error",
)
def next_action_ignored(subject: Subject) -> str:
    tape = subject.tape_with_ends(NEXT)
    number, row = tape.ends()[0]
    with subject.env(mode=NEXT, **subject.course.extra) as env:
        again = play(env, subject.actions, number + 1, seed=subject.seed)
        given = subject.actions.rows(number + 1, range(tape.num_envs))
        other = _another(env.single_action_space, given[row])
        step = take(env, again, [other if one == row else action for one, action in enumerate(given)])
    if number + 1 == len(tape.steps):
        raise NotJudged("the first end came with the last step")
    wanted = tape.steps[number + 1]
    demand_same(difference(again.observation, tape.observation), "two runs with one seed differ from the start")
    demand_same(difference(step.row(row), wanted.row(row)), "another action gave another reset", row=row,
                step=number + 1)  # fmt: skip
    return f"row {row} at step {number + 1}"


def _another(space: Any, action: Any) -> Any:
    """Another action than this one; `NotJudged` where 50 samples are all the same."""
    for _ in range(50):
        sample = space.sample()
        if difference(sample, action) is not None:
            return sample
    raise NotJudged("the action space has one action only")


# --- SAME_STEP -------------------------------------------------------------------------------------------------------


@rule(
    "same_step.final_obs",
    "in SAME_STEP info['final_obs'] holds the last observation of each row that ended, and no mask marks another row",
    f"{MODES_PAGE}, same-step; VectorEnv, final_obs",
    "error",
)
def same_final_obs(subject: Subject) -> str:
    tape, judged = subject.tape_with_ends(SAME), 0
    with subject.env(mode=SAME, **subject.course.extra) as env:
        single = env.single_observation_space
    for number, step in enumerate(tape.steps):
        _demand_key(step, number, "final_obs")
        _demand_mask(step, number, "final_obs")
        for row in np.flatnonzero(step.ended):
            one = final_row(step, int(row))
            if one is None:
                raise Broken("nothing for an ended row", row=int(row), step=number, field="info.final_obs")
            wrong = misfit(single, _as_arrays(one), "info.final_obs")
            if wrong is not None:
                raise Broken(wrong.what, row=int(row), step=number, field=wrong.field, found=wrong.found,
                             expected=wrong.expected)  # fmt: skip
            judged += 1
    return f"{judged} ends"


@rule(
    "same_step.final_obs_mask",
    "in SAME_STEP info['_final_obs'] marks the rows that ended",
    f"{MODES_PAGE}, same-step; VectorEnv, infos",
    "warning",
)
def same_final_obs_mask(subject: Subject) -> str:
    tape = subject.tape_with_ends(SAME)
    for number, step in enumerate(tape.steps):
        _demand_key(step, number, "_final_obs")
    return f"{len(tape.ends())} ends"


def _as_arrays(value: Any) -> Any:
    """Rows of Discrete observations are NumPy's own numbers; as arrays they can be judged like all others."""
    return convert(value, lambda leaf: leaf if is_array(leaf) else np.asarray(leaf))


def final_row(step: Step, row: int) -> Any:
    """The final observation of an ended row: from an object array, a dense batch, or a nest of batches."""
    return row_of(step.info["final_obs"], row)


def _demand_key(step: Step, number: int, key: str) -> None:
    """`Broken` where an episode ended and the info has no such key."""
    if step.ended.any() and key not in step.info:
        row = int(np.flatnonzero(step.ended)[0])
        raise Broken("missing at the end of an episode", row=row, step=number, field=f"info.{key}",
                     found=", ".join(sorted(map(str, step.info))) or "no info")  # fmt: skip


def _demand_mask(step: Step, number: int, key: str) -> None:
    """`Broken` where `info[_key]` is there and does not mark exactly the rows that ended."""
    if f"_{key}" not in step.info:
        return
    mask = on_host(step.info[f"_{key}"])
    if mask.shape != step.ended.shape or mask.dtype != np.bool_:
        raise Broken("no mask of the rows", step=number, field=f"info._{key}", found=f"{mask.dtype} {mask.shape}",
                     expected=f"bool {step.ended.shape}")  # fmt: skip
    wrong = np.flatnonzero(mask != step.ended)
    if wrong.size:
        row = int(wrong[0])
        raise Broken("marks other rows than those that ended", row=row, step=number, field=f"info._{key}",
                     found=str(bool(mask[row])), expected=str(bool(step.ended[row])))  # fmt: skip


@rule(
    "same_step.final_info",
    "in SAME_STEP the info of an episode's last step is in info['final_info'], marked in info['_final_info']",
    f"{MODES_PAGE}, same-step",
    "warning",
)
def same_final_info(subject: Subject) -> str:
    tape = subject.tape_with_ends(SAME)
    for number, step in enumerate(tape.steps):
        _demand_key(step, number, "final_info")
        _demand_key(step, number, "_final_info")
        _demand_mask(step, number, "final_info")
        final = step.info.get("final_info", {})
        if not isinstance(final, dict):
            raise Broken("no dict", step=number, field="info.final_info", found=type(final).__name__, expected="dict")
    return f"{len(tape.ends())} ends"


@rule(
    "same_step.ordinary_after",
    "in SAME_STEP the step after an end is an ordinary one: its action counts",
    f"{MODES_PAGE}, same-step",
    "error",
)
def same_ordinary_after(subject: Subject) -> str:
    tape = subject.tape_with_ends(SAME)
    for number, row in tape.ends()[:20]:
        for other in range(6):
            if number + 1 < len(tape.steps) and _acts(subject, SAME, tape, number, row, other):
                return f"row {row} at step {number + 1}"
    # Many rules ignore most actions; whether this one had to count can be seen from a first step.
    if not any(_acts(subject, SAME, tape, -1, row, other) for row in range(tape.num_envs) for other in range(6)):
        raise NotJudged("no action made a difference in a first step of an episode either")
    number, row = tape.ends()[0]
    raise Broken("no action makes a difference in the step after an end", row=row, step=number + 1)


def _acts(subject: Subject, mode: AutoresetMode, tape: Tape, number: int, row: int, other: int) -> bool:
    """Whether another action in step `number` + 1 changes what that row gives in it or in the step after."""
    with subject.env(mode=mode, **subject.course.extra) as env:
        again = play(env, subject.actions, number + 1, seed=subject.seed)
        given = subject.actions.rows(number + 1, range(tape.num_envs))
        changed = subject.actions.one(tape.num_envs + other, number + 1)
        if difference(changed, given[row]) is None:
            return False
        take(env, again, [changed if one == row else action for one, action in enumerate(given)])
        take(env, again, subject.actions.rows(number + 2, range(tape.num_envs)))
    pairs = zip(again.steps[number + 1 :], tape.steps[number + 1 :], strict=False)
    return any(difference(a.row(row), b.row(row)) is not None for a, b in pairs)


# --- DISABLED --------------------------------------------------------------------------------------------------------


@rule(
    "disabled.reset_mask",
    "in DISABLED reset(options={'reset_mask': mask}) begins episodes in the marked rows and leaves the others alone",
    f"{MODES_PAGE}, disabled",
    "error",
)
def disabled_reset_mask(subject: Subject) -> str:
    tape = subject.tape_with_ends(DISABLED)
    judged = 0
    for number, step in enumerate(tape.steps):
        if not step.restarted.any():
            continue
        judged += 1
        before = tape.steps[number - 1].observation
        for row in np.flatnonzero(~step.restarted):
            demand_same(difference(row_of(step.starts, int(row)), row_of(before, int(row)), "observation"),
                        "a row outside the mask changed", row=int(row), step=number)  # fmt: skip
    if judged:
        return f"{judged} partial resets"
    raise NotJudged("no end before the last step")


@rule(
    "disabled.no_autoreset",
    "in DISABLED an ended row is not reset by itself: a step without a reset is refused",
    f"{MODES_PAGE}, disabled; SyncVectorEnv.step",
    "warning",
)
def disabled_no_autoreset(subject: Subject) -> str:
    tape = subject.tape_with_ends(DISABLED)
    number, row = tape.ends()[0]
    with subject.env(mode=DISABLED, **subject.course.extra) as env:
        again = play(env, subject.actions, number + 1, seed=subject.seed)
        given = subject.actions.rows(number + 1, range(tape.num_envs))
        try:
            env.step(batched(env.single_action_space, given, again.observation))
        except Exception as error:
            return f"refused: {type(error).__name__}"
    raise Broken("a step of an ended row was taken", row=row, step=number + 1)
