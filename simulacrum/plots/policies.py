"""Policy transfer: trainings as dots, intervals of differences beside the margin, and how often such studies agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.plots.style import BLUE, GREEN, INK, MUTED, VERMILLION, bare, look, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = Sequence[float]
NAMES = {
    "trained": "training in the batched twin\nminus training in the reference",
    "judged": "judged in the batched twin\nminus judged in the reference",
}


@dataclass(frozen=True)
class Interval:
    """A difference of mean returns with the interval around it. name: a key of NAMES. text: is told above it."""

    name: str
    low: float
    difference: float
    high: float
    text: str


@dataclass(frozen=True)
class Returns:
    """Mean returns of policies, one a training: in which twin they were trained, and in which they are judged."""

    trained: str
    judged: str
    means: Numbers


def transfer(
    path: Path, returns: Sequence[Returns], intervals: Sequence[Interval], *, margin: float, level: float, title: str
) -> None:
    """Draw a study: its returns at the left, its intervals at the right.

    Args:
        path: the picture, PNG, SVG or PDF.
        returns: a column of dots each.
        intervals: the first at the top.
        margin: the smallest difference that matters.
        level: of the intervals, from 0 to 1.
        title: of the picture.

    Raises:
        UsageError: as `check_picture`.
    """
    with picture(path, 9.6, 3.8) as figure:
        dots, right = figure.subplots(1, 2, width_ratios=(2, 3))
        _dots(dots, returns)
        _intervals(right, intervals, margin)
        right.set_xlabel(f"difference of mean returns, {level:.0%} interval\nshaded: the margin, ±{margin:g}")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=11)


def _dots(axes: Axes, returns: Sequence[Returns]) -> None:
    for place, one in enumerate(returns):
        color = BLUE if one.trained == "batched" else VERMILLION
        marker, count = "o" if one.judged == "batched" else "s", len(one.means)
        spread = [place + 0.24 * (number / max(1, count - 1) - 0.5) for number in range(count)]
        axes.plot(spread, one.means, marker, color=color, markersize=5, alpha=0.75)
        axes.plot([place - 0.3, place + 0.3], [sum(one.means) / count] * 2, color=color, linewidth=2)
    axes.set_xticks(range(len(returns)), [f"{one.trained}\n{one.judged}" for one in returns])
    axes.set(xlabel="trained in / judged in", ylabel="mean return of a policy")
    axes.grid(visible=False, axis="x")


def _intervals(axes: Axes, intervals: Sequence[Interval], margin: float) -> None:
    axes.axvspan(-margin, margin, color=GREEN, alpha=0.15, linewidth=0)
    for edge in (-margin, margin):
        axes.axvline(edge, color=GREEN, linestyle="--", linewidth=1.5)
    axes.axvline(0, color=MUTED, linewidth=0.9)
    for place, one in enumerate(reversed(intervals)):
        axes.plot([one.low, one.high], [place, place], color=INK, linewidth=2, solid_capstyle="butt")
        axes.plot([one.low, one.high], [place] * 2, "|", color=INK, markersize=10)
        axes.plot([one.difference], [place], "D", color=INK, markersize=5)
        axes.annotate(one.text, (one.difference, place), (0, 9), textcoords="offset points", ha="center", fontsize=9)
    axes.set_yticks(range(len(intervals)), [NAMES.get(one.name, one.name) for one in reversed(intervals)])
    axes.set_ylim(-0.6, len(intervals) - 0.3)
    axes.grid(visible=False)
    bare(axes, "left")


@dataclass(frozen=True)
class Rates:
    """Of studies of one size: how often they say "equivalent" at each true difference [P].

    measured: with returns of trained policies. expected: with normal returns of the same spread.
    """

    label: str
    differences: Numbers
    measured: Numbers
    expected: Numbers


def rates(path: Path, every: Sequence[Rates], *, level: float, title: str) -> None:
    """Draw how often studies say "equivalent" against the true difference, as a share of the margin.

    Markers are measured, lines expected; the level and the margin are marked. Raises UsageError as `check_picture`.
    """
    with picture(path, 8.4, 4.4) as figure:
        axes = figure.subplots()
        for number, one in enumerate(every):
            color, _, marker = look(number)
            axes.plot(one.differences, one.expected, color=color, linewidth=1.3, alpha=0.8)
            axes.plot(one.differences, one.measured, marker, color=color, markersize=6, label=one.label)
        axes.axhline(level, color=MUTED, linestyle="--", linewidth=1.3)
        axes.annotate(f"level {level:g}", (0.0, level), (2, 4), textcoords="offset points", fontsize=9, color=MUTED)
        axes.axvline(1, color=MUTED, linestyle=":", linewidth=1.3)
        axes.annotate("the margin", (1, 0.93), (4, 0), textcoords="offset points", fontsize=9, color=MUTED)
        axes.set(xlabel="true difference, as a share of the margin", ylabel='share of studies that say "equivalent"')
        axes.set_ylim(-0.02, 1.02)
        axes.set_title(title, fontweight="normal")
        axes.legend()
