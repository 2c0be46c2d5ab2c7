"""PufferLib's native environment over a `SimulacrumVectorEnv`.

A native environment of PufferLib writes its observations, rewards and flags into NumPy buffers that it is handed, which
may be memory that several processes share, and resets rows itself. So this adapter serves SAME_STEP and nothing else,
and copies each result once, from the step's tensors into the buffers.
"""

# PufferLib is an extra, and not there where the types are checked; its classes are then unknown to the checker.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportGeneralTypeIssues=false

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from simulacrum.adapters.checks import built, checked
from simulacrum.adapters.ended import ended_rows
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import UsageError


@contextlib.contextmanager
def _no_link_left() -> Generator[None]:
    """PufferLib's import links its pictures into the working directory as `resources`; nothing here reads them."""
    first = "pufferlib" not in sys.modules and not os.path.lexists("resources")
    yield
    if first:
        with contextlib.suppress(OSError):
            os.unlink("resources")


with _no_link_left():
    from pufferlib import PufferEnv


def make_pufferlib(
    env_id: str,
    num_envs: int = 1,
    *,
    truncated_is_terminal: bool = False,
    buf: Mapping[str, np.ndarray] | None = None,
    seed: int | None = None,
    **kwargs: Any,
) -> PufferVectorEnv:
    """The environment `env_id` for PufferLib, built by `gymnasium.make_vec` and so behind the gate.

    `pufferlib.vector.make(make_pufferlib, env_kwargs={"env_id": ..., "num_envs": ...}, backend=...)` calls it, in
    workers too.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0". In workers the module that registers it must be
            imported as well: "simulacrum:simulacrum/forager-v0".
        num_envs: rows N, which PufferLib calls agents.
        truncated_is_terminal, buf, seed: as `PufferVectorEnv` takes them.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output).
    """
    env = built("make_pufferlib", env_id, num_envs, kwargs, mode="same_step")
    return PufferVectorEnv(env, truncated_is_terminal=truncated_is_terminal, buf=buf, seed=seed)


class PufferVectorEnv(PufferEnv):
    """A `SimulacrumVectorEnv` as a native environment of PufferLib.

    `reset(seed)` and `step(actions)` fill the buffers `observations` `[N, ...]`, `rewards` float32 `[N]`, `terminals`
    and `truncations` bool `[N]`, and return them. Where an episode ended the observation is the first of the next one.
    The infos are a list with a dict for each episode that ended: "episode_return", "episode_length" and the
    environment's own metrics for the last state.

    Args:
        env: the vector environment, in SAME_STEP mode and with torch output, and not wrapped.
        truncated_is_terminal: report an episode that was cut off as terminated. PufferLib's own trainer reads
            `terminals` alone: without this it takes the first value of the next episode for the future of one that was
            cut off, with it the future of such an episode counts as nothing.
        buf: the buffers, as PufferLib hands them; it makes them where there are none.
        seed: of the first reset, if that has none.

    Raises:
        UsageError: another mode, NumPy output, something else than a `SimulacrumVectorEnv`, or spaces that PufferLib
            has no native form of.
    """

    def __init__(
        self,
        env: gym.vector.VectorEnv[Any, Any, Any],
        *,
        truncated_is_terminal: bool = False,
        buf: Mapping[str, np.ndarray] | None = None,
        seed: int | None = None,
    ) -> None:
        self.env = checked(
            env,
            "PufferVectorEnv",
            maker="make_pufferlib",
            mode="same_step",
            why="PufferLib's environments reset a row in the step that ends its episode",
        )
        _check_spaces(self.env)
        self.single_observation_space = self.env.single_observation_space
        self.single_action_space = self.env.single_action_space
        self.num_agents = self.env.num_envs
        self.render_mode = self.env.render_mode
        self.truncated_is_terminal = truncated_is_terminal
        self._seed = seed
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list[dict[str, Any]]]:
        """Start new episodes in all rows; (observations, no infos).

        Args:
            seed: gives row i the seed `seed * N + i`, so that environments side by side, which PufferLib seeds one
                apart, have no row seed in common. None: go on with the next episode of each row.
        """
        first, self._seed = (self._seed if seed is None else seed), None
        observation, _ = self.env.reset(seed=None if first is None else int(first) * self.num_agents)
        _fill(self.observations, observation)
        for buffer in (self.rewards, self.terminals, self.truncations):
            buffer[:] = 0
        return self.observations, []

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step all rows by `actions` `[N, ...]`; (observations, rewards, terminals, truncations, infos).

        Raises:
            ActionError, ClosedError, gymnasium.error.ResetNeeded: as `SimulacrumVectorEnv.step` does.
        """
        if actions is not self.actions:
            self.actions[:] = actions
        observation, reward, terminated, truncated, info = self.env.step(self.actions)
        infos = [_info(one.metrics, one.episode) for one in ended_rows(terminated, truncated, info)]
        _fill(self.observations, observation)
        _fill(self.rewards, reward)
        _fill(self.terminals, terminated | truncated if self.truncated_is_terminal else terminated)
        _fill(self.truncations, truncated)
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def render(self) -> Any:
        """A frame of the first row, or None where nothing is rendered."""
        frames = self.env.render()
        return None if frames is None else frames[0]

    def notify(self) -> None:
        """PufferLib's signal to environments that have something to do between steps; these have not."""

    def close(self) -> None:
        """Close the environment; a second call does nothing."""
        self.env.close()


def _fill(buffer: np.ndarray, value: torch.Tensor) -> None:
    np.copyto(buffer, value.numpy(force=True), casting="same_kind")


def _info(metrics: Mapping[str, Any], episode: Mapping[str, Any]) -> dict[str, Any]:
    # PufferLib averages what is a number and drops arrays.
    info = {name: value for name, value in metrics.items() if np.ndim(value) == 0}
    return {**info, "episode_return": episode["r"], "episode_length": episode["l"]} if episode else info


def _check_spaces(env: SimulacrumVectorEnv) -> None:
    observation, action = env.single_observation_space, env.single_action_space
    native = isinstance(action, (gym.spaces.Discrete, gym.spaces.MultiDiscrete, gym.spaces.Box))
    shifted = isinstance(action, gym.spaces.Discrete) and action.start != 0
    if not isinstance(observation, gym.spaces.Box) or not native or shifted:
        raise UsageError(
            "PufferLib has no native form of these spaces",
            expected="a Box observation, and a Discrete from 0, MultiDiscrete or Box action",
            found=f"{observation} and {action}",
            where="PufferVectorEnv(env)",
        )
