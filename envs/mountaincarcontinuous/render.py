"""Drawings of one mountaincarcontinuous state, as text and as an image. No rules in here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulacrum_envs._mountaincar import hill

from . import GOAL_POSITION


def text(state: Any) -> str:
    """The track, `P` for the flag, `o` for the car on it; and a caption below."""
    return hill.text(state, GOAL_POSITION)


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[380, 540, 3]`."""
    return hill.rgb(state, GOAL_POSITION)
