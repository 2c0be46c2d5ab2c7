"""Constants of pendulum's spec, shared by both twins."""

from __future__ import annotations

PI = 3.141592653589793
TURN = 6.283185307179586
DT = 0.05
MAX_SPEED = 8.0
START_SPEED = 1.0
SPEED_COST = 0.1
TORQUE_COST = 0.001
TOP_STEP = 0.41
MAX_EPISODE_STEPS = 200
