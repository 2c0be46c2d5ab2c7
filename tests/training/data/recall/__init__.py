"""Constants of recall's spec."""

from __future__ import annotations

CUES = 4
STEPS = 8
MAX_EPISODE_STEPS = 20
