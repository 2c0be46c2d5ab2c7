"""Constants of minigrid_doorkey's spec, shared by both twins."""

from __future__ import annotations

VIEW = 7
STEPS_PER_CELL = 10
TIME_PRICE = 0.9
OPEN = 0
CLOSED = 1
LOCKED = 2
UNSEEN = (0, 0, 0)
EMPTY = (1, 0, 0)
WALL = (2, 5, 0)
DOOR = (4, 4, 0)
KEY = (5, 4, 0)
GOAL = (8, 1, 0)
MAX_EPISODE_STEPS = 2560
