"""Rewards changed element by element."""

from __future__ import annotations

from typing import Any

from simulacrum.errors import UsageError
from simulacrum.wrappers.base import TorchVectorWrapper


class ClipReward(TorchVectorWrapper):
    """Rewards clipped to [min_reward, max_reward]; None leaves an end open.

    Raises:
        UsageError: both are None, or min_reward is above max_reward.
    """

    def __init__(
        self, env: Any, min_reward: float | None = None, max_reward: float | None = None
    ) -> None:
        super().__init__(env)
        if min_reward is None and max_reward is None:
            raise UsageError("nothing to clip", expected="min_reward, max_reward or both", found="None and None")
        if min_reward is not None and max_reward is not None and min_reward > max_reward:
            raise UsageError("the bounds are crossed", expected="min_reward <= max_reward",
                             found=f"{min_reward} and {max_reward}")
        self.min_reward, self.max_reward = min_reward, max_reward

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        return observation, reward.clamp(self.min_reward, self.max_reward), terminated, truncated, info
