"""What happened, on paper: trajectories, packs of them, and the first divergence between the twins. No
torch."""

from __future__ import annotations

from simulacrum.trace.divergence import (
    Configuration,
    Counts,
    Difference,
    Divergence,
    DrawPair,
    RuleText,
    Shown,
    difference,
    dump_divergence,
    pair_draws,
    read_divergence,
    shown,
    ulp_between,
)
from simulacrum.trace.show import render_plain, render_rich

__all__ = [
    "Configuration",
    "Counts",
    "Difference",
    "Divergence",
    "DrawPair",
    "RuleText",
    "Shown",
    "difference",
    "dump_divergence",
    "pair_draws",
    "read_divergence",
    "render_plain",
    "render_rich",
    "shown",
    "ulp_between",
]
