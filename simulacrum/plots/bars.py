"""Parts of a whole, as one bar for each case."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulacrum.plots.style import MUTED, SERIES, bare, ink_on, picture

LEGIBLE = 0.03  # a smaller part has no room for its number


def shares(path: Path, rows: Mapping[str, Mapping[str, float]], *, x_label: str, y_label: str) -> None:
    """Draw a bar for each row, from 0 to 1, of its parts in their order; all rows have the same parts.

    Up to seven parts have colours of their own, and "the rest" is grey. Raises UsageError as `check_picture`.
    """
    parts = [part for part in next(iter(rows.values())) if part != "the rest"]
    colors = dict(zip(parts, SERIES, strict=False)) | {"the rest": MUTED}
    with picture(path, 7.4, 1.4 + 0.6 * len(rows)) as figure:
        axes = figure.subplots()
        for place, of in enumerate(rows.values()):
            left = 0.0
            for part, share in of.items():
                axes.barh(place, share, left=left, color=colors[part], label=None if place else part, height=0.7)
                if share >= LEGIBLE:
                    ink = ink_on(colors[part])
                    axes.text(left + share / 2, place, f"{share:.0%}", ha="center", va="center", color=ink, fontsize=9)
                left += share
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set(xlabel=x_label, ylabel=y_label, xlim=(0, 1))
        axes.invert_yaxis()
        axes.grid(visible=False)
        bare(axes, "left", "bottom")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
