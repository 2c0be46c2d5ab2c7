"""Constants of minatar_freeway's spec, shared by both twins."""

from __future__ import annotations

SIZE = 10
CARS = 8
COLUMN = 4
START_POS = 9
UP = 2
DOWN = 4
MOVE_WAIT = 3
TOP_SPEED = 5
DIGITS = 4
