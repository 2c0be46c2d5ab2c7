"""Drawings of one counter state, as text and as an image whose every pixel is the count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def text(state: Any) -> str:
    """The count and the mark."""
    return f"count {state.count}, mark {state.mark}"


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[16, 16, 3]` of one grey."""
    return np.full((16, 16, 3), state.count % 256, dtype=np.uint8)
