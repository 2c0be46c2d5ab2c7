"""Every picture of figures that the project draws, in one style. matplotlib is imported when one is drawn.

Each function takes a path and plain data, and writes PNG, SVG or PDF by the path's ending:

- `learning_curves`, `run_curve`, `sweep`: returns against steps, with the spread over seeds.
- `throughput`: speed against the number of rows. `shares`: where the time went.
- `kill_matrix`: which check finds which planted fault. `coverage_by_rule`: how much of each rule was exercised.
- `transfer`, `rates`: differences of mean returns beside their margin. `points`: means with errors.

`check_picture` refuses a path before anything was run for it. `style` has the colours and says why they are these.
"""

from __future__ import annotations

from simulacrum.plots.bars import shares
from simulacrum.plots.curves import Curve, Setting, learning_curves, run_curve, sweep
from simulacrum.plots.matrix import Kills, kill_matrix
from simulacrum.plots.measurements import Measurement, points
from simulacrum.plots.policies import Interval, Rates, Returns, rates, transfer
from simulacrum.plots.rules import Rule, coverage_by_rule
from simulacrum.plots.speed import Panel, Speed, throughput
from simulacrum.plots.style import SUFFIXES, check_picture

__all__ = [
    "SUFFIXES",
    "Curve",
    "Interval",
    "Kills",
    "Measurement",
    "Panel",
    "Rates",
    "Returns",
    "Rule",
    "Setting",
    "Speed",
    "check_picture",
    "coverage_by_rule",
    "kill_matrix",
    "learning_curves",
    "points",
    "rates",
    "run_curve",
    "shares",
    "sweep",
    "throughput",
    "transfer",
]
