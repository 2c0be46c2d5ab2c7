"""The rows of one env and what steps them, in each form behind one face: `PureRows` and `NativeRows`.

Both give `Shown` values with memory of their own, keep the state (`state`, `load`), and refuse a step with an illegal
action before anything has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.actions import sanitize, to_tensors
from simulacrum.engine.boundary import Core
from simulacrum.engine.output import Freshener, constants_of, fresh_step, storages
from simulacrum.engine.rows import EngineState, StepOut
from simulacrum.engine.shown import Assembly, Shown, shown_by
from simulacrum.errors import TwinError

# Called with bool [N] naming rows whose action is outside the space, and the action; raises where it can be known.
Refuse = Callable[[torch.Tensor, Any], None]
EPISODE = ("episode", "_episode")


class PureRows:
    """Rows as an `EngineState` that each step replaces, by the eager or the Inductor form."""

    def __init__(
        self, core: Core, form: str, mode: AutoresetMode, params: Any, *, statistics: bool, refuse: Refuse
    ) -> None:
        self.core, self.mode, self.params, self.statistics, self.refuse = core, mode, params, statistics, refuse
        self.advance = core.form(mode, form)
        self.held: EngineState | None = None
        self.began: torch.Tensor | None = None

    @property
    def started(self) -> bool:
        """Whether there is a state."""
        return self.held is not None

    @property
    def state(self) -> EngineState:
        """The rows as they stand."""
        assert self.held is not None, "rows are started before they are looked at"
        return self.held

    def load(self, state: EngineState, began: torch.Tensor | None = None) -> None:
        """Stand where `state` is; `began` float64 [N], when each row's episode did."""
        self.held = state
        self.began = began if began is not None else self.began

    def let_go(self) -> None:
        """Forget the state."""
        self.held = self.began = None

    def take_params(self, params: Any) -> None:
        """Use other parameters from now on."""
        self.params = params

    def ended(self) -> torch.Tensor:
        """bool [N]: rows that have ended and were not reset."""
        return self.state.ended

    def reset(self, mask: torch.Tensor, seed: torch.Tensor, episode: torch.Tensor) -> tuple[Any, dict[str, Any]]:
        """Put the rows of `mask` [N] at the start of `episode` [N] of `seed` [N, 2]; (observation, info) of all."""
        now = torch.full(mask.shape, time.perf_counter(), dtype=torch.float64, device=mask.device)
        if self.held is None:
            self.held, self.began = self.core.fresh(seed, episode, self.params), now
        else:
            self.held = self.core.reset(self.held, mask, seed, episode, self.params)
            self.began = now if self.began is None else torch.where(mask, now, self.began)
        return self.observe()

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """(observation, info) of all rows as they stand."""
        observation, info, action_mask = self.core.observe(self.state, self.params)
        if action_mask is not None:
            info = {**info, "action_mask": action_mask}
        fresh = Freshener(storages(self.held, self.params) | constants_of(self.core.env))
        return fresh(observation), fresh(dict(info))

    def step(self, actions: Any) -> Shown:
        """One step; `actions` as `VectorEnv.step` takes them."""
        with torch.inference_mode(False), torch.no_grad():
            before = self.state
            action = to_tensors(self.core.schema.action, actions, before.t.shape[0], before.t.device)
            state, out = self.advance(before, action, self.params)
            self.refuse(out.illegal, action)
            self.held = state
            taken = storages(state, action, self.params, before) | constants_of(self.core.env)
            out = fresh_step(out, taken)
            return shown_by(out, self._episode(out) if self.statistics else None)

    def _episode(self, out: StepOut) -> dict[str, torch.Tensor]:
        """Return, length and wall time of the episodes that ended in this step; zeros in the other rows."""
        assert self.began is not None
        now = time.perf_counter()
        seconds = now - self.began
        restarted = out.ended if out.reset_rows is None else out.reset_rows
        self.began = torch.where(restarted, torch.full_like(self.began, now), self.began)
        seconds = torch.where(out.ended, seconds, torch.zeros_like(seconds))
        return {"r": out.episode_return, "l": out.episode_length, "t": seconds}


class NativeRows:
    """Rows in the arena of a native batch."""

    def __init__(
        self,
        core: Core,
        num_envs: int,
        mode: AutoresetMode,
        params: Any,
        *,
        statistics: bool,
        refuse: Refuse,
        threads: int | None,
        double_buffer: bool,
    ) -> None:
        from simulacrum.engine.native import NativeBatch

        self.core, self.refuse, self._double_buffer = core, refuse, double_buffer
        limit, schema = core.max_episode_steps, core.schema
        self.batch = NativeBatch(
            core.native(), schema, num_envs, mode, limit, params, threads=threads, double_buffer=double_buffer
        )
        gone = [] if statistics else [*EPISODE]
        gone += ["autoreset"] if mode == AutoresetMode.DISABLED else []
        self._assembly = Assembly(self.batch.shown(), gone)
        self._start = Assembly(self.batch.shown("reset"))
        self._single = schema.action.single
        self._names = list(schema.action.fields)
        (first, *_) = schema.action.fields.values()
        from simulacrum.twin.batched import torch_dtype

        self._shape, self._dtype = torch.Size((num_envs, *first.shape)), torch_dtype(first.dtype)

    @property
    def started(self) -> bool:
        """Whether there is a state."""
        return self.batch.started

    @property
    def state(self) -> EngineState:
        """A copy of the rows as they stand."""
        return self.batch.state()

    def load(self, state: EngineState, began: torch.Tensor | None = None) -> None:
        """Stand where `state` is; `began` float64 [N], when each row's episode did."""
        self.batch.load(state, began)

    def let_go(self) -> None:
        """Forget the state, and with it all memory that a call would write to."""
        self.batch.let_go()

    def take_params(self, params: Any) -> None:
        """Use other parameters from now on."""
        self.batch.take_params(params)

    def ended(self) -> torch.Tensor:
        """bool [N]: rows that have ended and were not reset."""
        return self.batch.ended()

    def reset(self, mask: torch.Tensor, seed: torch.Tensor, episode: torch.Tensor) -> tuple[Any, dict[str, Any]]:
        """Put the rows of `mask` [N] at the start of `episode` [N] of `seed` [N, 2]; (observation, info) of all."""
        return self._start.start(self.batch.reset(mask, seed, episode))

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """(observation, info) of all rows as they stand."""
        return self._start.start(self.batch.observe())

    def step(self, actions: Any) -> Shown:
        """One step; `actions` as `VectorEnv.step` takes them."""
        ready = (
            type(actions) is torch.Tensor
            and actions.dtype is self._dtype
            and actions.shape == self._shape
            and actions.is_contiguous()
            and actions.is_cpu
        )
        if not ready:
            actions = to_tensors(self.core.schema.action, actions, self.batch.num_envs, torch.device("cpu"))
        several: Any = actions  # a dict where the space is one
        if self._single:
            block = self.batch.step(several)
        else:
            block = self.batch.step_several([several[name] for name in self._names])
        if isinstance(block, int):
            raise self._refusal(block, actions)
        if not self._double_buffer:
            return self._assembly.step(block.tensors)
        if block.shown is None:
            block.shown = self._assembly.step(block.tensors)
        return self._assembly.again(block.shown)

    def rollout(self, actions: Any) -> Shown:
        """`T` steps with actions `[T, N, ...]` in one call; every value `[T, N, ...]`. See `VectorEnv.rollout`."""
        schema, steps = self.core.schema, _steps(actions)
        flat = {name: value.flatten(0, 1) for name, value in _items(actions)} if steps else {}
        whole = to_tensors(schema.action, flat if not self._single else flat[""], steps * self.batch.num_envs, _CPU)
        self.refuse(sanitize(schema.action, whole)[1], whole)
        given = [whole] if self._single else [whole[name] for name in self._names]
        tensors = self.batch.rollout(given, steps)
        return self._assembly.step(tensors)

    def _refusal(self, bits: int, action: Any) -> Exception:
        """What is raised for rows that the check refused; which ones is found out now."""
        state = self.state
        if bits & 1:
            outside = sanitize(self.core.schema.action, action)[1] & ~state.ended
            self.refuse(outside, action)
        return self._fault(action)

    def _fault(self, action: Any) -> Exception:
        return TwinError(
            "a row divides by zero, or reads beyond an array, which torch refuses as well",
            expected="divisors and indices that are safe in every row, those that torch.where drops too",
            where="step",
            next_step="step the env with compile=False: torch names the operation",
        )


_CPU = torch.device("cpu")


def _items(actions: Any) -> list[tuple[str, torch.Tensor]]:
    pairs = actions.items() if isinstance(actions, dict) else [("", actions)]
    return [(name, torch.as_tensor(value)) for name, value in pairs]


def _steps(actions: Any) -> int:
    return int(_items(actions)[0][1].shape[0])
