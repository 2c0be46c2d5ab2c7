"""Rules about final observations: that they are the true last ones, beside the single environment or by themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.conformance.rule import Broken, NotJudged, rule
from simulacrum.conformance.rules.autoreset import final_row
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Tape
from simulacrum.conformance.values import Difference, convert, difference, is_array, leaves, on_host, row_of

SAME = AutoresetMode.SAME_STEP


def final_observation(tape: Tape, number: int, row: int) -> Any:
    """The last observation of the episode of a row that ends in a step, where the mode keeps it."""
    step = tape.steps[number]
    if tape.mode is not SAME:
        return row_of(step.observation, row)
    with contextlib.suppress(KeyError, IndexError, TypeError):
        return final_row(step, row)
    raise NotJudged("there is no final_obs: see same_step.final_obs")


# --- beside the single environment -----------------------------------------------------------------------------------


@dataclass
class Beside:
    """One row of a tape held against the single environment with the row's seed and actions."""

    tape: Tape
    single: Any
    row: int
    seed: int

    def episode(self) -> tuple[int, Difference | None, Difference | None]:
        """(step of the first end, difference of the last observation, of reward and flags in that step).

        `NotJudged` where the two part before the end, or never start alike: then nothing can be said about the end.
        """
        first, _ = self.single.reset(seed=self.seed)
        if _parted(row_of(self.tape.observation, self.row), first, "observation") is not None:
            raise NotJudged(f"the single environment with seed {self.seed} does not start as row {self.row} does")
        for number, step in enumerate(self.tape.steps):
            observation, reward, terminated, truncated, _ = self.single.step(step.given[self.row])
            values = {"reward": reward, "terminated": terminated, "truncated": truncated}
            found = {name: value for name, value in step.row(self.row).items() if name != "observation"}
            told = _parted(found, values, "")
            if step.ended[self.row]:
                return number, _parted(final_observation(self.tape, number, self.row), observation, "observation"), told
            told = told or _parted(row_of(step.observation, self.row), observation, "observation")
            if told is not None:
                raise NotJudged(
                    f"row {self.row} and the single environment part in {told.field} at step {number}, before an end"
                )
        raise NotJudged("no episode ended")


def _parted(found: Any, expected: Any, field: str) -> Difference | None:
    mine, theirs = list(leaves(found, field)), list(leaves(expected, field))
    for (name, x), (_, y) in zip(mine, theirs, strict=False):
        parted = difference(np.asarray(on_host(x)), np.asarray(on_host(y)), name, close=True)
        if parted is not None:
            return parted
    names = ", ".join(name for name, _ in theirs)
    return None if len(mine) == len(theirs) else Difference(field, None, "another structure", names)


def _beside(subject: Subject) -> Iterator[Beside]:
    """Each row whose first episode ends, beside a single environment."""
    tape = subject.tape_with_ends()
    if subject.single is None:
        raise NotJudged("there is no single environment of the same rules (it was not made by an id)")
    try:
        single = subject.single(**subject.course.extra)
    except Exception as error:
        raise NotJudged(f"the single environment cannot be made: {type(error).__name__}: {error}") from error
    with contextlib.closing(single):
        for row in range(tape.num_envs):
            if tape.first_end(row) is not None:
                yield Beside(tape, single, row, subject.seed + row)


@rule(
    "final.beside_single",
    "the observation an episode ends with is the one the single environment of the same id ends with",
    "VectorEnv; Vector Autoreset Mode; Env.step",
    "error",
)
def final_beside_single(subject: Subject) -> str:
    judged = 0
    for one in _beside(subject):
        number, parted, _ = one.episode()
        if parted is not None:
            raise Broken("not the last observation", row=one.row, step=number, field=parted.field, found=parted.found,
                         expected=parted.expected)  # fmt: skip
        judged += 1
    return f"{judged} episodes beside the single environment"


@rule(
    "final.reward_and_flags",
    "reward and flags of an episode's last step are those of the single environment of the same id",
    "VectorEnv.step; Env.step",
    "error",
)
def final_reward(subject: Subject) -> str:
    judged = 0
    for one in _beside(subject):
        number, _, parted = one.episode()
        if parted is not None:
            raise Broken("another last step", row=one.row, step=number, field=parted.field,
                         found=parted.found, expected=parted.expected)  # fmt: skip
        judged += 1
    return f"{judged} episodes beside the single environment"


# --- by themselves ---------------------------------------------------------------------------------------------------


@rule(
    "final.not_the_next_first",
    "an episode's last observation is not the first one of the next episode",
    "Vector Autoreset Mode",
    "error",
)
def not_the_next_first(subject: Subject) -> str:
    pairs = list(_with_next(subject.tape_with_ends()))
    if len(pairs) < 2:
        raise NotJudged("fewer than two ends with an episode after them")
    if all(difference(last, first) is None for _, _, last, first in pairs):
        number, row, _, _ = pairs[0]
        raise Broken(f"alike at all {len(pairs)} ends: the last observation is lost", row=row, step=number,
                     field="observation")  # fmt: skip
    return f"{len(pairs)} ends"


def _with_next(tape: Tape) -> Iterator[tuple[int, int, Any, Any]]:
    """(step, row, last observation, first of the next episode) of each end that has both."""
    for number, row in tape.ends():
        last = final_observation(tape, number, row)
        if tape.mode is SAME:
            yield number, row, last, row_of(tape.steps[number].observation, row)
        elif number + 1 < len(tape.steps):
            after = tape.steps[number + 1]
            starts = after.starts if after.restarted[row] else after.observation
            yield number, row, last, row_of(starts, row)


@rule(
    "final.not_the_one_before",
    "an episode's last observation is not merely the one of the step before",
    "Env.step; Vector Autoreset Mode",
    "error",
)
def not_the_one_before(subject: Subject) -> str:
    tape = subject.tape_with_ends()
    ends = [(number, row) for number, row in tape.ends() if _previous(tape, number, row) is not None]
    if len(ends) < 2:
        raise NotJudged("fewer than two episodes of more than one step")
    moving = [
        difference(row_of(tape.steps[number].observation, row), previous) is not None
        for number in range(1, len(tape.steps))
        for row in range(tape.num_envs)
        if not tape.steps[number].ended[row] and (previous := _previous(tape, number, row)) is not None
    ]
    if not moving or sum(moving) < 0.9 * len(moving):
        raise NotJudged("observations often stay the same from step to step in the middle of an episode too")
    if all(difference(final_observation(tape, n, r), _previous(tape, n, r)) is None for n, r in ends):
        number, row = ends[0]
        raise Broken(f"the one of the step before at all {len(ends)} ends", row=row, step=number, field="observation")
    return f"{len(ends)} ends"


def _previous(tape: Tape, number: int, row: int) -> Any:
    """The observation before a step of the same episode, None where the step is the episode's first or a reset step."""
    if number == 0:
        return row_of(tape.observation, row)
    if tape.steps[number].restarted[row]:
        return None
    if tape.mode is not SAME and tape.ended_before(number)[row]:
        return None
    return row_of(tape.steps[number - 1].observation, row)


@rule(
    "modes.agree",
    "the same seed and actions give the same first episode in each mode that is offered",
    "Vector Autoreset Mode",
    "error",
)
def modes_agree(subject: Subject) -> str:
    tapes: list[Tape] = []
    for mode in AutoresetMode:
        with contextlib.suppress(NotJudged):
            tapes.append(subject.tape_with_ends(mode))
    if len(tapes) < 2:
        raise NotJudged("fewer than two modes are offered")
    base, judged = tapes[0], 0
    for other in tapes[1:]:
        for row in range(base.num_envs):
            judged += _same_first_episode(base, other, row)
    return f"{judged} episodes in {len(tapes)} modes"


def _same_first_episode(base: Tape, other: Tape, row: int) -> int:
    assert base.mode is not None
    assert other.mode is not None
    title = f"{other.mode.name} and {base.mode.name} differ"
    parted = difference(row_of(other.observation, row), row_of(base.observation, row), "observation")
    end = base.first_end(row)
    last = min(len(base.steps), len(other.steps)) - 1 if end is None else end
    number = 0
    while parted is None and number <= last:
        mine, theirs = (_shown(tape, number, row) for tape in (other, base))
        parted, number = difference(mine, theirs), number + 1
    if parted is not None:
        raise Broken(title, row=row, step=max(number - 1, 0), field=parted.field, found=parted.found,
                     expected=parted.expected)  # fmt: skip
    return 1


def _shown(tape: Tape, number: int, row: int) -> dict[str, Any]:
    shown = tape.steps[number].row(row)
    if tape.steps[number].ended[row]:
        shown["observation"] = _as_row(final_observation(tape, number, row))
    return shown


def _as_row(value: Any) -> Any:
    """A row kept in an object array (an array of its own) as a row of a batch is."""
    return convert(value, lambda leaf: leaf[()] if isinstance(leaf, np.ndarray) and is_array(leaf) else leaf)
