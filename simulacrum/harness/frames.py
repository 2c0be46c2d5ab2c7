"""One step of a batch as plain arrays, from either twin, under the same names.

`BatchSide` drives the batched twin through its public face, `ReferenceSide` drives one reference per row through the
same protocol. Both give a `Frame`: everything that a step shows, by dotted name, as NumPy arrays `[N, ...]`. All
checks compare frames.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.boundary import EngineState
from simulacrum.engine.draws import draw_layout
from simulacrum.engine.params import row_params
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.single import scalar_action
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.twin.checks import Checks

# A NumPy array `[N, ...]`. NumPy's stubs type its methods only in part, and what they leave open would have to be
# waved through at every use.
Array: TypeAlias = Any
Frame = dict[str, Array]
Columns = dict[str, list[Any]]  # a frame in the making: a list of N values per field

# What the engine adds beside the schema's groups: name -> dtype.
CLOCK = {
    "terminated": "bool",
    "truncated": "bool",
    "t": "int32",
    "episode": "int32",
    "episode_return": "float64",
    "episode_length": "int32",
}


def frame_fields(schema: Schema, *, final: bool = False) -> dict[str, Field]:
    """The schema's fields by their names in a frame, in the order in which a difference is blamed: state first."""
    named = dict(_group("state", schema.state))
    named["reward"] = schema.reward
    for name, dtype in CLOCK.items():
        named[name] = Field(path=name, name=name, dtype=dtype, shape=())
    named.update(_group("observation", schema.observation))
    named.update(_group("info", schema.info))
    if schema.action_mask is not None:
        named["action_mask"] = schema.action_mask
    if final:
        named.update(_group("final_obs", schema.observation))
        named.update(_group("final_info", schema.info))
    return named


def _group(name: str, group: Group) -> dict[str, Field]:
    if group.single:
        return {name: group.leaf}
    return {f"{name}.{key}": field for key, field in group.fields.items()}


def _flatten(name: str, value: Any, single: bool) -> dict[str, Any]:
    return {name: value} if single else {f"{name}.{key}": item for key, item in value.items()}


class BatchSide:
    """The batched twin, driven through `SimulacrumVectorEnv` with torch output."""

    def __init__(self, env: SimulacrumVectorEnv) -> None:
        self.env = env
        self.schema = env.schema
        self.info: Mapping[str, Any] = {}  # the last info, as it was given
        self.state: EngineState | None = None  # the engine's, after the last reset or step

    def reset(self, seed: Any = None, options: dict[str, Any] | None = None) -> Frame:
        """The frame after a reset. Nothing has ended in it: in SAME_STEP its final observation is all zeros."""
        given = self.env.reset(seed=seed, options=options)
        self.state = self.env.state
        return self.shown(given, self.state)

    def step(self, actions: Any) -> Frame:
        """The frame after a step."""
        given = self.env.step(actions)
        self.state = self.env.state  # once: the native form copies its rows for it
        return self.shown(given, self.state)

    def shown(self, given: tuple[Any, ...], state: EngineState) -> Frame:
        """The frame of what `reset` (two items) or `step` (five) gave, and of the engine's state after it."""
        if len(given) != 2:
            observation, reward, terminated, truncated, info = given
            return self._frame(state, observation, reward, terminated, truncated, info)
        observation, info = given
        zeros: Array = np.zeros(self.env.num_envs, dtype=np.bool_)
        reward = np.zeros(self.env.num_envs, dtype=self.schema.reward.dtype)
        frame = self._frame(state, observation, reward, zeros, zeros.copy(), info)
        if self.env.autoreset_mode == AutoresetMode.SAME_STEP:
            for name, field in frame_fields(self.schema, final=True).items():
                if name.startswith("final_"):
                    frame[name] = np.zeros((self.env.num_envs, *field.shape), dtype=field.dtype)
        return frame

    def _frame(
        self,
        state: EngineState,
        observation: Any,
        reward: Any,
        terminated: Any,
        truncated: Any,
        info: Mapping[str, Any],
    ) -> Frame:
        schema, self.info = self.schema, info
        frame: dict[str, Any] = {
            f"state.{name}": value.clone() for name, value in zip(state.env._fields, state.env, strict=True)
        }
        frame.update(reward=reward, terminated=terminated, truncated=truncated)
        frame.update(t=state.t, episode=state.episode, episode_return=state.returns, episode_length=state.t)
        frame.update(_flatten("observation", observation, schema.observation.single))
        frame.update({f"info.{name}": info[name] for name in schema.info.fields})
        if schema.action_mask is not None:
            frame["action_mask"] = info["action_mask"]
        if "final_obs" in info:
            ended = info["_final_obs"]
            frame["episode_return"], frame["episode_length"] = info["episode"]["r"], info["episode"]["l"]
            finals = _flatten("final_obs", info["final_obs"], schema.observation.single)
            finals.update({f"final_info.{name}": info["final_info"][name] for name in schema.info.fields})
            frame.update({name: _only(ended, value) for name, value in finals.items()})
        return {name: _array(value) for name, value in frame.items()}


def _only(rows: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value` in the rows that ended, zeros elsewhere: only there does it mean anything."""
    mask = rows.reshape(-1, *([1] * (value.dim() - 1)))
    return torch.where(mask, value, torch.zeros_like(value))


def _array(value: Any) -> Array:
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    return np.asarray(value)


class ReferenceSide:
    """One reference per row (or per chosen row), under the same autoreset protocol as the batch.

    Args:
        package: the environment.
        rows: the rows of the batch that these references stand for.
        mode: the batch's autoreset mode.
        limit: the batch's time limit.
        params: parameters of each chosen row.
    """

    def __init__(
        self,
        package: EnvPackage,
        rows: Sequence[int],
        *,
        mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        limit: int | None = None,
        params: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self.schema = package.schema
        self.rows = list(rows)
        self.mode = mode
        # One of each serves all rows: twins hold no state of their own.
        env, layout, checks = package.reference(), draw_layout(self.schema), Checks(self.schema)
        self.runners = [
            ReferenceRunner(
                package, params=None if params is None else params[i], max_episode_steps=limit, env=env,
                layout=layout, checks=checks,
            )
            for i in range(len(self.rows))
        ]
        self.fields = frame_fields(self.schema, final=mode == AutoresetMode.SAME_STEP)
        self._zeros = {name: np.zeros(field.shape, field.dtype).tolist() for name, field in self.fields.items()}
        self.seconds = 0.0  # spent in here so far

    @classmethod
    def beside(cls, env: SimulacrumVectorEnv, rows: Sequence[int] | None = None) -> ReferenceSide:
        """References for `rows` (all by default) of an existing batch, with its mode, limit and parameters."""
        chosen = range(env.num_envs) if rows is None else rows
        params = [row_params(env.params, row) for row in chosen]
        return cls(env.package, chosen, mode=env.autoreset_mode, limit=env.max_episode_steps, params=params)

    def reset(self, seeds: Sequence[int | None]) -> Frame:
        """The frame after a reset; `seeds[i]` belongs to `rows[i]`."""
        began, frame = time.perf_counter(), self._empty()
        for i, (runner, seed) in enumerate(zip(self.runners, seeds, strict=True)):
            self._show(frame, i, runner, runner.reset(seed))
        return self._arrays(frame, began)

    def step(self, actions: Any) -> Frame:
        """The frame after a step. `actions` are the chosen rows' actions, `[len(rows), ...]` (or a dict)."""
        began, frame = time.perf_counter(), self._empty()
        for i, (runner, action) in enumerate(zip(self.runners, row_actions(self.schema, actions), strict=True)):
            if self.mode == AutoresetMode.NEXT_STEP and runner.ended:
                self._show(frame, i, runner, runner.reset())
                continue
            out = runner.step(action)
            frame["reward"][i] = out.reward
            frame["terminated"][i], frame["truncated"][i] = out.terminated, out.truncated
            if self.mode == AutoresetMode.SAME_STEP and runner.ended:
                self._finish(frame, i, runner, out)
                self._show(frame, i, runner, runner.reset(), clock=False)
            else:
                self._put(frame, "observation", self.schema.observation, i, out.observation)
                self._show(frame, i, runner, None, clock=self.mode != AutoresetMode.SAME_STEP, info=out.info)
        return self._arrays(frame, began)

    def restart(self, rows: Sequence[bool], seeds: Sequence[int | None]) -> Frame:
        """The frame after a reset by hand of the rows that are true; `seeds[i]` belongs to `self.rows[i]`."""
        began, frame = time.perf_counter(), self._empty()
        for i, runner in enumerate(self.runners):
            self._show(frame, i, runner, runner.reset(seeds[i]) if rows[i] else runner.observe())
        return self._arrays(frame, began)

    def _finish(self, frame: Columns, i: int, runner: ReferenceRunner, out: Any) -> None:
        frame["episode_return"][i], frame["episode_length"][i] = runner.returns, runner.t
        self._put(frame, "final_obs", self.schema.observation, i, out.observation)
        for name, value in out.info.items():
            frame[f"final_info.{name}"][i] = value

    def _show(
        self, frame: Columns, i: int, runner: ReferenceRunner, observation: Any, *, clock: bool = True, info: Any = None
    ) -> None:
        for name, value in zip(runner.state._fields, runner.state, strict=True):
            frame[f"state.{name}"][i] = value
        frame["t"][i], frame["episode"][i] = runner.t, runner.episode
        if clock:
            frame["episode_return"][i], frame["episode_length"][i] = runner.returns, runner.t
        if observation is not None:
            self._put(frame, "observation", self.schema.observation, i, observation)
        for name, value in (runner.info() if info is None else info).items():
            frame[f"info.{name}"][i] = value
        if self.schema.action_mask is not None:
            frame["action_mask"][i] = runner.action_mask()

    def _put(self, frame: Columns, name: str, group: Group, i: int, value: Any) -> None:
        if group.single:
            frame[name][i] = value
        else:
            for key, item in value.items():
                frame[f"{name}.{key}"][i] = item

    def _empty(self) -> Columns:
        """Zeros, as a list per field: writing into an array one row at a time takes longer than the step itself."""
        return {name: [zero] * len(self.rows) for name, zero in self._zeros.items()}

    def _arrays(self, columns: Columns, began: float) -> Frame:
        frame: Frame = {}
        for name, field in self.fields.items():
            values: Any = columns[name]
            for _ in field.shape:
                values = itertools.chain.from_iterable(values)
            # fromiter asks each item for its number; np.array would first ask what kind of thing a Float32 is.
            flat = np.fromiter(values, dtype=field.dtype, count=len(self.rows) * field.size)
            frame[name] = flat.reshape(len(self.rows), *field.shape)
        self.seconds += time.perf_counter() - began
        return frame


def row_actions(schema: Schema, actions: Any) -> list[Any]:
    """All rows of a batch of actions as references take them."""
    if schema.action.single and not schema.action.leaf.shape and not schema.action.leaf.is_float:
        return actions.tolist()
    (first, *_) = [actions] if schema.action.single else actions.values()
    return [row_action(schema, actions, row) for row in range(len(first))]


def row_action(schema: Schema, actions: Any, row: int) -> Any:
    """One row of a batch of actions as the reference takes it."""
    if schema.action.single:
        return scalar_action(schema.action, actions[row])
    return scalar_action(schema.action, {name: value[row] for name, value in actions.items()})


def rows_of(frame: Frame, rows: Sequence[int]) -> Frame:
    """The frame of some rows only."""
    index = np.asarray(rows)
    return {name: value[index] for name, value in frame.items()}


def take(actions: Any, rows: Sequence[int]) -> Any:
    """Some rows of a batch of actions."""
    index = np.asarray(rows)
    if isinstance(actions, Mapping):
        return {name: value[index] for name, value in cast("Mapping[str, Array]", actions).items()}
    return actions[index]
