"""Constants of shown's spec."""

from __future__ import annotations

CUES = 4
BRIGHT = 255
STEPS = 4
MAX_EPISODE_STEPS = 20
