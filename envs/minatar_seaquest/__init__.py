"""Constants of minatar_seaquest's spec, shared by both twins."""

from __future__ import annotations

SIZE = 10
LANES = 8
START_X = 5
LEFT = 1
UP = 2
RIGHT = 3
DOWN = 4
FIRE = 5
TIMERS = 6
SUB_CHANCE = 0.3333333333333333
SPAWN_WAIT = 20
MOVE_WAIT = 5
FASTEST = 6
SHOT_WAIT = 10
FIRE_WAIT = 5
DIVER_SPAWN = 30
DIVER_MOVE = 6
MOST_DIVERS = 6
MAX_OXYGEN = 200
LAST_RAMP = 19
MAX_EPISODE_STEPS = 1000
