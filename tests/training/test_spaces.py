"""training/common/spaces.py: sizes and bounds, and a plain word for spaces that a script cannot use."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import gymnasium as gym
import numpy as np
import pytest

Script = Callable[[str], ModuleType]


@pytest.fixture
def common(script: Script) -> ModuleType:
    return script("common")


def test_sizes_and_bounds(common: ModuleType) -> None:
    assert common.observation_size(gym.spaces.Box(-np.inf, np.inf, (5,)), "x.py") == 5
    assert common.action_count(gym.spaces.Discrete(3), "x.py") == 3
    low, high = np.array([-2, 0], np.float32), np.array([2, 1], np.float32)
    centre, reach = common.action_bounds(gym.spaces.Box(low, high), "x.py")
    assert (centre.tolist(), reach.tolist()) == ([0.0, 0.5], [2.0, 0.5])


def test_unusable_spaces_are_named(common: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"x\.py reads observations that are one vector"):
        common.observation_size(gym.spaces.Box(0, 1, (4, 4)), "x.py")
    with pytest.raises(SystemExit, match="MultiDiscrete"):
        common.action_count(gym.spaces.MultiDiscrete([2, 2]), "x.py")
    with pytest.raises(SystemExit, match="begin at 0"):
        common.action_count(gym.spaces.Discrete(2, start=1), "x.py")
    with pytest.raises(SystemExit, match="bounded"):
        common.action_bounds(gym.spaces.Box(-np.inf, np.inf, (1,)), "x.py")
    with pytest.raises(SystemExit, match="Discrete"):
        common.action_bounds(gym.spaces.Discrete(2), "x.py")
