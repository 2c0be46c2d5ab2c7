"""Constants of cliffwalking's spec, shared by both twins."""

from __future__ import annotations

ROWS = 4
COLUMNS = 12
FIRST_THIRD = 0.3333333333333333
SECOND_THIRD = 0.6666666666666666
STEP_REWARD = -1.0
FALL_REWARD = -100.0
MAX_EPISODE_STEPS = 200
