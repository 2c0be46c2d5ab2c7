"""Constants of minigrid_dynamicobstacles's spec, shared by both twins."""

from __future__ import annotations

VIEW = 7
MOST = 4
STEPS_PER_CELL = 4
TIME_PRICE = 0.9
COLLISION = -1.0
EMPTY = (1, 0, 0)
WALL = (2, 5, 0)
BALL = (6, 2, 0)
GOAL = (8, 1, 0)
MAX_EPISODE_STEPS = 256
