"""Constants of mountaincar's spec, shared by both twins."""

from __future__ import annotations

FORCE = 0.001
GRAVITY = 0.0025
MIN_POSITION = -1.2
MAX_POSITION = 0.6
MAX_SPEED = 0.07
GOAL_POSITION = 0.5
START_LOW = -0.6
START_HIGH = -0.4
REWARD = -1.0
TOP_GAIN = 0.0036
MAX_EPISODE_STEPS = 200
