"""A run of an environment, copied down at once, so that nothing the environment does later changes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.conformance.actions import Actions, batched
from simulacrum.conformance.rule import NotJudged
from simulacrum.conformance.values import clone, on_host, row_of

Mask = Any  # a bool array [N]


@dataclass
class Step:
    """What one step was given and gave. `restarted` are the rows reset by hand before it, `starts` what that gave."""

    given: list[Any]
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]
    ended: Mask
    restarted: Mask
    starts: Any = None

    def returned(self) -> dict[str, Any]:
        """The four values of every row, by name."""
        return {
            "observation": self.observation,
            "reward": self.reward,
            "terminated": self.terminated,
            "truncated": self.truncated,
        }

    def row(self, row: int) -> dict[str, Any]:
        """The four values of one row, by name."""
        return row_of(self.returned(), row)


@dataclass
class Tape:
    """A reset and the steps after it."""

    mode: AutoresetMode | None
    num_envs: int
    observation: Any
    info: Any
    steps: list[Step] = field(default_factory=list[Step])

    def ends(self) -> list[tuple[int, int]]:
        """(step, row) of every end of an episode, in order."""
        return [(number, int(row)) for number, step in enumerate(self.steps) for row in np.flatnonzero(step.ended)]

    def ended_before(self, number: int) -> Mask:
        """The rows whose episode ended in the step before this one."""
        return self.steps[number - 1].ended if number else np.zeros(self.num_envs, dtype=bool)

    def first_end(self, row: int) -> int | None:
        """The step in which a row's first episode ended."""
        return next((number for number, one in self.ends() if one == row), None)

    def first_observations(self, row: int) -> list[Any]:
        """The first observation of each episode of one row, as far as the mode hands it out."""
        found = [row_of(self.observation, row)]
        for number, step in enumerate(self.steps):
            if step.restarted[row] and step.starts is not None:
                found.append(row_of(step.starts, row))
            elif (self.mode is AutoresetMode.SAME_STEP and step.ended[row]) or (
                self.mode is AutoresetMode.NEXT_STEP and self.ended_before(number)[row]
            ):
                found.append(row_of(step.observation, row))
        return found


def flag(value: Any, num_envs: int, name: str) -> Mask:
    """One of the two flags as a bool array `[N]`; `NotJudged` where it has no such shape."""
    made = on_host(value)
    if made.shape != (num_envs,):
        raise NotJudged(f"{name} has the shape {made.shape} and not ({num_envs},), so rows cannot be told apart")
    return made.astype(bool)


def play(
    env: Any,
    actions: Actions,
    steps: int,
    *,
    seed: Any,
    rows: Sequence[int] | None = None,
    stop: Callable[[Tape], bool] | None = None,
    begin: bool = True,
) -> Tape:
    """Reset and step with a table's actions; where autoreset is disabled, ended rows are reset by hand first.

    Args:
        env: a vector environment.
        actions: the table.
        steps: how many steps at most.
        seed: given to reset.
        rows: which rows of the table the environment's rows follow; 0 to N - 1 by default.
        stop: asked after each step.
        begin: False to go on without a reset (the tape then has no first observation).
    """
    count = int(env.num_envs)
    rows = range(count) if rows is None else rows
    mode = declared_mode(env)
    observation, info = env.reset(seed=seed) if begin else (None, {})
    tape = Tape(mode, count, clone(observation), clone(info))
    for number in range(steps):
        take(env, tape, actions.rows(number, rows))
        if stop is not None and stop(tape):
            break
    return tape


def take(env: Any, tape: Tape, given: list[Any]) -> Step:
    """One step with the given single actions, entered on the tape."""
    restarted, starts = tape.ended_before(len(tape.steps)).copy(), None
    if tape.mode is AutoresetMode.DISABLED and restarted.any():
        starts = clone(env.reset(options={"reset_mask": restarted.copy()})[0])
    else:
        restarted = np.zeros(tape.num_envs, dtype=bool)
    like = tape.observation if not tape.steps else tape.steps[-1].observation
    observation, reward, terminated, truncated, info = env.step(batched(env.single_action_space, given, like))
    ended = flag(terminated, tape.num_envs, "terminated") | flag(truncated, tape.num_envs, "truncated")
    shown = (clone(observation), clone(reward), clone(terminated), clone(truncated), clone(info))
    step = Step(given, *shown, ended, restarted, starts)
    tape.steps.append(step)
    return step


def declared_mode(env: Any) -> AutoresetMode | None:
    """The mode that the environment's metadata name, None where they name none."""
    metadata: Any = getattr(env, "metadata", None)
    mode = metadata.get("autoreset_mode") if isinstance(metadata, dict) else None
    return mode if isinstance(mode, AutoresetMode) else None
