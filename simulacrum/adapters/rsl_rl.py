"""rsl_rl's `VecEnv` over a `SimulacrumVectorEnv`, torch from end to end.

rsl_rl resets a row in the step that ends its episode and never calls a reset itself. So this adapter serves SAME_STEP
and nothing else, starts its rows when it is built, and hands the step's own tensors on.
"""

# rsl_rl is an extra, and not there where the types are checked; its classes are then unknown to the checker.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownParameterType=false

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import torch
from gymnasium import spaces
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from simulacrum.adapters.checks import built, checked, shown_by
from simulacrum.errors import UsageError

GROUP = "policy"  # the name of the one observation group, where the observation is no Dict


def make_rsl_rl(env_id: str, num_envs: int = 1, *, seed: int | None = None, **kwargs: Any) -> RslRlEnv:
    """The environment `env_id` for rsl_rl, built by `gymnasium.make_vec` and so behind the gate.

    Args:
        env_id: a Gymnasium id of an environment with continuous actions, such as "simulacrum/pendulum-v0".
        num_envs: rows N.
        seed: as `RslRlEnv` takes it.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`, `threads`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output), actions that are not
            continuous, or no time limit.
    """
    return RslRlEnv(built("make_rsl_rl", env_id, num_envs, kwargs, mode="same_step"), seed=seed)


class RslRlEnv(VecEnv):
    """A `SimulacrumVectorEnv` as rsl_rl wants its environments.

    Observations come as a TensorDict of batch size `[N]`: the group "policy", or one group for each entry of a Dict
    space, to be named in the configuration's `obs_groups`. Groups are floats, at least `[N, 1]`; what is float already
    is the step's own memory. Rewards and dones are `[N]`. Of `extras`,

    - "time_outs" bool `[N]` are the rows that were cut off and not terminated, which is when rsl_rl adds what the last
      state is worth (the state before the last step, as rsl_rl does it);
    - "log", on steps that ended an episode: the task metrics of the episodes that ended.

    Actions are `[N, num_actions]`. A Gaussian policy knows no bounds, so they are clipped to those of the space. A NaN
    stays one, and the environment refuses it.

    Args:
        env: the vector environment, in SAME_STEP mode and with torch output, and not wrapped. Its actions must be a
            Box of floats, and it must have a time limit.
        seed: of the rows: row i takes seed + i. None takes entropy from the system.

    Raises:
        UsageError: another mode, NumPy output, something else than a `SimulacrumVectorEnv`, other actions, no limit.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], *, seed: int | None = None) -> None:
        why = "rsl_rl resets a row in the step that ends its episode"
        self.env = checked(env, "RslRlEnv", maker="make_rsl_rl", mode="same_step", why=why)
        self._space = _checked_actions(self.env.single_action_space)
        if self.env.max_episode_steps is None:
            raise UsageError(
                "rsl_rl wants to know how long an episode can be",
                expected="a time limit",
                found="max_episode_steps=None",
                where="RslRlEnv(env)",
                next_step="make_rsl_rl(env_id, max_episode_steps=...)",
            )
        self.num_envs: int = self.env.num_envs
        self.num_actions: int = math.prod(self._space.shape)
        self.max_episode_length: int = self.env.max_episode_steps
        self.device: torch.device = self.env.device
        self._low = torch.as_tensor(self._space.low, device=self.device)
        self._high = torch.as_tensor(self._space.high, device=self.device)
        self.cfg: dict[str, Any] = {
            "env_id": self.env.schema.id,
            "num_envs": self.num_envs,
            "form": self.env.form,
            "max_episode_steps": self.max_episode_length,
            "seed": seed,
        }
        self.env.reset(seed=seed)

    @property
    def unwrapped(self) -> RslRlEnv:
        """The adapter itself."""
        return self

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps taken in the present episode of each row, int64 `[N]`, a copy.

        Setting it moves the clocks of the rows, so the time limit comes sooner or later; rsl_rl does that once, at
        random, so that not all rows end together. What the rows show, and all draws to come, follow the new clocks.

        Raises:
            UsageError: another shape, no integers, or a clock at which an episode would be over already.
        """
        return self.env.state.t.to(torch.int64)

    @episode_length_buf.setter
    # The base class has a plain attribute.
    def episode_length_buf(self, value: torch.Tensor) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        fits = tuple(value.shape) == (self.num_envs,) and not value.is_floating_point() and value.dtype != torch.bool
        if not fits or bool(((value < 0) | (value >= self.max_episode_length)).any()):
            raise UsageError(
                "these are no clocks of rows",
                expected=f"integers [{self.num_envs}] from 0 to {self.max_episode_length - 1}",
                found=f"{value.dtype} {list(value.shape)}, from {value.min().item()} to {value.max().item()}",
                where="episode_length_buf",
            )
        with torch.inference_mode(False):
            saved = self.env.state_dict()
            saved["clock"]["t"] = value.to(saved["clock"]["t"].dtype)
            self.env.load_state_dict(saved)

    def get_observations(self) -> TensorDict:
        """What all rows show now."""
        return self._grouped(shown_by(self.env)[0])

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Step all rows with actions `[N, num_actions]`: (observations, rewards `[N]`, dones bool `[N]`, extras).

        Raises:
            ActionError, ClosedError: as `SimulacrumVectorEnv.step` does.
        """
        with torch.inference_mode(False), torch.no_grad():
            wanted = actions.reshape(self.num_envs, *self._space.shape).clamp(self._low, self._high)
            observation, reward, terminated, truncated, info = self.env.step(wanted)
            dones = terminated | truncated
            extras: dict[str, Any] = {"time_outs": truncated & ~terminated}
            metrics = info["final_info"]
            if metrics and bool(dones.any()):
                extras["log"] = {f"/{name}": value[dones].float() for name, value in metrics.items() if value.ndim == 1}
            return self._grouped(observation), reward, dones, extras

    def close(self) -> None:
        """Close the environment; a second call does nothing."""
        self.env.close()

    def _grouped(self, observation: Any) -> TensorDict:
        parts = observation if isinstance(observation, dict) else {GROUP: observation}
        groups = {name: _as_floats(value) for name, value in parts.items()}
        return TensorDict(groups, batch_size=[self.num_envs], device=self.device)


def _checked_actions(space: gym.Space[Any]) -> spaces.Box:
    if not isinstance(space, spaces.Box) or space.dtype.kind != "f":
        raise UsageError(
            "rsl_rl's policies act in continuous spaces",
            expected="a Box of floats",
            found=str(space),
            where="RslRlEnv(env)",
            next_step="train this environment with a library for discrete actions, such as skrl or TorchRL",
        )
    return space


def _as_floats(value: torch.Tensor) -> torch.Tensor:
    value = value if value.ndim > 1 else value.unsqueeze(-1)
    return value if value.is_floating_point() else value.float()

