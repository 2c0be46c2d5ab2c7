"""Constants of minatar_asterix's spec, shared by both twins."""

from __future__ import annotations

SIZE = 10
SLOTS = 8
START = 5
LEFT = 1
UP = 2
RIGHT = 3
DOWN = 4
ENEMY = 1
GOLD = 2
GOLD_CHANCE = 0.3333333333333333
SPAWN_SPEED = 10
MOVE_SPEED = 5
RAMP_STEPS = 102
LAST_RAMP = 9
MAX_EPISODE_STEPS = 1000
