"""Constants of forager's spec, shared by both twins."""

from __future__ import annotations

SIZE = 8
BERRIES = 6
GAIN_SMALL = 0.1
GAIN_MEDIUM = 0.15
GAIN_LARGE = 0.3
START_ENERGY = 1.0
STEP_ENERGY = 0.02
GAIN_REWARD = 10.0
STEP_COST = 0.1
LEDGER_SLACK = 0.001
MAX_EPISODE_STEPS = 80
