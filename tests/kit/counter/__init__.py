"""Constants of counter's spec."""

from __future__ import annotations

NEVER = 1000
MARKS = 65536
MAX_EPISODE_STEPS = 7
