"""Constants of canvas' spec."""

from __future__ import annotations

SIDE = 4
CELLS = 16
MAX_EPISODE_STEPS = 11
