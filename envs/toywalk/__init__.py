"""Constants of toywalk's spec, shared by both twins."""

from __future__ import annotations

LEFT_END = -5
GOAL = 5
START_LOW = -2
START_HIGH = 2
GOAL_REWARD = 10.0
STEP_REWARD = -1.0
MAX_EPISODE_STEPS = 60
