"""Constants of blackjack's spec, shared by both twins."""

from __future__ import annotations

RANKS = 13
RANK_STEP = 1
TEN = 10
TARGET = 21
DEALER_STANDS = 17
MOST_DRAWS = 10
NATURAL_REWARD = 1.5
