"""MinAtar's untouched programs beside a batched twin that draws what they drew, each free-running on its own state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from minatar import Environment

from simulacrum.contract.package import load_package
from simulacrum.contract.schema import Schema
from simulacrum.twin.reference import Context
from simulacrum.twin.state import params_type, params_values

Array = Any
Asked = list[Any]  # what a program's generator gave, in the order in which it was asked
Slots = Callable[[Asked], Mapping[str, Any]]  # the draws of the twin that mean the same, by slot


class Recorder:
    """A RandomState that keeps what it gave."""

    def __init__(self, seed: int) -> None:
        self._random, self.gave = np.random.RandomState(seed), []

    def rand(self, *size: int) -> Any:
        return self._keep(self._random.rand(*size))

    def randint(self, *given: Any, **named: Any) -> Any:
        return self._keep(self._random.randint(*given, **named))

    def _keep(self, value: Any) -> Any:
        self.gave.append(value.copy() if isinstance(value, np.ndarray) else value)
        return value

    def taken(self) -> Asked:
        """What it gave since it was last asked for this."""
        gave, self.gave = self.gave, []
        return gave


class Forced:
    """A handle for draws that gives what is put in, by slot, for each row.

    For a slot that a row's program did not draw it gives the lowest value: no rule may look at it.
    """

    def __init__(self, schema: Schema, rows: Sequence[Mapping[str, Any]]) -> None:
        self.counts, self.rows = {draw.name: draw.count for draw in schema.draws}, rows

    def integers(self, slot: str, high: Any, *, low: int = 0) -> torch.Tensor:
        return self._column(slot, torch.int32, low)

    def bernoulli(self, slot: str, p: Any) -> torch.Tensor:
        return self._column(slot, torch.bool, False)

    def _column(self, slot: str, dtype: torch.dtype, unused: Any) -> torch.Tensor:
        count = self.counts[slot]
        return torch.tensor([row.get(slot, [unused] * count if count else unused) for row in self.rows], dtype=dtype)


@dataclass
class Counts:
    """What a comparison met."""

    steps: int = 0
    episodes: int = 0
    rewards: float = 0.0
    stuck: int = 0


@dataclass
class Pair:
    """Rows of one game in MinAtar's program, and in the batched twin of the package `name`.

    at_reset, at_step: the twin's draws from what the program drew, after the draw that makes actions sticky.
    """

    name: str
    game: str
    at_reset: Slots
    at_step: Slots
    rows: int = 32
    seed: int = 0
    params: Mapping[str, Any] | None = None
    sticky: float = 0.1

    def __post_init__(self) -> None:
        package = load_package(self.name)
        self.twin, self.schema = package.fast(), package.schema
        values = params_values(self.schema, {"sticky_action_prob": self.sticky, **(self.params or {})})
        column = {name: torch.full((self.rows,), value) for name, value in values.items()}
        self.columns = params_type(self.schema)(**column)
        ramping = {name: bool(value) for name, value in values.items() if name == "difficulty_ramping"}
        self.programs: list[Any] = []
        for row in range(self.rows):
            program: Any = Environment(self.game, sticky_action_prob=self.sticky, **ramping)
            program.random = program.env.random = Recorder(self.seed + row)
            self.programs.append(program)
        self.t = torch.zeros(self.rows, dtype=torch.int32)
        self.state = self._started()

    def _started(self) -> Any:
        """All programs at the start of an episode, and the twin's states there."""
        return self._from(self.programs)

    def _from(self, programs: Sequence[Any]) -> Any:
        drawn: list[Mapping[str, Any]] = []
        for program in programs:
            program.reset()
            program.last_action = 0  # the one thing that MinAtar keeps from the episode before
            drawn.append(self.at_reset(program.random.taken()))
        t = torch.zeros(len(programs), dtype=torch.int32)
        return self.twin.reset(Context(Forced(self.schema, drawn), t, None))

    def play(self, steps: int, act: Callable[[Any], int] | None = None, limit: int = 10**9) -> Counts:
        """Step both, with random actions or those that `act` takes in a program; every bit shown is compared.

        An episode that is `limit` steps long begins anew on both sides.
        """
        counts, generator = Counts(), np.random.default_rng(self.seed)
        for _ in range(steps):
            random = generator.integers(0, 6, self.rows)
            actions = [act(p) if act is not None else int(a) for p, a in zip(self.programs, random, strict=True)]
            rewards, ends, drawn = self._stepped(actions, counts)
            ctx = Context(Forced(self.schema, drawn), self.t, self.columns)
            made = self.twin.step(self.state, torch.tensor(actions), ctx)
            self.t = self.t + 1
            assert made.reward.tolist() == rewards
            assert made.terminated.tolist() == ends
            self._compare(made.state)
            counts.steps += self.rows
            counts.rewards += sum(rewards)
            over = made.terminated | (self.t >= limit)
            counts.episodes += int(over.sum())
            self.state = self._renewed(made.state, over)
            if over.any():
                self._compare(self.state)
        return counts

    def _stepped(self, actions: Sequence[int], counts: Counts) -> tuple[list[float], list[bool], list[Any]]:
        rewards, ends, drawn = [], [], []
        for program, action in zip(self.programs, actions, strict=True):
            before = program.last_action
            reward, end = program.act(action)
            sticky, *rest = program.random.taken()
            stuck = bool(sticky < self.sticky)
            assert program.last_action == (before if stuck else action)
            counts.stuck += stuck
            drawn.append({"sticky": stuck, **self.at_step(rest)})
            rewards.append(float(reward))
            ends.append(bool(end))
        return rewards, ends, drawn

    def _renewed(self, state: Any, over: torch.Tensor) -> Any:
        """Rows that are over at the start of an episode, the others as they are."""
        rows = over.nonzero().flatten().tolist()
        if not rows:
            return state
        fresh = self._from([self.programs[row] for row in rows])
        self.t = torch.where(over, 0, self.t)
        made = [value.clone() for value in state]
        for value, new in zip(made, fresh, strict=True):
            value[rows] = new
        return self.twin.State(*made)

    def _compare(self, state: Any) -> None:
        """What is seen, in all rows."""
        theirs = np.stack([program.state() for program in self.programs])
        ours = self.twin.observe(state, Context(None, self.t, self.columns)).numpy()
        assert ours.dtype == np.int8
        assert np.array_equal(ours, theirs.astype(np.int8))
