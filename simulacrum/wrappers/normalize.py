"""Running normalisation of observations and rewards, as Gymnasium computes it, on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from simulacrum.errors import UsageError
from simulacrum.wrappers.base import TorchVectorWrapper, row_mask


class RunningMeanStd:
    """Mean and variance of a stream of batches, in float64, by the parallel formula of Chan, Golub and LeVeque (1979).

    The count starts at `epsilon`, as Gymnasium's does, so that the first variance is defined.
    """

    def __init__(self, shape: tuple[int, ...], device: torch.device, epsilon: float = 1e-4) -> None:
        self.mean = torch.zeros(shape, dtype=torch.float64, device=device)
        self.var = torch.ones(shape, dtype=torch.float64, device=device)
        self.count = torch.tensor(epsilon, dtype=torch.float64, device=device)

    def update(self, batch: torch.Tensor, rows: torch.Tensor) -> None:
        """Take in the rows of `batch` `[N, ...]` where `rows` `[N]` is true; none is fine. Does not wait."""
        weight = row_mask(rows, batch).to(torch.float64)
        values = batch.to(torch.float64)
        count = rows.sum(dtype=torch.float64)
        safe = count.clamp(min=1.0)
        mean = (values * weight).sum(dim=0) / safe
        var = ((values - mean).square() * weight).sum(dim=0) / safe
        delta, total = mean - self.mean, self.count + count
        squares = self.var * self.count + var * count + delta.square() * self.count * count / total
        self.mean = self.mean + delta * count / total
        self.var = squares / total
        self.count = total

    def state(self) -> dict[str, torch.Tensor]:
        """mean, var and count."""
        return {"mean": self.mean, "var": self.var, "count": self.count}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """The inverse of `state`."""
        self.mean, self.var, self.count = state["mean"], state["var"], state["count"]


class NormalizeObservation(TorchVectorWrapper):
    """Observations with zero mean and unit variance per coordinate, float32.

    All rows share the statistics. Every observation that is shown counts once; in SAME_STEP `info["final_obs"]` is
    normalised too (by the statistics of its step) and does not count a second time.

    Args:
        env: a torch VectorEnv with a Box observation space.
        epsilon: added to the variance, positive.

    `update_running_mean = False` freezes the statistics, for evaluation.
    """

    _saved = ("rms_state",)

    def __init__(self, env: Any, epsilon: float = 1e-8) -> None:
        super().__init__(env)
        _positive("epsilon", epsilon)
        space: Any = env.single_observation_space
        if not isinstance(space, Box):
            raise UsageError("only Box observations can be normalised", expected="Box", found=repr(space))
        self.single_observation_space = Box(-np.inf, np.inf, shape=space.shape, dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.epsilon = epsilon
        self.update_running_mean = True
        self.obs_rms = RunningMeanStd(space.shape, torch.device(getattr(env, "device", "cpu")))

    @property
    def rms_state(self) -> dict[str, torch.Tensor]:
        """The running statistics."""
        return self.obs_rms.state()

    @rms_state.setter
    def rms_state(self, state: dict[str, torch.Tensor]) -> None:
        self.obs_rms.restore(state)

    def restart(self, rows: torch.Tensor, observation: Any) -> Any:
        return self._normalized(observation, rows)

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step gives, observations and `final_obs` scaled."""
        shown = self._normalized(observation, torch.ones_like(resetting))
        if "final_obs" in info:
            info = {**info, "final_obs": self._scaled(info["final_obs"])}
        return shown, reward, terminated, truncated, info

    def _normalized(self, observation: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        if self.update_running_mean:
            self.obs_rms.update(observation, rows)
        return self._scaled(observation)

    def _scaled(self, observation: torch.Tensor) -> torch.Tensor:
        scaled = (observation.to(torch.float64) - self.obs_rms.mean) / torch.sqrt(self.obs_rms.var + self.epsilon)
        return scaled.to(torch.float32)


class NormalizeReward(TorchVectorWrapper):
    """Rewards divided by the running standard deviation of the discounted return, in the reward's dtype.

    Args:
        env: a torch VectorEnv.
        gamma: discount of the return that is tracked, in [0, 1].
        epsilon: added to the variance, positive.
    """

    _saved = ("rms_state", "accumulated_reward")

    def __init__(self, env: Any, gamma: float = 0.99, epsilon: float = 1e-8) -> None:
        super().__init__(env)
        _positive("epsilon", epsilon)
        if not 0 <= gamma <= 1:
            raise UsageError("gamma must lie in [0, 1]", expected="0 to 1", found=gamma)
        device = torch.device(getattr(env, "device", "cpu"))
        self.gamma, self.epsilon = gamma, epsilon
        self.update_running_mean = True
        self.return_rms = RunningMeanStd((), device)
        self.accumulated_reward = torch.zeros(self.num_envs, dtype=torch.float64, device=device)

    @property
    def rms_state(self) -> dict[str, torch.Tensor]:
        """The running statistics."""
        return self.return_rms.state()

    @rms_state.setter
    def rms_state(self, state: dict[str, torch.Tensor]) -> None:
        self.return_rms.restore(state)

    def restart(self, rows: torch.Tensor, observation: Any) -> Any:
        # Only the rows that begin anew; the others' episodes go on.
        self.accumulated_reward = torch.where(rows, torch.zeros_like(self.accumulated_reward), self.accumulated_reward)
        return observation

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step gives, rewards scaled by the returns so far."""
        active = ~resetting
        discounted = self.accumulated_reward * self.gamma * (~terminated).to(torch.float64) + reward
        self.accumulated_reward = torch.where(active, discounted, self.accumulated_reward)
        if self.update_running_mean:
            self.return_rms.update(self.accumulated_reward, active)
        if self.mode == AutoresetMode.SAME_STEP:
            ended = terminated | truncated
            self.accumulated_reward = torch.where(ended, torch.zeros_like(discounted), self.accumulated_reward)
        scale = torch.sqrt(self.return_rms.var + self.epsilon)
        return observation, (reward / scale).to(reward.dtype), terminated, truncated, info


def _positive(name: str, value: float) -> None:
    if not value > 0:
        raise UsageError(f"{name} must be positive", expected="above 0", found=value)
