"""The picture at the end of a run."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from common.measure import Measured

COLORS = ("#ea580c", "#6b7280", "#a16207", "#0d9488", "#9333ea")


def draw_curve(path: Path, args: Any, curve: list[list[float]], measured: dict[str, Measured], title: str) -> None:
    """Return against steps with a line for each scripted policy: the whole way, and what matters at its end.

    Args:
        path: the PNG to write.
        args: the run's arguments.
        curve: points (step, seconds, mean return, mean length, episodes).
        measured: returns and lengths by policy; the first is the trained one.
        title: the algorithm's name.
    """
    matplotlib.use("Agg")
    (name, (returns, _)), *others = measured.items()
    steps, learned = [point[0] / 1e6 for point in curve], [point[2] for point in curve]
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    whole, close = figure.subplots(1, 2, width_ratios=(3, 2))
    for axes in (whole, close):
        axes.plot(steps, learned, color="#2563eb", linewidth=1.8, label=f"{title} while it learns")
        end, mean = steps[-1:] or [0.0], returns.mean()
        axes.plot(end, [mean], "o", color="#1e3a8a", markersize=7, zorder=5, label=f"{name}: {mean:.2f}")
        for color, (other, (reached, _)) in zip(itertools.cycle(COLORS), others, strict=False):
            label = f"{other}: {reached.mean():.2f}"
            axes.axhline(reached.mean(), color=color, linestyle="--", linewidth=1.3, label=label)
        axes.set_xlabel("environment steps (millions)")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    best = max(numbers.mean() for numbers, _ in measured.values())
    spread = max(best, *learned, 0.0) - min(best, *learned, 0.0)
    if spread > 0:
        close.set_ylim(best - 0.06 * spread, best + 0.03 * spread)
    close.set_title("near the best", loc="left", fontsize="medium")
    whole.set_title(f"{title} on {args.env_id}, seed {args.seed}", loc="left", fontweight="bold")
    whole.set_ylabel("mean episode return")
    whole.legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=100)
