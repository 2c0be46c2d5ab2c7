"""Stable-Baselines3's `VecEnv` over a `SimulacrumVectorEnv`.

Stable-Baselines3 does not know Gymnasium's vector environments. Its own interface is NumPy, resets a row in
the step that ends its episode, and finds the last observation of the old episode in that row's info. So this
adapter serves SAME_STEP and nothing else, and copies nothing on the CPU: the arrays it hands out are the
step's fresh tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.vec_env import VecEnv

from simulacrum.adapters.checks import built, checked
from simulacrum.adapters.ended import Ended, ended_rows
from simulacrum.engine.output import to_numpy
from simulacrum.errors import UsageError

Indices = int | Iterable[int] | None

_WHOLE_BATCH = ("reset", "step", "close", "state_dict", "load_state_dict")


def make_sb3(env_id: str, num_envs: int = 1, **kwargs: Any) -> SB3VecEnv:
    """The environment `env_id` for Stable-Baselines3, built by `gymnasium.make_vec` and so behind the gate.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0".
        num_envs: rows N.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output).
    """
    return SB3VecEnv(built("make_sb3", env_id, num_envs, kwargs, mode="same_step"))


class NoInfo(dict[str, Any]):
    """An empty dict that stays empty: one object stands for the infos of all rows whose episode goes on.

    A dict of its own for each row would cost more than the step itself. `copy()` gives an ordinary dict.
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UsageError(
            "this info is shared by all rows whose episode goes on and cannot be written",
            expected="infos of ended rows, or a copy",
            where="infos[row]",
            next_step="infos[row] = {**infos[row], key: value}",
        )

    # One refusal for all of them; their overloads differ, and none of them returns.
    __setitem__ = __delitem__ = __ior__ = pop = popitem = clear = _refuse
    # As above.
    update = setdefault = _refuse  # pyright: ignore[reportAssignmentType]


NO_INFO = NoInfo()


class SB3VecEnv(VecEnv):
    """A `SimulacrumVectorEnv` as Stable-Baselines3 wants its environments.

    `reset()` and `step()` give NumPy: observations `[N, ...]` (a dict of them for Dict spaces), rewards
    float32 `[N]`, dones bool `[N]`, and a list of N infos. Where an episode ended, the observation is the
    first of the next episode, and the info has

    - "terminal_observation": the last observation of the old episode, one row with memory of its own;
    - "TimeLimit.truncated": cut off and not terminated, which is when its value is bootstrapped;
    - "episode": {"r", "l", "t"}, the return, the length and the wall time in seconds;
    - the environment's own metrics for the last state.

    The infos of all other rows are one shared empty dict that cannot be written. Editing what is returned
    (PPO adds bootstrap values to the rewards in place) never reaches the environment.

    Action masks, where the schema has them, come from `env_method("action_masks")`, one bool array a row.

    Args:
        env: the vector environment, in SAME_STEP mode and with torch output, and not wrapped.

    Raises:
        UsageError: another mode, NumPy output, or something else than a `SimulacrumVectorEnv`.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        why = "Stable-Baselines3 resets a row in the step that ends its episode"
        self.env = checked(env, "SB3VecEnv", maker="make_sb3", mode="same_step", why=why)
        self._actions: Any = None
        self._action_mask: np.ndarray | None = None
        # Neither library says what its spaces contain.
        spaces = (env.single_observation_space, env.single_action_space)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        # As above.
        super().__init__(env.num_envs, *spaces)  # pyright: ignore[reportUnknownMemberType]

    # --- stepping -------------------------------------------------------------------------------------------

    def reset(self) -> Any:
        """Start new episodes in all rows; the observations. Uses up what `seed` and `set_options` left."""
        seeds, options = list(self._seeds), list(self._options)
        self._reset_seeds()
        self._reset_options()
        if any(given != options[0] for given in options):
            raise UsageError(
                "the rows of one batch are reset with the same options",
                expected="one dict for all rows",
                found="different dicts",
                where="set_options(...)",
            )
        observation, info = self.env.reset(
            seed=None if all(seed is None for seed in seeds) else seeds, options=options[0] or None
        )
        host = to_numpy(info)
        self._action_mask = host.get("action_mask")
        self.reset_infos = [
            {name: value[row] for name, value in host.items()} for row in range(self.num_envs)
        ]
        self._actions = None
        return to_numpy(observation)

    def step_async(self, actions: Any) -> None:
        """Keep the actions `[N, ...]` for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step all rows: (observations, rewards float32 `[N]`, dones bool `[N]`, N infos).

        Raises:
            UsageError: no actions are waiting.
            ActionError, ClosedError, gymnasium.error.ResetNeeded: as `SimulacrumVectorEnv.step` does.
        """
        actions, self._actions = self._actions, None
        if actions is None:
            raise UsageError(
                "no actions are waiting", expected="step_async(actions) first", where="step_wait()"
            )
        observation, reward, terminated, truncated, info = self.env.step(actions)
        infos: list[dict[str, Any]] = [NO_INFO] * self.num_envs
        for ended in ended_rows(terminated, truncated, info):
            infos[ended.row] = _info_of(ended)
        if "action_mask" in info:
            self._action_mask = to_numpy(info["action_mask"])
        done = to_numpy(terminated | truncated)
        return to_numpy(observation), to_numpy(reward.to(torch.float32)), done, infos

    def close(self) -> None:
        """Close the environment; a second call does nothing."""
        self.env.close()

    # --- rows by name ---------------------------------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute or parameter of that name of each chosen row. AttributeError where there is none."""
        rows = self._rows(indices)
        if attr_name == "action_masks" and self.env.schema.action_mask is not None:
            return [self._masks for _ in rows]
        attribute = getattr(self.env, attr_name, None)
        if callable(attribute) and not attr_name.startswith("_"):
            return [attribute for _ in rows]
        values = self.env.get_attr(attr_name)
        return [values[row] for row in rows]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set a parameter in the chosen rows, or an attribute of the whole batch (no `indices` then).

        Raises:
            UsageError: a value outside the parameter's bounds, or an attribute that rows cannot differ in.
        """
        values = [value] * self.num_envs
        if indices is not None:
            values = list(self.env.get_attr(attr_name))
            for row in self._rows(indices):
                values[row] = value
        self.env.set_attr(attr_name, values)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """What the method gives for each chosen row; "action_masks" gives bool arrays `[actions]`.

        Raises:
            UsageError: a method that moves the whole batch, such as "reset".
            AttributeError: no method of that name.
        """
        rows = self._rows(indices)
        if method_name in _WHOLE_BATCH:
            raise UsageError(
                f"{method_name!r} concerns all rows at once",
                expected="a method of single rows",
                found=method_name,
                where="env_method(...)",
                next_step=f"call it on the adapter, or on its `env`: .env.{method_name}(...)",
            )
        if method_name == "action_masks" and self.env.schema.action_mask is not None:
            masks = self._masks()
            return [masks[row] for row in rows]
        values = self.env.call(method_name, *method_args, **method_kwargs)
        return [values[row] for row in rows]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """False for every chosen row: there are no single environments that could be wrapped."""
        return [False for _ in self._rows(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """A uint8 frame `[H, W, 3]` for each row, or None for each where nothing is rendered."""
        frames = self.env.render()
        return [None] * self.num_envs if frames is None else list(frames)

    def _masks(self) -> np.ndarray:
        if self._action_mask is None:
            raise gym.error.ResetNeeded("call reset() before asking for action masks")
        return self._action_mask

    def _rows(self, indices: Indices) -> list[int]:
        rows = list(self._get_indices(indices))
        outside = [row for row in rows if not 0 <= row < self.num_envs]
        if outside:
            raise UsageError(
                "no such rows", expected=f"0 to {self.num_envs - 1}", found=outside, where="indices="
            )
        return rows


def _info_of(ended: Ended) -> dict[str, Any]:
    info: dict[str, Any] = {
        **ended.metrics,
        "terminal_observation": ended.observation,
        "TimeLimit.truncated": ended.cut_off,
    }
    return {**info, "episode": ended.episode} if ended.episode else info
