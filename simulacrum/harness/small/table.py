"""Transitions that the reference has told, as rows; and the same rows stepped by the batched twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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


class Row(NamedTuple):
    """One transition: numbers of `Nodes` (-1 before a start), of the action and of `Chosen`; and what came out."""

    source: int
    action: int
    chosen: int
    end: int
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


Table = list[Row]  # transitions as the reference told them


def chunks(table: Table) -> Iterator[Table]:
    """The table in portions of at most `CHUNK` rows."""
    for start in range(0, len(table), CHUNK):
        yield table[start : start + CHUNK]


def told(schema: Schema, table: Table, nodes: Nodes) -> Frame:
    """What the reference showed in these rows, as a frame."""
    _, _, _, ends, rewards, terminated, truncated = zip(*table, strict=True)
    frame = nodes.frame(np.array(ends))
    frame["reward"] = np.array(rewards, np.float64).astype(schema.reward.dtype)
    frame["terminated"], frame["truncated"] = np.array(terminated), np.array(truncated)
    frame["episode"] = np.zeros(len(table), np.int32)
    frame["episode_return"] = np.array(rewards, np.float64)
    frame["episode_length"] = frame["t"]
    return frame


class Fast:
    """The batched twin, put into places and stepped once, many rows at a time.

    limit: the time limit in steps, or None. Row r has the seed r and episode 0.
    """

    def __init__(self, package: EnvPackage, limit: int | None, nodes: Nodes, chosen: Chosen, device: str) -> None:
        self.schema, self.nodes, self.chosen = package.schema, nodes, chosen
        self.core = ForcedCore(package.fast(), limit)
        self.device = torch.device(device)

    def starts(self, table: Table) -> Frame:
        """The batched twin's frame of a table of starts."""
        params = self.params([row.end for row in table])
        self._force(table, "reset")
        seed = self.seeds(len(table))
        return self._standing(self.core.fresh(seed, torch.zeros_like(seed[:, 0]), params), params)

    def standing(self, places: Sequence[int]) -> Frame:
        """The batched twin's frame of rows that stand at these places and have not been stepped."""
        return self._standing(self.state(places), self.params(places))

    def _standing(self, state: EngineState, params: Any) -> Frame:
        observation, info, mask = self.core.observe(state, params)
        nothing = torch.zeros_like(state.ended)
        reward = torch.zeros_like(state.returns, dtype=torch_dtype(self.schema.reward.dtype))
        return _frame(self.schema, state, (reward, nothing, nothing), observation, info, mask)

    def showing(self, state: Any, t: int, p: int) -> Frame:
        """The batched twin's frame of one row in a scalar state that need not be a place."""
        seeds = self.seeds(1)
        episode = torch.zeros_like(seeds[:, 0])
        held = zip(self.schema.state.values(), state, strict=True)
        env = self.core.env.State(
            *(torch.tensor([value], dtype=torch_dtype(field.dtype), device=self.device) for field, value in held)
        )
        ended = torch.zeros_like(episode, dtype=torch.bool)
        returns = torch.zeros_like(episode, dtype=torch.float64)
        rows = EngineState(env, seeds, episode, episode_key(seeds, episode), episode + t, returns, ended)
        return self._standing(rows, self._params([p]))

    def steps(self, table: Table, actions: Any) -> Frame:
        """The batched twin's frame of a table; `actions` holds each action of the space once, `[A, ...]`."""
        self._force(table, "step")
        return self._step([row.source for row in table], take(actions, [row.action for row in table]))[0]

    def drawn(self, sources: Sequence[int], actions: Any) -> tuple[Frame, Array]:
        """One step from these places with these actions, `[N, ...]` both, nothing forced; and which were refused."""
        self.core.forced = {}
        return self._step(sources, actions)

    def _step(self, sources: Sequence[int], actions: Any) -> tuple[Frame, Array]:
        params, before = self.params(sources), self.state(sources)
        action = to_tensors(self.schema.action, actions, len(sources), self.device)
        after, out = self.core.step(AutoresetMode.DISABLED, before, action, params)
        flags = (out.reward, out.terminated, out.truncated)
        shown = _frame(self.schema, after, flags, out.observation, out.info, out.action_mask)
        return shown, out.illegal.cpu().numpy()

    def state(self, sources: Sequence[int]) -> EngineState:
        """Rows at these places, row r with the seed r; nothing has ended."""
        places, seeds = self.nodes.frame(np.array(sources)), self.seeds(len(sources))
        episode = torch.zeros_like(seeds[:, 0])
        env = self.core.env.State(*(self._tensor(places[f"state.{name}"]) for name in self.schema.state.fields))
        return EngineState(
            env, seeds, episode, episode_key(seeds, episode), self._tensor(places["t"]),
            torch.zeros_like(episode, dtype=torch.float64), torch.zeros_like(episode, dtype=torch.bool),
        )  # fmt: skip

    def params(self, places: Sequence[int]) -> Any:
        """The parameters of these places as a struct of tensors `[N]`."""
        return self._params([self.nodes.places[place][0] for place in places])

    def _params(self, numbers: Sequence[int]) -> Any:
        sets = self.nodes.scalar.params
        own = torch.tensor(numbers, device=self.device)
        kinds = [torch_dtype(param.field.dtype) for param in self.schema.params.values()]
        return type(sets[0])(
            *(torch.tensor(each, dtype=kind, device=self.device)[own]
              for kind, each in zip(kinds, zip(*sets, strict=True), strict=True))
        )  # fmt: skip

    def seeds(self, count: int) -> torch.Tensor:
        """The words of the seeds 0 to `count` - 1, int32 `[count, 2]`."""
        low = torch.arange(count, dtype=torch.int32, device=self.device)
        return torch.stack([low, torch.zeros_like(low)], dim=1)

    def _tensor(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _force(self, table: Table, phase: str) -> None:
        numbers = np.array([row.chosen for row in table])
        self.core.given = {}
        self.core.forced = {
            slot.name: Forced(*map(self._tensor, self.chosen.column(slot, numbers)))
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
