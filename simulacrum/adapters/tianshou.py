"""Tianshou's `BaseVectorEnv` over a `SimulacrumVectorEnv`.

Tianshou's collector resets ended rows itself, by their numbers, and steps only some of the rows at the end of
`collect(n_episode=...)`. So this adapter serves DISABLED and nothing else, and rows that are not stepped hold still:
those that are go on in a batch of their own, and come back when another set of rows is asked for.
"""

# Tianshou is an extra, and not there where the types are checked; its classes are then unknown to the checker.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from tianshou.env import BaseVectorEnv

from simulacrum.adapters.checks import built, checked
from simulacrum.engine.output import row_of, to_numpy
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import ClosedError, UsageError

Rows = int | Sequence[int] | np.ndarray | None


def make_tianshou(
    env_id: str, num_envs: int = 1, *, action_masks: bool = False, **kwargs: Any
) -> TianshouVectorEnv:
    """The environment `env_id` for Tianshou, built by `gymnasium.make_vec` and so behind the gate.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0".
        num_envs: rows N.
        action_masks: as `TianshouVectorEnv` takes it.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output).
    """
    env = built("make_tianshou", env_id, num_envs, kwargs, mode="disabled")
    return TianshouVectorEnv(env, action_masks=action_masks)


class TianshouVectorEnv(BaseVectorEnv):
    """A `SimulacrumVectorEnv` as Tianshou's collectors and trainers want their environments.

    `reset(env_id)` and `step(action, id)` speak of the R rows with those numbers (all N by default), in the order in
    which they are asked for. They give NumPy: observations `[R, ...]` (an object array of dicts for Dict spaces),
    rewards float32 `[R]`, flags bool `[R]`, and infos, an object array of R dicts with the environment's own metrics
    and "env_id". An episode's last observation is the one that the step returns; whoever steps on has to reset the row.

    Args:
        env: the vector environment, in DISABLED mode and with torch output, and not wrapped.
        action_masks: give observations as Tianshou's masked policies (DQN and its kin) read them, dicts of "obs" and
            "mask". Without it a mask is in the infos, where the schema has one.

    Raises:
        UsageError: another mode, NumPy output, something else than a `SimulacrumVectorEnv`, a Dict action space, or
            masks where the schema has none.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], *, action_masks: bool = False) -> None:
        # Not Tianshou's constructor, which starts a worker for each row.
        self.env = checked(
            env,
            "TianshouVectorEnv",
            maker="make_tianshou",
            mode="disabled",
            why="Tianshou resets the rows that ended itself, by their numbers",
        )
        _check_spaces(self.env, action_masks)
        self.action_masks = action_masks
        self.env_num = self.wait_num = self.env.num_envs
        self.is_async, self.timeout, self.workers = False, None, []
        self.waiting_conn, self.waiting_id, self.ready_id = [], [], list(range(self.env_num))
        self.observation_space: list[gym.Space[Any]] = [self.env.single_observation_space] * self.env_num
        # One each, because a collector that acts at random samples from them, and `seed` seeds them apart.
        self.action_space = [copy.deepcopy(self.env.single_action_space) for _ in range(self.env_num)]
        self._seeds: list[int | None] = [None] * self.env_num
        self._part: SimulacrumVectorEnv | None = None  # rows that were last stepped without the others
        self._part_rows: list[int] = []

    def __getattribute__(self, key: str) -> Any:
        # Tianshou's own sends some names to its workers.
        return object.__getattribute__(self, key)

    def __len__(self) -> int:
        return self.env_num

    # --- stepping -----------------------------------------------------------------------------------------------------

    def reset(self, env_id: Rows = None, **kwargs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Start new episodes in the rows `env_id`, and nowhere else: (observations, infos) of these rows.

        Args:
            env_id: numbers of rows; all by default.
            kwargs: `seed` and `options` as `SimulacrumVectorEnv.reset` takes them, a seed s meaning s + i for row i.
                Without a seed those of `seed()` are used up, and rows without one go on with their next episode.

        Raises:
            UsageError: no such rows, or a partial reset before the first full one.
        """
        rows = self._rows(env_id)
        self._join()
        seeds = kwargs.pop("seed", None)
        if seeds is None and any(self._seeds[row] is not None for row in rows):
            seeds = [seed if row in set(rows) else None for row, seed in enumerate(self._seeds)]
        options = kwargs.pop("options", None)
        if kwargs:
            raise UsageError(
                "unknown arguments of a reset", expected="seed, options", found=sorted(kwargs), where="reset(...)"
            )
        if len(rows) < self.env_num:
            mask = np.zeros(self.env_num, dtype=bool)
            mask[rows] = True
            options = {**(options or {}), "reset_mask": mask}
        observation, info = self.env.reset(seed=seeds, options=options)
        for row in rows:
            self._seeds[row] = None
        shown = {key: value for key, value in info.items() if not key.startswith("_")}
        return self._shown(observation, shown, rows, rows)

    def step(self, action: Any, id: Rows = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Step the rows `id` (all by default) by `action` `[R, ...]`; the others hold still.

        Returns:
            (observations, rewards, terminated, truncated, infos) of these rows, in their order.

        Raises:
            UsageError: no such rows, or another number of actions.
            ActionError, gymnasium.error.ResetNeeded: as `SimulacrumVectorEnv.step` does.
        """
        rows = self._rows(id)
        if action is None or len(action) != len(rows):
            raise UsageError(
                "not one action for each row that is stepped",
                expected=f"{len(rows)} actions",
                found="none" if action is None else len(action),
                where="step(action, id)",
            )
        env, order = self._batch(rows)
        given = torch.as_tensor(action)
        shown = env.step(given if order == rows else given[torch.as_tensor(np.argsort(rows))])
        picked = [order.index(row) for row in rows] if order != rows else list(range(len(rows)))
        observation, info = self._shown(shown[0], shown[4], rows, picked)
        reward, terminated, truncated = (to_numpy(value)[picked] for value in shown[1:4])
        return observation, reward.astype(np.float32), terminated, truncated, info

    def _batch(self, rows: list[int]) -> tuple[SimulacrumVectorEnv, list[int]]:
        """What to step so that these rows move and no others, and the order in which it has them."""
        order = sorted(rows)
        if self._part is not None and order == self._part_rows:
            return self._part, order
        self._join()
        if len(order) == self.env_num:
            return self.env, order
        self._part, self._part_rows = self.env.fork(order), order
        return self._part, order

    def _join(self) -> None:
        """Put rows that went on alone back among the others."""
        if self._part is None:
            return
        whole, part = self.env.state_dict(), self._part.state_dict()
        place = torch.tensor(self._part_rows, device=self.env.device)
        for kind in ("env", "clock"):
            for name, value in part[kind].items():
                whole[kind][name][place] = value
        self.env.load_state_dict(whole)
        self._part.close()
        self._part = None

    def _shown(
        self, observation: Any, info: dict[str, Any], rows: list[int], picked: list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Observations and infos of `rows`, which stand at the places `picked` of what the environment gave."""
        host = to_numpy({"observation": observation, "info": info})
        observation, info = host["observation"], host["info"]
        if self.action_masks:
            observation = {"obs": observation, "mask": info.pop("action_mask")}
        infos = _objects([{**row_of(info, place), "env_id": row} for row, place in zip(rows, picked, strict=True)])
        if isinstance(observation, dict):
            return _objects([row_of(observation, place) for place in picked]), infos
        return observation[picked], infos

    def _rows(self, given: Rows) -> list[int]:
        if self.env.closed:
            raise ClosedError("this environment was closed", next_step="make a new one with make_tianshou")
        if given is None:
            return list(range(self.env_num))
        rows = [int(row) for row in np.atleast_1d(np.asarray(given))]
        if not rows or len(set(rows)) < len(rows) or not all(0 <= row < self.env_num for row in rows):
            raise UsageError(
                "these are not numbers of rows",
                expected=f"some of 0 to {self.env_num - 1}, each once",
                found=rows,
                where="env_id= or id=",
            )
        return rows

    # --- the rest of Tianshou's interface -----------------------------------------------------------------------------

    def seed(self, seed: int | Sequence[int | None] | None = None) -> list[list[int] | None]:
        """Keep seeds for the next reset, s + i for row i, and seed the rows' action spaces; returns them by row."""
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds = [None if seed is None else int(seed) + row for row in range(self.env_num)]
        else:
            seeds = [None if one is None else int(one) for one in seed]
        if len(seeds) != self.env_num:
            raise UsageError("not one seed for each row", expected=self.env_num, found=len(seeds), where="seed(...)")
        for space, one in zip(self.action_space, seeds, strict=True):
            space.seed(one)
        self._seeds = seeds
        return [None if one is None else [one] for one in seeds]

    def get_env_attr(self, key: str, id: Rows = None) -> list[Any]:
        """The attribute or parameter of that name of each chosen row. AttributeError where there is none."""
        rows = self._rows(id)
        self._join()
        values = self.env.get_attr(key)
        return [values[row] for row in rows]

    def set_env_attr(self, key: str, value: Any, id: Rows = None) -> None:
        """Set a parameter in the chosen rows, or an attribute of the whole batch (no `id` then)."""
        rows = self._rows(id)
        self._join()
        values = [value] * self.env_num if id is None else list(self.env.get_attr(key))
        for row in rows:
            values[row] = value
        self.env.set_attr(key, values)

    def render(self, **kwargs: Any) -> list[Any]:
        """A frame for each row, or None for each where nothing is rendered."""
        self._rows(None)
        self._join()
        frames = self.env.render()
        return [None] * self.env_num if frames is None else list(frames)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self.env.closed

    def close(self) -> None:
        """Close the environment; a second call does nothing."""
        if self._part is not None:
            self._part.close()
            self._part = None
        self.env.close()


def _objects(items: list[Any]) -> np.ndarray:
    """A flat object array, whatever NumPy would make of the items."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _check_spaces(env: SimulacrumVectorEnv, action_masks: bool) -> None:
    if isinstance(env.single_action_space, gym.spaces.Dict):
        raise UsageError(
            "Tianshou's policies act by one array",
            expected="a Discrete, MultiDiscrete or Box action space",
            found="a Dict",
            where="TianshouVectorEnv(env)",
        )
    if action_masks and env.schema.action_mask is None:
        raise UsageError(
            "the environment has no action mask",
            expected="a schema with action_mask",
            found=env.schema.id,
            where="TianshouVectorEnv(action_masks=True)",
            next_step="leave action_masks out",
        )
