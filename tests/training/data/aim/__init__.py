"""Constants of aim's spec."""

from __future__ import annotations

MAX_EPISODE_STEPS = 5
