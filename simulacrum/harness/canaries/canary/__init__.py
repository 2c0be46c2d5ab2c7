"""Constants of canary's spec."""

from __future__ import annotations

TOP = 9
GOAL = 6
MAX_EPISODE_STEPS = 5
