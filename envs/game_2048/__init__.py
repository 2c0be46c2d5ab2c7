"""Constants of game_2048's spec, shared by both twins."""

from __future__ import annotations

SIZE = 4
OUTSIDE = -1
STARTS = 2
SHARES = 720720
UP = 0
RIGHT = 1
DOWN = 2
LEFT = 3
MAX_POWER = 15
MAX_EPISODE_STEPS = 16000
