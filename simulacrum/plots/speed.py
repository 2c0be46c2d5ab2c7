"""Speed against size: one panel for each environment, a line for each form or library, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.plots.style import MUTED, look, picture

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Numbers = Sequence[float]
FEW, SHORT = 6, 100_000  # sizes that have room for their numbers: so many, below that


@dataclass(frozen=True)
class Speed:
    """One line: at each of `sizes` [P] a value, and from where to where it was seen to lie.

    number: of its look; the place in the picture by default. One that names a contender keeps it in every picture.
    """

    label: str
    sizes: Numbers
    values: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    number: int | None = None


@dataclass(frozen=True)
class Panel:
    """Lines that share their axes. marks: sizes to be marked, with a name."""

    title: str
    lines: Sequence[Speed]
    x_label: str = "rows N"
    y_label: str = "steps per second"
    marks: Sequence[tuple[float, str]] = ()


def throughput(path: Path, panels: Sequence[Panel]) -> None:
    """Draw the panels side by side above one legend.

    Raises:
        UsageError: as `check_picture`.
    """
    numbers = _numbers(panels)
    with picture(path, max(6.4, 4.2 * len(panels)), 4.0 + 0.22 * -(-len(numbers) // 4)) as figure:
        every = figure.subplots(1, len(panels), squeeze=False)[0]
        labelled: dict[str, Artist] = {}
        for axes, panel in zip(every, panels, strict=True):
            for line in panel.lines:
                labelled.setdefault(line.label, _line(axes, line, numbers[line.label]))
            axes.set(xscale="log", yscale="log", xlabel=panel.x_label, ylabel=panel.y_label, title=panel.title)
            _sizes(axes, [size for line in panel.lines for size in line.sizes])
            top = axes.get_ylim()[1]
            for size, name in panel.marks:
                axes.axvline(size, color=MUTED, linewidth=0.9)
                axes.text(size, top, f" {name}", fontsize=8, va="top", color=MUTED)
        figure.legend(
            labelled.values(), labelled, loc="outside lower center", ncols=min(4, len(labelled)), handlelength=3
        )


def _numbers(panels: Sequence[Panel]) -> dict[str, int]:
    """The look of each label; those without a number take free ones in turn."""
    given = {line.label: line.number for panel in panels for line in panel.lines}
    taken = {number for number in given.values() if number is not None}
    free = (number for number in range(len(given) + len(taken)) if number not in taken)
    return {label: next(free) if number is None else number for label, number in given.items()}


def _line(axes: Axes, line: Speed, number: int) -> Artist:
    color, dashes, marker = look(number)
    (drawn,) = axes.plot(
        line.sizes, line.values, color=color, linestyle=dashes, marker=marker, markersize=4, linewidth=1.5
    )
    if line.low is not None and line.high is not None:
        axes.fill_between(line.sizes, line.low, line.high, color=color, alpha=0.18, linewidth=0)
    return drawn


def _sizes(axes: Axes, sizes: Numbers) -> None:
    """Ticks at the sizes themselves where they are few, else at powers of two."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    here = sorted(set(sizes))
    if len(here) > FEW or here[-1] >= SHORT:
        axes.set_xscale("log", base=2)
        return
    axes.xaxis.set_major_locator(FixedLocator(here))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
