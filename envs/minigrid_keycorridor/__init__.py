"""Constants of minigrid_keycorridor's spec, shared by both twins."""

from __future__ import annotations

VIEW = 7
LENGTH = 5
LEFT_DOOR = 2
START = 3
RIGHT_DOOR = 4
MAX_STEPS = 270
TIME_PRICE = 0.9
COLOURS = 6
COLOUR_OF = (2, 1, 5, 3, 0, 4)
OPEN = 0
CLOSED = 1
LOCKED = 2
UNSEEN = (0, 0, 0)
EMPTY = (1, 0, 0)
WALL = (2, 5, 0)
DOOR = 4
KEY = 5
BALL = 6
MAX_EPISODE_STEPS = 270
