"""Constants of minigrid_fourrooms's spec, shared by both twins."""

from __future__ import annotations

VIEW = 7
SIZE = 19
MAX_STEPS = 100
TIME_PRICE = 0.9
UNSEEN = (0, 0, 0)
EMPTY = (1, 0, 0)
WALL = (2, 5, 0)
GOAL = (8, 1, 0)
MAX_EPISODE_STEPS = 100
