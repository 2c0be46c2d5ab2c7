"""Constants of taxi's spec, shared by both twins."""

from __future__ import annotations

SIZE = 5
STARTS = 300
OPEN_EAST = 10829229
ABOARD = 4
STEP_REWARD = -1.0
DELIVERY_REWARD = 20.0
ILLEGAL_REWARD = -10.0
MAX_EPISODE_STEPS = 200
