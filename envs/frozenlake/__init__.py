"""Constants of frozenlake's spec, shared by both twins."""

from __future__ import annotations

MOST_ROWS = 8
MOST_COLUMNS = 8
MAX_EPISODE_STEPS = 100
