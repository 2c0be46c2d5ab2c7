"""Constants of glider's spec."""

from __future__ import annotations

HALF = 0.5
BURN = 0.0625
EDGE = 10.0
WIND = 0.125
MAX_EPISODE_STEPS = 12
