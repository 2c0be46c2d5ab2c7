"""Shapes that the drawings of several packages are painted with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Canvas = NDArray[np.float32]  # [H, W, 3], 0 to 255
Colour = tuple[int, int, int]
Place = tuple[float, float]  # row and column, in pixels from the upper left corner


def bar(canvas: Canvas, start: Place, end: Place, radius: float, colour: Colour, strength: float = 1.0) -> None:
    """Paint a bar with round ends into the canvas, smooth at its edge; a disc where it ends where it starts.

    Args:
        radius: half of its width, in pixels.
        strength: how much of what is below it covers, 0 to 1.
    """
    top, bottom = min(start[0], end[0]) - radius - 1, max(start[0], end[0]) + radius + 2
    left, right = min(start[1], end[1]) - radius - 1, max(start[1], end[1]) + radius + 2
    window = slice(max(int(top), 0), max(int(bottom), 0)), slice(max(int(left), 0), max(int(right), 0))
    rows = np.arange(canvas.shape[0])[window[0], None] + 0.5 - start[0]
    columns = np.arange(canvas.shape[1])[None, window[1]] + 0.5 - start[1]
    down, across = end[0] - start[0], end[1] - start[1]
    along = np.clip((rows * down + columns * across) / max(down * down + across * across, 1e-9), 0.0, 1.0)
    distance = np.hypot(rows - along * down, columns - along * across)
    cover = strength * np.clip(radius + 0.5 - distance, 0.0, 1.0)[:, :, None]
    canvas[window] += (cover * (np.array(colour) - canvas[window])).astype(np.float32)
