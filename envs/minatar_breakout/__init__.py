"""Constants of minatar_breakout's spec, shared by both twins."""

from __future__ import annotations

SIZE = 10
LEFT = 1
RIGHT = 3
TOP_BRICKS = 1
BRICK_ROWS = 3
FULL_ROW = 1023
PADDLE_ROW = 9
START_POS = 4
START_ROW = 3
MAX_EPISODE_STEPS = 1000
