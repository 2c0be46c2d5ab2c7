"""Measured points with their errors, against something that was varied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulacrum.plots.style import MUTED, look, picture

Numbers = Sequence[float]


@dataclass(frozen=True)
class Measurement:
    """One series: a mean and its standard error at each of `at` [P]."""

    label: str
    at: Numbers
    means: Numbers
    errors: Numbers


def points(
    path: Path, every: Sequence[Measurement], *, title: str, x_label: str, y_label: str,
    span: tuple[float, float, str] | None = None,
) -> None:  # fmt: skip
    """Draw a line through the points of each series; `span` shades a stretch (from, to, name) of what was varied.

    Raises:
        UsageError: as `check_picture`.
    """
    with picture(path, 7.4, 4.2) as figure:
        axes = figure.subplots()
        if span is not None:
            axes.axvspan(span[0], span[1], color=MUTED, alpha=0.12, linewidth=0, label=span[2])
        for number, one in enumerate(every):
            color, dashes, marker = look(number)
            axes.errorbar(
                one.at, one.means, one.errors, color=color, linestyle=dashes, marker=marker, markersize=5, capsize=3,
                label=one.label,
            )  # fmt: skip
        axes.set(xlabel=x_label, ylabel=y_label, title=title)
        axes.legend()
