"""A draw as a function of coordinates: (row seed, episode, step, slot, index), the same bits in both twins.

`layout` numbers the words, `scalar` draws for the reference twin, `batched` (torch) for the batched one.
"""

from __future__ import annotations

from simulacrum.rng.layout import Layout, Slot
from simulacrum.rng.scalar import ScalarDraw, episode_key

__all__ = ["Layout", "ScalarDraw", "Slot", "episode_key"]
