"""Constants of cartpole's spec, shared by both twins."""

from __future__ import annotations

GRAVITY = 9.8
POLE_MASS = 0.1
TOTAL_MASS = 1.1
HALF_LENGTH = 0.5
POLE_MOMENT = 0.05
FORCE = 10.0
TAU = 0.02
X_LIMIT = 2.4
ANGLE_LIMIT = 0.20943951023931953
START = 0.05
REWARD = 1.0
TOP_TURN = 5.0
TOP_PUSH = 0.21
MAX_EPISODE_STEPS = 500
