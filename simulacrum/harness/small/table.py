"""Transitions that the reference has told, as rows; and the same rows stepped by the batched twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.rows import EngineState
from simulacrum.harness.frames import Array, Frame, take
from simulacrum.harness.small.choices import Taken
from simulacrum.harness.small.forced import Forced, ForcedCore
from simulacrum.harness.small.nodes import Nodes
from simulacrum.rng.batched import episode_key
from simulacrum.rng.layout import Slot
from simulacrum.twin.batched import torch_dtype

CHUNK = 16_384  # rows of one call of the batched twin


class Chosen:
    """Sequences of chosen draws, each once, as columns for the batched twin."""

    def __init__(self) -> None:
        self.all: list[Taken] = []
        self._numbers: dict[Taken, int] = {}
        self._columns: dict[str, tuple[int, Array, Array]] = {}

    def number(self, taken: Taken) -> int:
        """The number of a sequence, a new one where it was not met before."""
        found = self._numbers.get(taken)
        if found is None:
            found = self._numbers[taken] = len(self.all)
            self.all.append(taken)
        return found

    def column(self, slot: Slot, numbers: Array) -> tuple[Array, Array]:
        """What these sequences chose for a slot, and where they chose anything: `[N]`, or `[N, K]` for a count K."""
        size, values, where = self._columns.get(slot.name, (0, np.zeros(0), np.zeros(0)))
        if size < len(self.all):
            shape = (len(self.all),) if slot.count is None else (len(self.all), slot.count)
            values, where = np.zeros(shape, slot.result), np.zeros(shape, np.bool_)
            for row, taken in enumerate(self.all):
                for name, index, value in taken:
                    if name == slot.name:
                        place = row if index is None else (row, index)
                        values[place], where[place] = value, True
            self._columns[slot.name] = len(self.all), values, where
        return values[numbers], where[numbers]


@dataclass
class Table:
    """Transitions as the reference told them: one list entry a transition. Sources and ends are numbers of `Nodes`.

    A table of starts has no sources: -1 there, and no actions.
    """

    sources: list[int] = field(default_factory=list[int])
    actions: list[int] = field(default_factory=list[int])
    chosen: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    rewards: list[float] = field(default_factory=list[float])
    terminated: list[bool] = field(default_factory=list[bool])
    truncated: list[bool] = field(default_factory=list[bool])

    def __len__(self) -> int:
        return len(self.ends)

    def add(
        self, source: int, action: int, chosen: int, end: int, reward: float, terminated: bool, truncated: bool
    ) -> None:  # fmt: skip
        """One more transition."""
        self.sources.append(source)
        self.actions.append(action)
        self.chosen.append(chosen)
        self.ends.append(end)
        self.rewards.append(reward)
        self.terminated.append(terminated)
        self.truncated.append(truncated)

    def chunks(self) -> Iterator[slice]:
        """The rows in portions of at most `CHUNK`."""
        for start in range(0, len(self), CHUNK):
            yield slice(start, min(start + CHUNK, len(self)))


def told(schema: Schema, table: Table, nodes: Nodes, rows: slice) -> Frame:
    """What the reference showed in these rows, as a frame."""
    ends = np.array(table.ends[rows], np.int64)
    frame = nodes.frame(ends)
    frame["reward"] = np.array(table.rewards[rows], np.float64).astype(schema.reward.dtype)
    frame["terminated"] = np.array(table.terminated[rows], np.bool_)
    frame["truncated"] = np.array(table.truncated[rows], np.bool_)
    frame["episode"] = np.zeros(len(ends), np.int32)
    frame["episode_return"] = np.array(table.rewards[rows], np.float64)
    frame["episode_length"] = frame["t"]
    return frame


class Fast:
    """The batched twin, put into places and stepped once, a table's rows at a time.

    limit: the time limit in steps, or None. Row r of a table has the seed r, episode 0.
    """

    def __init__(self, package: EnvPackage, limit: int | None, nodes: Nodes, chosen: Chosen, device: str) -> None:
        self.schema, self.nodes, self.chosen = package.schema, nodes, chosen
        self.core = ForcedCore(package.fast(), limit)
        self.device = torch.device(device)

    def starts(self, table: Table, rows: slice) -> Frame:
        """The batched twin's frame of these rows of a table of starts."""
        ends = np.array(table.ends[rows], np.int64)
        params = self.params(ends)
        self._force(table, rows, "reset")
        seed = self.seeds(rows.stop)[rows]
        state = self.core.fresh(seed, torch.zeros_like(seed[:, 0]), params)
        observation, info, mask = self.core.observe(state, params)
        nothing = torch.zeros_like(state.ended)
        reward = torch.zeros(len(ends), dtype=torch_dtype(self.schema.reward.dtype), device=self.device)
        return _frame(self.schema, state, (reward, nothing, nothing), observation, info, mask)

    def steps(self, table: Table, rows: slice, actions: Any) -> Frame:
        """The batched twin's frame of these rows; `actions` holds each action of the space once, `[A, ...]`."""
        sources = np.array(table.sources[rows], np.int64)
        self._force(table, rows, "step")
        frame, _ = self.step(sources, take(actions, table.actions[rows]), self.seeds(rows.stop)[rows])
        return frame

    def step(self, sources: Array, actions: Any, seeds: torch.Tensor | None = None) -> tuple[Frame, Array]:
        """One step from these places with these actions, `[N, ...]` both; the frame, and which rows were refused."""
        if seeds is None:
            self.core.forced = {}
            seeds = self.seeds(len(sources))
        params = self.params(sources)
        before = self.state(sources, seeds)
        after, out = self.core.step(AutoresetMode.DISABLED, before, self._actions(actions, len(sources)), params)
        shown = _frame(self.schema, after, (out.reward, out.terminated, out.truncated), out.observation, out.info,
                       out.action_mask)
        return shown, out.illegal.cpu().numpy()

    def state(self, sources: Array, seeds: torch.Tensor) -> EngineState:
        """Rows at these places `[N]`, with the seed words int32 `[N, 2]`; nothing has ended."""
        places = self.nodes.frame(sources)
        episode = torch.zeros_like(seeds[:, 0])
        env = self.core.env.State(*(self._tensor(places[f"state.{name}"]) for name in self.schema.state.fields))
        return EngineState(
            env, seeds, episode, episode_key(seeds, episode), self._tensor(places["t"]),
            torch.zeros_like(episode, dtype=torch.float64), torch.zeros_like(episode, dtype=torch.bool),
        )  # fmt: skip

    def params(self, places: Array) -> Any:
        """The parameters of these places as a struct of tensors `[N]`."""
        sets = self.nodes.scalar.params
        own = torch.tensor([self.nodes.places[place][0] for place in places], device=self.device)
        kinds = [torch_dtype(param.field.dtype) for param in self.schema.params.values()]
        return type(sets[0])(
            *(torch.tensor(each, dtype=kind, device=self.device)[own]
              for kind, each in zip(kinds, zip(*sets, strict=True), strict=True))
        )  # fmt: skip

    def seeds(self, count: int) -> torch.Tensor:
        """The words of the seeds 0 to `count` - 1, int32 `[count, 2]`."""
        low = torch.arange(count, dtype=torch.int32, device=self.device)
        return torch.stack([low, torch.zeros_like(low)], dim=1)

    def _actions(self, actions: Any, count: int) -> Any:
        return to_tensors(self.schema.action, actions, count, self.device)

    def _tensor(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _force(self, table: Table, rows: slice, phase: str) -> None:
        numbers = np.array(table.chosen[rows], np.int64)
        self.core.given = {}
        self.core.forced = {
            slot.name: Forced(*(self._tensor(part) for part in self.chosen.column(slot, numbers)))
            for slot in self.core.layout.slots if slot.phase == phase
        }  # fmt: skip


def _frame(
    schema: Schema, state: EngineState, outcome: tuple[torch.Tensor, ...], observation: Any, info: Any, mask: Any
) -> Frame:
    """What the batched twin shows, under the names of `frame_fields`."""
    reward, terminated, truncated = outcome
    shown = {f"state.{name}": value for name, value in zip(state.env._fields, state.env, strict=True)}
    shown.update(reward=reward, terminated=terminated, truncated=truncated, t=state.t, episode=state.episode)
    shown.update(episode_return=state.returns, episode_length=state.t)
    if schema.observation.single:
        shown["observation"] = observation
    else:
        shown.update({f"observation.{name}": value for name, value in observation.items()})
    shown.update({f"info.{name}": info[name] for name in schema.info.fields})
    if mask is not None:
        shown["action_mask"] = mask
    return {name: value.cpu().numpy() for name, value in shown.items()}
