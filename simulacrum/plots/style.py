"""How every picture of the project looks: paper, ink, colours that any eye tells apart, and where a picture is written.

Pictures lie on white paper of their own. On a transparent ground one ink would have to be read on white and on black
pages alike, and no ink reaches a contrast of 4.5 to both, which is what text needs (WCAG 2.2, 1.4.3): between white and
GitHub's dark page the best is 4.4. On paper it reaches 15.

The colours of lines and bars are another matter. They have a contrast of 3 or more (WCAG 2.2, 1.4.11) to the paper and
to dark pages as well, so that one palette serves everywhere. The first four are Okabe and Ito's; the others were chosen
for their distance to those as people with protanopia and deuteranopia see them. `tests/plots` measures both.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simulacrum.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
PAPER, INK, MUTED, RULE = "#ffffff", "#1f2328", "#59636e", "#d5dbe1"
BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"  # Okabe and Ito
PERIWINKLE, SLATE, CRIMSON = "#6688ff", "#557777", "#cc3344"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE, PERIWINKLE, SLATE, CRIMSON)
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DPI = 120

RC: dict[str, Any] = {
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "simulacrum",  # and equal figures make equal files
}


class Look(NamedTuple):
    """What tells one line from another three times over: by its colour, its dashes and its marker."""

    color: str
    linestyle: str
    marker: str


def look(number: int) -> Look:
    """Of the line of this number, from 0: the first 28 differ."""
    return Look(SERIES[number % len(SERIES)], DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)])


def check_picture(path: Path | None) -> None:
    """Refuse, before anything has run, a picture that could not be drawn; None is no picture, and nothing is refused.

    Raises:
        UsageError: the file's ending is none of SUFFIXES, its folder does not exist, or matplotlib is missing.
    """
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError("a picture of this kind cannot be drawn", expected=" or ".join(SUFFIXES), found=path.name)
    if not path.absolute().parent.is_dir():
        raise UsageError("the picture's folder does not exist", where=path.absolute().parent, next_step="make it")
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("drawing needs matplotlib", next_step="pip install 'simulacrum[plots]'")


@contextlib.contextmanager
def picture(path: Path, width: float, height: float) -> Generator[Figure, None, None]:
    """A figure of so many inches to draw on; it is written to `path` once that is done, over what was there.

    Neither the time nor matplotlib's version is written into the file, and the user's own settings of matplotlib play
    no part.

    Raises:
        UsageError: as `check_picture`, before anything is drawn.
    """
    check_picture(path)
    import matplotlib.style
    from matplotlib.figure import Figure

    with matplotlib.style.context(RC, after_reset=True):
        figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
        yield figure
        figure.savefig(path, metadata={_STAMPS[path.suffix.lower()]: None})


_STAMPS = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}  # what matplotlib would write into the file


def luminance(color: str) -> float:
    """Relative luminance of `#rrggbb`, from 0 to 1 (WCAG 2.2)."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def ink_on(color: str) -> str:
    """What is better read on this colour: INK or PAPER."""
    return max((INK, PAPER), key=lambda ink: contrast(ink, color))


def bare(axes: Axes, *sides: str) -> None:
    """Take away the spines on these sides, and the ticks of both axes; the labels stay."""
    axes.spines[list(sides)].set_visible(False)
    axes.tick_params(which="both", length=0)
