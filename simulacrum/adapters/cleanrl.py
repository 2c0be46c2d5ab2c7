"""The vector environment that CleanRL's scripts expect: Gymnasium's, as version 0.29 had it, in NumPy.

Those scripts read keys that Gymnasium 1.0 renamed or reshaped: an observation that ended an episode is in
`infos["final_observation"]`, and `infos["final_info"]` is an array of dicts, each with "episode". In NEXT_STEP they
would log nothing and learn from steps that only reset, so this adapter serves SAME_STEP and nothing else.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import VectorWrapper

from simulacrum.adapters.checks import built, checked
from simulacrum.adapters.ended import Ended, ended_rows
from simulacrum.engine.output import masked, to_numpy

# What Gymnasium 0.29's RecordEpisodeStatistics gives: arrays of one number.
_STATISTICS = {"r": np.float32, "l": np.int32, "t": np.float32}
_AT_AN_END = ("final_obs", "_final_obs", "final_info", "_final_info", "episode", "_episode")


def make_cleanrl(env_id: str, num_envs: int = 1, **kwargs: Any) -> CleanRLVectorEnv:
    """The environment `env_id` for CleanRL's scripts, built by `gymnasium.make_vec` and so behind the gate.

    It stands in a script where `gym.vector.SyncVectorEnv([make_env(...), ...])` stood.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0".
        num_envs: rows N; DQN, C51 and their kin take 1.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output).
    """
    return CleanRLVectorEnv(built("make_cleanrl", env_id, num_envs, kwargs, mode="same_step"))


class CleanRLVectorEnv(VectorWrapper[Any, Any, Any, Any, Any]):
    """A `SimulacrumVectorEnv` with the results of a vector environment of Gymnasium 0.29.

    `reset()` and `step()` give NumPy: observations `[N, ...]`, rewards float32 `[N]`, flags bool `[N]`. Where an
    episode ended the observation is the first of the next one, and in such a step the infos have

    - "final_observation": object array `[N]`, the last observation of the old episode in rows that ended, else None;
    - "final_info": object array `[N]` of dicts or None; a dict has the environment's own metrics for the last state,
      and "episode": {"r", "l", "t"}, return, length and seconds, each an array of one number;
    - "_final_observation" and "_final_info", bool `[N]`: the rows that ended.

    The environment's metrics are in the infos of every step, with a mask beside each. Gymnasium's vector wrappers go
    around it; `ClipAction` does where a policy's actions are not bounded.

    Args:
        env: the vector environment, in SAME_STEP mode and with torch output, and not wrapped.

    Raises:
        UsageError: another mode, NumPy output, or something else than a `SimulacrumVectorEnv`.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        super().__init__(
            checked(
                env,
                "CleanRLVectorEnv",
                maker="make_cleanrl",
                mode="same_step",
                why="CleanRL's scripts read a row's last observation in the step that also resets it",
            )
        )

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, as `SimulacrumVectorEnv.reset` does; (observations, infos)."""
        observation, info = self.env.reset(seed=seed, options=options)
        info = to_numpy(info)
        partial = any(key.startswith("_") for key in info)
        return to_numpy(observation), info if partial else masked(info, np.ones(self.num_envs, dtype=bool))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every row; (observations, rewards, terminations, truncations, infos) as 0.29 has them."""
        observation, reward, terminated, truncated, info = self.env.step(actions)
        shown = to_numpy({key: value for key, value in info.items() if key not in _AT_AN_END})
        shown = masked(shown, np.ones(self.num_envs, dtype=bool))
        ended = list(ended_rows(terminated, truncated, info))
        if ended:
            shown |= self._ends(ended)
        reward = to_numpy(reward.to(torch.float32))
        return to_numpy(observation), reward, to_numpy(terminated), to_numpy(truncated), shown

    def _ends(self, ended: list[Ended]) -> dict[str, Any]:
        last, infos = (np.full(self.num_envs, None, dtype=object) for _ in range(2))
        mask = np.zeros(self.num_envs, dtype=bool)
        for one in ended:
            statistics = {key: np.array([value], dtype=_STATISTICS[key]) for key, value in one.episode.items()}
            last[one.row], mask[one.row] = one.observation, True
            infos[one.row] = {**one.metrics, "episode": statistics} if statistics else one.metrics
        return {
            "final_observation": last,
            "_final_observation": mask,
            "final_info": infos,
            "_final_info": mask.copy(),
        }
