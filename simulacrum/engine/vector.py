"""The batched environment as a Gymnasium `VectorEnv`: checks at the door, one pure step inside, fresh outputs.

A step goes: checks of metadata -> the rows' own step (`batches`: one pure function, eager or compiled, or one native
call on an arena), which refuses illegal actions before anything has changed -> the five Gymnasium values.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import gymnasium as gym
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine import forms, modes, render_modes, rendering, snapshot
from simulacrum.engine.actions import outside_error
from simulacrum.engine.batches import NativeRows, PureRows
from simulacrum.engine.boundary import EngineState, core_of
from simulacrum.engine.output import masked, to_numpy
from simulacrum.engine.params import batch_params
from simulacrum.engine.seeding import entropy, row_seeds
from simulacrum.engine.shown import on_host
from simulacrum.errors import ActionError, ClosedError, UsageError
from simulacrum.rng.batched import split_seed

FROM_SCHEMA = "schema"  # max_episode_steps: the limit that the schema declares


class SimulacrumVectorEnv(gym.vector.VectorEnv[Any, Any, Any]):
    """`num_envs` instances of an environment stepped as one batch of tensors.

    Args:
        package: the environment package, or its name or folder.
        num_envs: rows N, at least 1.
        autoreset_mode: "next_step" (default), "same_step" or "disabled", or a Gymnasium `AutoresetMode`.
        device: a torch device, by name.
        output: "torch" gives tensors on `device`; "numpy" gives host arrays as Gymnasium's own vector envs do.
        compile: False for eager torch, "native" for one loop of machine code (on the CPU; what `make_vec` builds
            unless told otherwise), "inductor" for torch.compile. Same bits in all of them.
        max_episode_steps: the time limit; "schema" (default) takes the schema's, None means none. This is its only
            owner: do not wrap a second limit around.
        params: parameters by name, each one value or one per row.
        render_mode: None, "rgb_array" or "ansi".
        episode_statistics: put `info["episode"]` (r, l, t) at episode ends. None means: yes for torch output, no for
            NumPy output, where Gymnasium's `RecordEpisodeStatistics` refuses an env that already does it.
        threads: how many share a native step, with the same bits for any number. None: one for a batch that is too
            small to gain from more, else as many as torch uses.
        double_buffer: in the native form, write the outputs of every second step to the same memory, which saves
            looking whether the caller still holds it. What a step returned is then overwritten by the next but one.

    Shapes: observations `[N, ...]`, rewards `[N]` in the schema's dtype (float32), terminations and truncations bool
    `[N]`. Nothing that is returned is ever overwritten (unless `double_buffer`), and nothing the caller passes in is
    edited.
    """

    def __init__(
        self,
        package: EnvPackage | str,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        device: str | torch.device = "cpu",
        output: Literal["torch", "numpy"] = "torch",
        compile: bool | str = False,
        max_episode_steps: int | str | None = FROM_SCHEMA,
        params: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        episode_statistics: bool | None = None,
        threads: int | None = None,
        double_buffer: bool = False,
    ) -> None:
        self.closed = True  # until construction is complete, so that close() of a half-built env does nothing
        self.package = load_package(package) if isinstance(package, str) else package
        self.schema = self.package.schema
        self.num_envs = modes.check_num_envs(num_envs)
        self.autoreset_mode = modes.check_autoreset_mode(autoreset_mode)
        self.device = modes.check_device(device)
        self.output = modes.check_output(output)
        self.render_mode = render_modes.check_render_mode(self.package, render_mode)
        self.max_episode_steps = modes.check_limit(
            self.schema.max_episode_steps if max_episode_steps == FROM_SCHEMA else max_episode_steps
        )
        self.episode_statistics = output == "torch" if episode_statistics is None else bool(episode_statistics)
        self.metadata = {**render_modes.metadata(self.package), "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = single_observation_space(self.schema)
        self.single_action_space = single_action_space(self.schema)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._spec: EnvSpec | None = None

        self.form = forms.resolve_form(compile, self.device)
        self.core = core_of(self.package, self.max_episode_steps)
        self.threads = modes.check_threads(threads)
        self.double_buffer = bool(double_buffer)
        self._params = batch_params(self.schema, params, self.num_envs, self.device)
        self._rows = self._make_rows()
        self._seeds: list[int] = []
        self._illegal: torch.Tensor | None = None  # on an accelerator: rows with an illegal action, not yet reported
        self.factory: Callable[..., SimulacrumVectorEnv] = SimulacrumVectorEnv  # who rebuilds it when unpickled
        self.closed = False

    # --- reset -----------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, in all rows or in those of `options["reset_mask"]`.

        Args:
            seed: an integer s gives row i the seed s + i and episode 0; a list gives each row its own, None entries
                going on; None goes on with the next episode of each row. Rows that were never seeded take entropy
                from the system, readable in `np_random_seed`.
            options: None or {"reset_mask": bool [N]} as an array, tensor or list with at least one True.

        Returns:
            (observations of all N rows, infos; with a mask each info has its `_key` mask).
        """
        self._check_open()
        self.check_actions()
        mask = modes.check_options(options, self.num_envs)
        seeds = None if seed is None else row_seeds(seed, self.num_envs)
        with torch.inference_mode(False), torch.no_grad():
            observation, info = self._rows.reset(*self._to_reset(mask, seeds))
        if mask is not None and not bool(mask.all()):
            info = masked(info, mask.to(self.device))
        return self._give(observation), self._give(info)

    def restart(self, rows: torch.Tensor) -> tuple[Any, dict[str, Any]]:
        """Begin the present episode of some rows anew: its own draws, `t` at 0, the parameters as they are now.

        In SAME_STEP an episode has begun by the time that its predecessor's end is seen; this lets new parameters hold
        from its very start on.

        Args:
            rows: bool `[N]`, the rows that begin anew; the others stay as they are.

        Returns:
            (observations of all N rows, infos of all N rows).

        Raises:
            UsageError: `rows` is no bool tensor `[N]`, or is all False.
        """
        self._check_open()
        self.check_actions()
        mask, before = modes.check_options({"reset_mask": rows}, self.num_envs), self.state
        assert mask is not None
        with torch.inference_mode(False), torch.no_grad():
            observation, info = self._rows.reset(mask.to(self.device), before.seed, before.episode)
        return self._give(observation), self._give(info)

    def _make_rows(self) -> PureRows | NativeRows:
        if self.form != "native":
            return PureRows(
                self.core,
                self.form,
                self.autoreset_mode,
                self._params,
                statistics=self.episode_statistics,
                refuse=self._refuse_illegal,
            )
        return NativeRows(
            self.core,
            self.num_envs,
            self.autoreset_mode,
            self._params,
            statistics=self.episode_statistics,
            refuse=self._refuse_illegal,
            threads=self.threads,
            double_buffer=self.double_buffer,
        )

    def _to_reset(
        self, mask: torch.Tensor | None, seeds: list[int | None] | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(rows to reset bool [N], seed words int32 [N, 2], episode int32 [N])."""
        chosen = torch.ones(self.num_envs, dtype=torch.bool) if mask is None else mask
        before = self._state
        if before is None and not bool(chosen.all()):
            raise UsageError(
                "a partial reset before the first full one",
                expected="reset() of all rows first",
                found="options['reset_mask'] with False in it",
                where="reset(options=...)",
            )
        chosen = chosen.to(self.device)
        if before is not None and seeds is None:  # the frequent case: nothing per row on the host
            return chosen, before.seed, before.episode + 1
        reseeded = self._take_seeds(chosen, seeds or [None] * self.num_envs)
        words = split_seed(self._seeds, self.device)
        if before is None:
            return chosen, words, torch.zeros(self.num_envs, dtype=torch.int32, device=self.device)
        return chosen, words, torch.where(reseeded, torch.zeros_like(before.episode), before.episode + 1)

    def _take_seeds(self, chosen: torch.Tensor, seeds: list[int | None]) -> torch.Tensor:
        """Keep the given seeds of the chosen rows; returns bool `[N]`, the rows that got one."""
        kept = list(self._seeds) or [entropy() for _ in range(self.num_envs)]
        given = [seed if wanted else None for seed, wanted in zip(seeds, chosen.tolist(), strict=True)]
        self._seeds = [old if new is None else new for old, new in zip(kept, given, strict=True)]
        return torch.tensor([seed is not None for seed in given], device=self.device)

    # --- step ------------------------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every row.

        Args:
            actions: `[N, ...]` as a tensor, array or list (a dict of them for a Dict space); any integer width for
                integer spaces, any float width for float ones. Never edited, never kept.

        Returns:
            (observations, rewards, terminations, truncations, infos), all fresh.

        Raises:
            ClosedError: after close().
            gymnasium.error.ResetNeeded: before the first reset; in DISABLED mode, when an ended row is stepped.
            ActionError: wrong shape or dtype, or (on the CPU at once, on an accelerator at the next call that waits
                for it) a value outside the space. Nothing was stepped.
        """
        self._check_open()
        rows = self._rows
        if not rows.started:
            raise gym.error.ResetNeeded("call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._check_not_ended()
        shown = rows.step(actions)
        if self.output == "torch":
            return shown
        self.check_actions()
        return on_host(shown)

    def rollout(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every row through a whole sequence of actions, as so many `step` calls would, in one call.

        In the native form one call runs all steps of a few hundred rows before it goes on to the next, so that their
        state stays in the nearest cache: for planners and search, with `fork` and `load_state_dict` beside it. The
        other forms step in a loop, with the same bits.

        Args:
            actions: `[T, N, ...]`, T at least 1.

        Returns:
            What `step` returns, every value `[T, N, ...]`, infos too, always as tensors.

        Raises:
            ActionError: as in `step`; the native form also refuses an illegal action of a row that would ignore it.
            gymnasium.error.ResetNeeded: before the first reset.
        """
        self._check_open()
        if not self._rows.started:
            raise gym.error.ResetNeeded("call reset() before rollout()")
        if isinstance(self._rows, NativeRows) and self.autoreset_mode is not AutoresetMode.DISABLED:
            return self._rows.rollout(actions)
        return modes.stacked([self._one_of_rollout(actions, number) for number in range(modes.check_steps(actions))])

    def _one_of_rollout(self, actions: Any, number: int) -> Any:
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._check_not_ended()
        if isinstance(actions, Mapping):
            return self._rows.step({key: value[number] for key, value in actions.items()})
        return self._rows.step(actions[number])

    def _check_not_ended(self) -> None:
        ended = self._rows.ended()
        if self.device.type == "cpu" and bool(ended.any()):
            rows = ended.nonzero().flatten().tolist()
            raise gym.error.ResetNeeded(
                f"rows {rows[:8]} have ended and must be reset before they are stepped (autoreset is disabled): "
                "call reset(options={'reset_mask': ...})"
            )

    def _refuse_illegal(self, illegal: torch.Tensor, action: Any) -> None:
        if self.device.type == "cpu":
            if bool(illegal.any()):
                rows = illegal.nonzero().flatten().tolist()
                raise outside_error(self.schema.action, rows, _row_values(action, rows[0]))
            return
        # No waiting here: held rows lose nothing, and the next call that synchronises reports them.
        self._illegal = illegal if self._illegal is None else self._illegal | illegal

    def check_actions(self) -> None:
        """On an accelerator: wait, and raise `ActionError` if any action since the last check was illegal.

        Every call that reads the device (reset, state_dict, fork, render, NumPy output) makes this check too.
        """
        pending, self._illegal = self._illegal, None
        if pending is not None and bool(pending.any()):
            raise outside_error(self.schema.action, pending.nonzero().flatten().tolist(), "a value outside")

    def _give(self, value: Any) -> Any:
        return to_numpy(value) if self.output == "numpy" else value

    # --- the pure functions, for people who compile or capture their own loop ----------------------------------

    def functional(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """`(reset, step)` as pure functions of tensors, for a loop of one's own (compiled, captured, differentiated).

        reset(seed int32 [N, 2], episode int32 [N], params) -> EngineState
        step(state, action [N, ...], params) -> (EngineState, StepOut)

        `simulacrum.rng.batched.split_seed` makes the seed words, `env.params` is a params struct, and the autoreset
        mode is this env's.
        """
        return self.core.fresh, functools.partial(self.core.step, self.autoreset_mode)

    # --- state in and out --------------------------------------------------------------------------------------

    @property
    def params(self) -> Any:
        """The parameters, a struct of tensors `[N]`."""
        return self._params

    @params.setter
    def params(self, params: Any) -> None:
        self._params = params
        self._rows.take_params(params)

    @property
    def _state(self) -> EngineState | None:
        return self._rows.state if self._rows.started else None

    @property
    def state(self) -> EngineState:
        """The current engine state (do not edit). `gymnasium.error.ResetNeeded` before the first reset."""
        if self._state is None:
            raise gym.error.ResetNeeded("call reset() first")
        return self._rows.state

    def state_dict(self) -> dict[str, Any]:
        """Everything that the future depends on: restoring it restores every later bit, draws included."""
        self._check_open()
        self.check_actions()
        return snapshot.save(self)

    def load_state_dict(self, data: Mapping[str, Any]) -> None:
        """Restore what `state_dict` gave. `StateError` names what does not fit; nothing is changed then."""
        self._check_open()
        snapshot.restore(self, data)

    def fork(self, rows: Sequence[int] | torch.Tensor) -> SimulacrumVectorEnv:
        """A new env whose row j goes on exactly as row `rows[j]` of this one would. Rows may repeat."""
        self._check_open()
        self.check_actions()
        return snapshot.fork(self, rows)

    def load_states(self, states: Sequence[Mapping[str, Any]], *, t: int | Sequence[int] = 0) -> Any:
        """Put row i into the JSON state `states[i]` after `t` steps of its episode; returns the observations."""
        self._check_open()
        with torch.inference_mode(False), torch.no_grad():
            snapshot.load_env_states(self, states, t)
            return self._give(self._rows.observe()[0])

    def dump_states(self) -> list[dict[str, Any]]:
        """The environment state of every row as JSON dicts (the inverse of `load_states`)."""
        return snapshot.dump_env_states(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return snapshot.rebuild, snapshot.reduced(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> SimulacrumVectorEnv:
        return snapshot.rebuild(*snapshot.reduced(self))

    # --- Gymnasium's conventions ---------------------------------------------------------------------------------

    @property
    def spec(self) -> EnvSpec | None:
        """The Gymnasium spec it was made from; its `max_episode_steps` is the limit that is in force."""
        return self._spec

    @spec.setter
    # The base class has a plain attribute.
    def spec(self, spec: EnvSpec | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        # `make_vec` notes a limit given to it among the keywords alone, and leaves the registered one in its place.
        if spec is not None and spec.max_episode_steps != self.max_episode_steps:
            spec = copy.copy(spec)
            spec.max_episode_steps = self.max_episode_steps
        self._spec = spec

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]  # one seed a row, as SyncVectorEnv gives
        """The seed of each row. Before the first reset: the seeds that an unseeded one will use."""
        if not self._seeds:
            self._seeds = [entropy() for _ in range(self.num_envs)]
        return tuple(self._seeds)

    def render(self) -> tuple[Any, ...] | None:
        """A tuple of N frames: uint8 `[H, W, 3]` arrays for "rgb_array", strings for "ansi"; None without a mode."""
        self._check_open()
        self.check_actions()
        return rendering.frames(self)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What `name` gives for each row, as a tuple of N: a parameter, a method's result, or an attribute."""
        return rendering.call(self, name, *args, **kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """`call(name)`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set a parameter (or another public attribute), one value for all rows or a list of N.

        Raises:
            UsageError: (a ValueError) a list of another length, or a value outside the parameter's bounds.
        """
        rendering.set_attr(self, name, values)

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the state; called once by `close()`, in some versions of Gymnasium when an env is collected.

        Nothing is made here: a collection can come in the middle of anything, such as a capture by torch.
        """
        self._rows.let_go()
        self._illegal = None

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedError(
                "this environment was closed",
                expected="an open environment",
                where=repr(self),
                next_step="make a new one with gymnasium.make_vec",
            )

    def __repr__(self) -> str:
        return (
            f"SimulacrumVectorEnv({self.package.name}, num_envs={self.num_envs}, "
            f"autoreset_mode={self.autoreset_mode.name}, device={self.device}, output={self.output}, form={self.form})"
        )


def _row_values(action: Any, row: int) -> Any:
    if isinstance(action, dict):
        return {name: value[row].tolist() for name, value in action.items()}
    return action[row].tolist()


__all__ = ["FROM_SCHEMA", "ActionError", "SimulacrumVectorEnv"]
