"""Constants of mountaincarcontinuous' spec, shared by both twins."""

from __future__ import annotations

POWER = 0.0015
GRAVITY = 0.0025
MIN_POSITION = -1.2
MAX_POSITION = 0.6
MAX_SPEED = 0.07
GOAL_POSITION = 0.45
START_LOW = -0.6
START_HIGH = -0.4
GOAL_REWARD = 100.0
ACTION_COST = 0.1
TOP_GAIN = 0.0041
MAX_EPISODE_STEPS = 999
