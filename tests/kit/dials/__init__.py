"""Constants of dials' spec."""

from __future__ import annotations

FIRST = 4
SECOND = 6
MAX_EPISODE_STEPS = 9
