"""What a network must know of an environment's spaces, and a plain word where a script cannot use them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor


def observation_size(space: gym.Space[Any], script: str) -> int:
    """How many numbers an observation has.

    Raises:
        SystemExit: observations are not one vector.
    """
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        raise SystemExit(f"{script} reads observations that are one vector, not {space}")
    return space.shape[0]


def action_count(space: gym.Space[Any], script: str) -> int:
    """How many actions there are; they are counted from 0.

    Raises:
        SystemExit: actions are not Discrete.
    """
    if not isinstance(space, gym.spaces.Discrete) or space.start != 0:
        raise SystemExit(f"{script} acts in Discrete spaces that begin at 0, not {space}")
    return int(space.n)


def action_bounds(space: gym.Space[Any], script: str) -> tuple[Tensor, Tensor]:
    """Centre and reach of actions, float32 [A]: a number from -1 to 1 is `centre + reach * number` for the environment.

    Raises:
        SystemExit: actions are not one bounded vector.
    """
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1 or not space.is_bounded():
        raise SystemExit(f"{script} acts in bounded Boxes that are one vector, not {space}")
    low, high = np.asarray(space.low, np.float32), np.asarray(space.high, np.float32)
    return torch.from_numpy((high + low) / 2), torch.from_numpy((high - low) / 2)
