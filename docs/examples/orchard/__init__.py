"""Constants of orchard's spec, shared by both twins."""

from __future__ import annotations

TREES = 4
FULL = 2
BAG = 3
EMPTY = -1
GATE = 0
PRICE = 0.15
WAGE = 0.05
BIRD = 0.25
MAX_EPISODE_STEPS = 30
