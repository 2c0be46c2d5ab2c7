"""Where episodes begin and end: the only code that counts steps, truncates, resets and keeps final observations.

Everything here is a pure function of tensors: `Core.reset` and `Core.step` take an `EngineState` and return a new one.
The order inside a step is: action check, transition, t + 1, time limit, episode statistics, final observation,
auto-reset, observation. Each autoreset mode is one thin layer over the same transition (`_advance`) and the same fresh
start (`fresh`).

What two envs of one package may have different, the time limit and whether ended rows restart, goes into a compiled
step as a tensor without dimensions (`Clock`). So there are two graphs: one for NEXT_STEP and DISABLED, one for
SAME_STEP, which shows two observations; each serves every limit and batch size, and what trains is what was compared.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.actions import sanitize
from simulacrum.engine.draws import NO_DRAW, draw_layout
from simulacrum.engine.forms import NATIVE, build
from simulacrum.engine.rows import NO_LIMIT, Clock, EngineState, StepOut, merge
from simulacrum.errors import TwinError
from simulacrum.rng.batched import BatchedDraw, episode_key
from simulacrum.twin.batched import BatchedEnv, Context, check_field, check_group, check_state

__all__ = ["NO_DRAW", "NO_LIMIT", "Clock", "Core", "EngineState", "StepOut", "core_of", "draw_layout", "merge"]


# By folder and not by package object: whoever made the first of several equal packages may let go of it while the
# others' compiled steps are in use. The number is a bound on memory; a process has few environments.
_CORES: OrderedDict[Path, dict[int | None, Core]] = OrderedDict()
_KEPT = 32


def core_of(package: EnvPackage, max_episode_steps: int | None) -> Core:
    """The core of a package's batched twin, one per time limit; all of them share their compiled forms."""
    cores = _CORES.setdefault(package.folder, {})
    _CORES.move_to_end(package.folder)
    if len(_CORES) > _KEPT:
        _CORES.popitem(last=False)
    any_core = next(iter(cores.values()), None)
    # Equal packages may have been read at different times: what was read before an edit serves nobody after it.
    if any_core is not None and (
        type(any_core.env) is not package.twin_class("fast") or any_core.schema.raw != package.schema.raw
    ):
        cores.clear()
        any_core = None
    if max_episode_steps not in cores:
        cores[max_episode_steps] = Core(package.fast(), max_episode_steps, shared=any_core)
    return cores[max_episode_steps]


def _flag(name: str, value: Any, like: torch.Tensor) -> torch.Tensor:
    """An end flag as bool `[N]`: a tensor of that form, or one Python bool for all rows. `TwinError` otherwise."""
    if isinstance(value, bool):
        return torch.full_like(like, value)
    if not isinstance(value, torch.Tensor) or value.dtype != torch.bool or value.shape != like.shape:
        found = f"{value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
        raise TwinError(
            f"{name} has the wrong shape or dtype in the batched twin",
            expected=f"torch.bool {list(like.shape)}",
            found=found,
            where=name,
        )
    return value


class Core:
    """The pure engine of one environment: built once, holds no rows.

    Args:
        env: the batched twin.
        max_episode_steps: the time limit in steps, or None for none.
        shared: a core of the same twin whose compiled forms are taken over.
    """

    def __init__(self, env: BatchedEnv, max_episode_steps: int | None, *, shared: Core | None = None) -> None:
        self.env = env
        self.schema = env.schema
        self.layout = draw_layout(env.schema)
        self.max_episode_steps = max_episode_steps
        # (SAME_STEP or not, form) -> the compiled step, which takes a Clock
        self.compiled: dict[tuple[bool, str], Callable[..., Any]] = {} if shared is None else shared.compiled
        self.kept: dict[str, Any] = {} if shared is None else shared.kept  # the native form, once there is one
        self._clocks: dict[tuple[bool, torch.device], Clock] = {}
        self.used: set[str] = set()  # slots asked for so far, in eager steps
        # Tests set these: a place to list every word drawn, and values to force. Never set while compiling.
        self.ledger: dict[str, dict[str, torch.Tensor]] | None = None
        self.override: Mapping[str, Any] | None = None

    def form(self, mode: AutoresetMode, name: str) -> Callable[..., Any]:
        """The step of `mode`, `(state, action, params) -> (state, StepOut)`, in the named form; built once."""
        if name == "eager":
            return functools.partial(self.step, mode)
        if name == NATIVE:
            from simulacrum.engine.native.pure import pure_step

            return functools.partial(pure_step, self, mode)
        same = mode == AutoresetMode.SAME_STEP
        if (same, name) not in self.compiled:
            self.compiled[same, name] = build(name, self._same_pair if same else self._next_pair)
        return functools.partial(self._step_compiled, mode, self.compiled[same, name])

    def native(self) -> Any:
        """The native form (`engine.native.Binary`): what `use_native` gave, or made now. May raise `CompileError`."""
        if NATIVE not in self.kept:
            from simulacrum.engine.native import build as build_native

            self.kept[NATIVE] = build_native(self)
        return self.kept[NATIVE]

    def use_native(self, binary: Any) -> None:
        """Take this library as the native form, for every core of the package."""
        self.kept[NATIVE] = binary

    def _step_compiled(
        self, mode: AutoresetMode, step: Callable[..., Any], es: EngineState, action: Any, params: Any
    ) -> tuple[EngineState, StepOut]:
        after, out = step(es, action, params, self._clock(mode != AutoresetMode.DISABLED, es.t.device))
        return after, (out._replace(reset_rows=None) if mode == AutoresetMode.DISABLED else out)

    def _clock(self, autoreset: bool, device: torch.device) -> Clock:
        """The clock as tensors on `device`, made once."""
        if (autoreset, device) not in self._clocks:
            limit = NO_LIMIT if self.max_episode_steps is None else self.max_episode_steps
            self._clocks[autoreset, device] = Clock(
                torch.tensor(limit, dtype=torch.int32, device=device), torch.tensor(autoreset, device=device)
            )
        return self._clocks[autoreset, device]

    def _draw(self, phase: str, key: torch.Tensor, t: torch.Tensor) -> BatchedDraw:
        ledger = None if self.ledger is None else self.ledger.setdefault(phase, {})
        return BatchedDraw(self.layout, phase, key, t, ledger=ledger, override=self.override)

    def _note(self, draw: BatchedDraw) -> None:
        if not torch.compiler.is_compiling():
            self.used |= draw.used

    def fresh(self, seed: torch.Tensor, episode: torch.Tensor, params: Any) -> EngineState:
        """Rows at the start of episode `episode` [N] of their `seed` [N, 2]."""
        key = episode_key(seed, episode)
        t = torch.zeros_like(episode)
        draw = self._draw("reset", key, t)
        state = self.env.reset(Context(draw, t, params))
        self._note(draw)
        check_state(self.schema, state, episode.shape[0])
        returns = torch.zeros(episode.shape, dtype=torch.float64, device=episode.device)
        ended = torch.zeros(episode.shape, dtype=torch.bool, device=episode.device)
        return EngineState(state, seed, episode, key, t, returns, ended)

    def observe(self, es: EngineState, params: Any) -> tuple[Any, dict[str, torch.Tensor], torch.Tensor | None]:
        """Observation, info and action mask of the rows as they stand."""
        ctx, num_envs = Context(NO_DRAW, es.t, params), es.t.shape[0]
        observation = self.env.observe(es.env, ctx)
        check_group(self.schema.observation, observation, num_envs)
        info = self.env.info(es.env, ctx)
        check_group(self.schema.info, info, num_envs)
        mask = None
        if self.schema.action_mask is not None:
            mask = self.env.action_mask(es.env, ctx)
            check_field(self.schema.action_mask, mask, num_envs)
        return observation, info, mask

    def _advance(
        self, es: EngineState, action: Any, params: Any, limit: Any
    ) -> tuple[EngineState, torch.Tensor, torch.Tensor]:
        """The transition and the clock, no reset: (state after, reward [N], flags [2, N] as terminated, truncated)."""
        num_envs = es.t.shape[0]
        draw = self._draw("step", es.key, es.t)
        outcome = self.env.step(es.env, action, Context(draw, es.t, params))
        self._note(draw)
        check_state(self.schema, outcome.state, num_envs)
        check_field(self.schema.reward, outcome.reward, num_envs)
        t = es.t + 1
        terminated = _flag("terminated", outcome.terminated, es.ended)
        truncated = _flag("truncated", False if outcome.truncated is None else outcome.truncated, es.ended)
        if limit is not None:
            truncated = truncated | (t >= limit)
        returns = es.returns + outcome.reward.to(torch.float64)
        after = EngineState(outcome.state, es.seed, es.episode, es.key, t, returns, terminated | truncated)
        return after, outcome.reward, torch.stack((terminated, truncated))

    def invariants(self, es: EngineState, params: Any) -> dict[str, torch.Tensor]:
        """Each invariant's bool `[N]` by method name, True where it holds."""
        from simulacrum.twin.invariant import invariants_of

        ctx = Context(NO_DRAW, es.t, params)
        return {inv.method: getattr(self.env, inv.method)(es.env, ctx) for inv in invariants_of(self.env)}

    # --- reset -----------------------------------------------------------------------------------------------

    def reset(
        self, es: EngineState, mask: torch.Tensor, seed: torch.Tensor, episode: torch.Tensor, params: Any
    ) -> EngineState:
        """`es` with the rows of `mask` [N] put at the start of `episode` [N] of `seed` [N, 2]; others untouched."""
        return merge(mask, self.fresh(seed, episode, params), es)

    # --- step, one function a mode ---------------------------------------------------------------------------

    def step(self, mode: AutoresetMode, es: EngineState, action: Any, params: Any) -> tuple[EngineState, StepOut]:
        """One step of all rows in the given autoreset mode. Pure: `es` is not changed.

        A row whose action is outside the space is held still: its state, clock and statistics stay as they were,
        its reward is 0, its flags are false, and `illegal` is true there.
        """
        clock = Clock(self.max_episode_steps, mode != AutoresetMode.DISABLED)
        if mode == AutoresetMode.SAME_STEP:
            return self._same_pair(es, action, params, clock)
        after, out = self._next_pair(es, action, params, clock)
        return after, (out._replace(reset_rows=None) if mode == AutoresetMode.DISABLED else out)

    def _next_pair(self, es: EngineState, action: Any, params: Any, clock: Clock) -> tuple[EngineState, StepOut]:
        return self.next_step(es, action, params, clock)[:2]

    def _same_pair(self, es: EngineState, action: Any, params: Any, clock: Clock) -> tuple[EngineState, StepOut]:
        return self.same_step(es, action, params, clock)[:2]

    def next_step(
        self, es: EngineState, action: Any, params: Any, clock: Clock
    ) -> tuple[EngineState, StepOut, torch.Tensor]:
        """NEXT_STEP, and with `clock.autoreset` false DISABLED, where a row that has ended waits for its reset.

        The third value, bool `[N]`, names the rows that began an episode in this step.
        """
        action, outside = sanitize(self.schema.action, action)
        illegal = outside & ~es.ended  # the action of a row that has ended is ignored, whatever it is
        still = illegal | es.ended
        after, reward, flags = self._advance(es, action, params, clock.limit)
        after = merge(still, es, after)
        resetting = es.ended & clock.autoreset
        if clock.autoreset is not False:
            after = merge(resetting, self.fresh(es.seed, es.episode + 1, params), after)
        shown = self._show(after, reward, flags, still, params, illegal=illegal, reset_rows=resetting)
        return after, shown, resetting

    def same_step(
        self, es: EngineState, action: Any, params: Any, clock: Clock
    ) -> tuple[EngineState, StepOut, torch.Tensor]:
        """SAME_STEP: a row that ends begins anew at once. The third value, bool `[N]`, names those rows."""
        action, illegal = sanitize(self.schema.action, action)
        last, reward, flags = self._advance(es, action, params, clock.limit)
        last = merge(illegal, es, last)
        final_observation, final_info, _ = self.observe(last, params)
        after = merge(last.ended, self.fresh(es.seed, es.episode + 1, params), last)
        out = self._show(after, reward, flags, illegal, params, illegal=illegal, reset_rows=None)
        returns, length = _finished(out.ended, last)
        out = out._replace(
            episode_return=returns,
            episode_length=length,
            final_observation=final_observation,
            final_info=final_info,
        )
        return after, out, last.ended

    def _show(
        self,
        after: EngineState,
        reward: torch.Tensor,
        flags: torch.Tensor,
        still: torch.Tensor,
        params: Any,
        *,
        illegal: torch.Tensor,
        reset_rows: torch.Tensor | None,
    ) -> StepOut:
        observation, info, mask = self.observe(after, params)
        terminated, truncated = flags[0] & ~still, flags[1] & ~still
        ended = terminated | truncated
        returns, length = _finished(ended, after)
        return StepOut(
            observation=observation,
            reward=torch.where(still, torch.zeros_like(reward), reward),
            terminated=terminated,
            truncated=truncated,
            info=info,
            action_mask=mask,
            ended=ended,
            episode_return=returns,
            episode_length=length,
            final_observation=None,
            final_info=None,
            reset_rows=reset_rows,
            illegal=illegal,
        )


def _finished(ended: torch.Tensor, state: EngineState) -> tuple[torch.Tensor, torch.Tensor]:
    """Return and length of the episodes that ended; zeros in the other rows."""
    returns = torch.where(ended, state.returns, torch.zeros_like(state.returns))
    return returns, torch.where(ended, state.t, torch.zeros_like(state.t))
