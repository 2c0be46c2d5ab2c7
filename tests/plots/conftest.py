"""Pictures as figures: what was drawn on them is looked at before it is pixels."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
from matplotlib.axes._base import _AxesBase  # secondary axes are of this kind, and of no public one
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from simulacrum.plots.style import DPI, PAPER

Look = Callable[[Path], Figure]


def _is_number(label: Text) -> bool:
    return not any(letter.isalpha() for letter in re.sub(r"\\\w+", "", label.get_text()))


def faults(figure: Figure) -> list[str]:
    """What is wrong with a figure: axes without a name, text that is cut off, text on other text."""
    found = []
    for axes in figure.axes:
        # Categories are names themselves; an axis that is shared, or drawn beside its like, is named once.
        told = [axes.get_ylabel(), *(one.get_text() for one in axes.get_yticklabels() if not _is_number(one))]
        if not axes.get_xlabel() and not any(not _is_number(one) for one in axes.get_xticklabels()):
            found.append("an x axis has no name")
        if not any(told) and axes is figure.axes[0]:
            found.append("a y axis has no name")
    absent = beyond(figure)
    texts = [one for one in figure.findobj(Text) if isinstance(one, Text) and one.get_visible() and one.get_text()]
    boxes = {one: one.get_window_extent() for one in texts if one not in absent}
    paper = figure.bbox.padded(1.0)
    found += [
        f"cut off: {one.get_text()!r}"
        for one, box in boxes.items()
        if not (paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1)
    ]
    level = [one for one in boxes if not one.get_rotation()]
    for number, one in enumerate(level):
        for other in level[number + 1 :]:
            if boxes[one].padded(-1.5).overlaps(boxes[other].padded(-1.5)):
                found.append(f"on each other: {one.get_text()!r} and {other.get_text()!r}")
    return found


def beyond(figure: Figure) -> set[Text]:
    """The labels of ticks beyond the ends of an axis: they are not drawn."""
    found: set[Text] = set()
    for axes in figure.findobj(_AxesBase):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low <= tick.get_loc() <= high:
                    found |= {tick.label1, tick.label2}
    return found


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were written while the test ran, in order."""
    written: list[Figure] = []
    write = Figure.savefig

    def noted(self: Figure, path: Path, **more: Any) -> None:
        write(self, path, **more)
        written.append(self)

    monkeypatch.setattr(Figure, "savefig", noted)
    return written


@pytest.fixture
def look(figures: list[Figure]) -> Look:
    """Opens the PNG that was written last and gives its figure, which must be without `faults`."""

    def looked(path: Path) -> Figure:
        image, figure = Image.open(path), figures[-1]
        assert image.format == "PNG"
        assert image.size == tuple(round(side * DPI) for side in figure.get_size_inches())
        assert "#{:02x}{:02x}{:02x}".format(*image.convert("RGB").getpixel((0, 0))) == PAPER
        assert faults(figure) == []
        return figure

    return looked
