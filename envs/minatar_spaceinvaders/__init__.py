"""Constants of minatar_spaceinvaders' spec, shared by both twins."""

from __future__ import annotations

SIZE = 10
LAST_ROW = 9
START_POS = 5
LEFT = 1
RIGHT = 3
FIRE = 5
WAVE_ROWS = 4
WAVE_ROW = 252
FIRE_WAIT = 5
SHOT_WAIT = 10
MOVE_WAIT = 12
LAST_RAMP = 6
MAX_EPISODE_STEPS = 1000
