"""The last few observations as one."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Space
from gymnasium.vector.utils import batch_space

from simulacrum.errors import UsageError
from simulacrum.wrappers.base import TorchVectorWrapper, row_mask


class FrameStackObservation(TorchVectorWrapper):
    """Observations `[N, stack_size, ...]`, oldest first; at an episode's start the first one fills the stack.

    In SAME_STEP `info["final_obs"]` is the stack that ends with the final observation.

    Args:
        env: a torch VectorEnv with a Box observation space, or a Dict of Boxes.
        stack_size: how many observations, at least 1.
    """

    _saved = ("stack",)

    def __init__(self, env: Any, stack_size: int) -> None:
        super().__init__(env)
        if isinstance(stack_size, bool) or not isinstance(stack_size, int) or stack_size < 1:
            raise UsageError("stack_size must be a positive integer", expected="1 or more", found=repr(stack_size))
        self.stack_size = stack_size
        self.single_observation_space = _stacked(env.single_observation_space, stack_size)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.stack: Any = None

    def restart(self, rows: torch.Tensor, observation: Any) -> Any:
        """The stack `[N, K, ...]` after a reset of some rows: theirs is the first observation K times."""
        filled = _map(lambda first: torch.stack([first] * self.stack_size, dim=1), observation)
        self.stack = filled if self.stack is None else _where(rows, filled, self.stack)
        return copy.deepcopy(self.stack)

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step gives, with stacks in place of observations; `final_obs` ends the stack of the episode."""
        again = resetting
        if "final_obs" in info:
            again = terminated | truncated
            info = {**info, "final_obs": _map(_pushed, self.stack, info["final_obs"])}
        pushed = _map(_pushed, self.stack, observation)
        filled = _map(lambda first: torch.stack([first] * self.stack_size, dim=1), observation)
        self.stack = _where(again, filled, pushed)
        return copy.deepcopy(self.stack), reward, terminated, truncated, info


def _pushed(stack: torch.Tensor, newest: torch.Tensor) -> torch.Tensor:
    return torch.cat((stack[:, 1:], newest.unsqueeze(1)), dim=1)


def _where(rows: torch.Tensor, yes: Any, no: Any) -> Any:
    return _map(lambda a, b: torch.where(row_mask(rows, a), a, b), yes, no)


def _map(function: Any, *trees: Any) -> Any:
    if isinstance(trees[0], dict):
        return {key: _map(function, *(tree[key] for tree in trees)) for key in trees[0]}
    return function(*trees)


def _stacked(space: Space[Any], size: int) -> Space[Any]:
    if isinstance(space, Dict):
        return Dict({key: _stacked(inner, size) for key, inner in space.spaces.items()})
    if not isinstance(space, Box):
        raise UsageError("only Box observations can be stacked", expected="Box, or a Dict of them", found=repr(space))
    low = np.repeat(space.low[np.newaxis], size, axis=0)
    high = np.repeat(space.high[np.newaxis], size, axis=0)
    return Box(low, high, dtype=space.dtype.type)  # type: ignore[union-attr]  # a Box always has a dtype
