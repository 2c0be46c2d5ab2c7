"""A batched twin beside the untouched package that its rules come from: one step, whole episodes, figures of the spec.

`Theirs` and `Ours` take the same states, float64 `[N, F]` in the order of the schema's state fields, and the same
actions, and give the same four arrays, so that a test compares them column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch

from simulacrum.contract.package import load_package
from simulacrum.engine.params import batch_params
from simulacrum.twin.reference import Context

Array = Any
Policy = Callable[[Array, int], Array]


class After(NamedTuple):
    """What one step gave: states float64 `[N, F]`, rewards float64 `[N]`, ends bool `[N]`, observations `[N, ...]`."""

    states: Array
    rewards: Array
    ends: Array
    seen: Array


class Theirs:
    """One env of Gymnasium that is put into many states, one after the other. `attributes` are set on it."""

    def __init__(self, env_id: str, attributes: Mapping[str, Any] | None = None, **arguments: Any) -> None:
        self.env: Any = gymnasium.make(env_id, **arguments).unwrapped
        for name, value in (attributes or {}).items():
            assert hasattr(self.env, name)
            setattr(self.env, name, value)

    def step(self, states: Array, actions: Array) -> After:
        after, rewards = np.empty_like(states), np.empty(len(states))
        ends = np.empty(len(states), dtype=bool)
        seen = np.empty((len(states), *self.env.observation_space.shape), dtype=np.float32)
        for row, (state, action) in enumerate(zip(states, actions, strict=True)):
            self.env.state = state
            seen[row], rewards[row], ends[row], truncated, _ = self.env.step(action)
            assert not truncated
            after[row] = self.env.state
        return After(after, rewards, ends, seen)


class Ours:
    """The batched twin of a package, under parameters."""

    def __init__(self, name: str, params: Mapping[str, Any] | None = None) -> None:
        package = load_package(name)
        self.twin, self.schema, self.params = package.fast(), package.schema, params

    def step(self, states: Array, actions: Array) -> After:
        ctx = Context(None, None, batch_params(self.schema, self.params, len(states), torch.device("cpu")))
        columns = [torch.from_numpy(np.ascontiguousarray(column)) for column in states.T]
        made = self.twin.step(self.twin.State(*columns), torch.from_numpy(actions), ctx)
        after = torch.stack([value.to(torch.float64) for value in made.state], dim=-1)
        rewards, seen = made.reward.to(torch.float64), self.twin.observe(made.state, ctx)
        return After(after.numpy(), rewards.numpy(), made.terminated.numpy(), seen.numpy())


@dataclass
class Side:
    """One side's episodes: where each stands, what it has earned, how many steps it took."""

    states: Array
    returns: Array
    lengths: Array


@dataclass
class Together:
    """Episodes that began alike and were then left to themselves."""

    theirs: Side
    ours: Side
    apart: Array = field(default_factory=lambda: np.zeros(0))  # the furthest of each column, `[F]`
    by_step: list[Array] = field(default_factory=list[Array])  # the same of each step

    @property
    def other_lengths(self) -> int:
        """How many episodes did not end at the same step on both sides."""
        return int((self.theirs.lengths != self.ours.lengths).sum())

    @property
    def returns_apart(self) -> float:
        """The furthest that two returns are apart."""
        return float(np.abs(self.theirs.returns - self.ours.returns).max())


def play(
    theirs: Theirs,
    ours: Ours,
    starts: Array,
    policy: Policy,
    limit: int,
    distance: Callable[[Array, Array], Array] = lambda one, other: np.abs(one - other),
    watch: Callable[[Array], None] = lambda states: None,
) -> Together:
    """Both from `starts`, each asking the policy about its own states, for as long as neither has come to its end.

    `watch` is shown the states that the untouched package comes to.
    """
    count = len(starts)
    sides = [Side(starts.copy(), np.zeros(count), np.zeros(count, np.int64)) for _ in range(2)]
    going = [np.ones(count, bool), np.ones(count, bool)]
    run = Together(*sides, apart=np.zeros(starts.shape[1]))
    for t in range(limit):
        for env, side, alive in zip((theirs, ours), sides, going, strict=True):
            rows = np.flatnonzero(alive)
            if not len(rows):
                continue
            actions = policy(side.states, t)[rows]
            after = env.step(side.states[rows], actions)
            side.states[rows], alive[rows] = after.states, ~after.ends
            side.returns[rows] += after.rewards
            side.lengths[rows] += 1
            if env is theirs:
                watch(after.states)
        same = sides[0].lengths == sides[1].lengths
        run.by_step.append(distance(sides[0].states[same], sides[1].states[same]).max(axis=0, initial=0.0))
        run.apart = np.maximum(run.apart, run.by_step[-1])
        if not (going[0] | going[1]).any():
            break
    return run


def figures(name: str) -> dict[str, float]:
    """The table under "Beside Gymnasium" in a package's spec: what was measured, and the figure stated for it."""
    text = (load_package(name).folder / "spec.md").read_text("utf-8")
    lines = text.split("## Beside Gymnasium", 1)[1].split("\n## ", 1)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: float(row[1].rstrip("%").replace(",", "")) for row in cells[2:]}
