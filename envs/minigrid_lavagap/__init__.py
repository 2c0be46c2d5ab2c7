"""Constants of minigrid_lavagap's spec, shared by both twins."""

from __future__ import annotations

VIEW = 7
STEPS_PER_CELL = 4
TIME_PRICE = 0.9
UNSEEN = (0, 0, 0)
EMPTY = (1, 0, 0)
WALL = (2, 5, 0)
GOAL = (8, 1, 0)
LAVA = (9, 0, 0)
MAX_EPISODE_STEPS = 196
