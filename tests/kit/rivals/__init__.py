"""Constants of rivals' spec."""

from __future__ import annotations

LENGTH = 5
MAX_EPISODE_STEPS = 10
