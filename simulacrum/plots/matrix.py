"""The kill matrix of mutation: which check finds which kind of planted fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.plots.style import BLUE, INK, PAPER, VERMILLION, bare, ink_on, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NONE, ALL = "#eef4f8", "#003f66"  # a cell that has found next to nothing of a kind, and one that has found all


@dataclass(frozen=True)
class Kills:
    """What a run of mutants found.

    kinds: by number, what each kind of fault is called. planted: faults of each kind. found: by check and kind, on how
    many of them the check fails. alone: by check, how many no other check fails on; None where each fault was counted
    for the first check alone.
    """

    kinds: Mapping[str, str]
    planted: Mapping[str, int]
    found: Mapping[str, Mapping[str, int]]
    alone: Mapping[str, int] | None = None

    @property
    def checks(self) -> list[str]:
        """Those that found something, the best first."""
        return sorted(self.found, key=lambda check: (-self.sum(check), check))

    def sum(self, check: str) -> int:
        """Faults that the check fails on."""
        return sum(self.found[check].values())

    def share(self, check: str, kind: str) -> float:
        """Of the faults of a kind, the share that the check fails on."""
        return self.found[check].get(kind, 0) / self.planted[kind]


def kill_matrix(path: Path, kills: Kills, *, title: str) -> None:
    """Draw checks against kinds: in each cell how many faults the check fails on, its shade their share of the kind.

    At the right stands each check's sum and, where it is known, how many of those no other check fails on.

    Raises:
        UsageError: as `check_picture`.
    """
    with picture(path, 5.6 + 0.36 * len(kills.kinds), 2.6 + 0.3 * len(kills.found)) as figure:
        cells, bars = figure.subplots(1, 2, sharey=True, width_ratios=(max(len(kills.kinds), 4), 5))
        _cells(cells, kills)
        _bars(bars, kills)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10.5)


def _cells(axes: Axes, kills: Kills) -> None:
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    checks, kinds = kills.checks, list(kills.kinds)
    shade = LinearSegmentedColormap.from_list("kills", [NONE, BLUE, ALL])
    axes.imshow(
        [[kills.share(check, kind) for kind in kinds] for check in checks],
        cmap=shade,
        vmin=0.0,
        vmax=1.0,
        aspect="auto",
    )
    for y, check in enumerate(checks):
        for x, kind in enumerate(kinds):
            if count := kills.found[check].get(kind, 0):
                ink = ink_on(to_hex(shade(kills.share(check, kind))))
                axes.text(x, y, str(count), ha="center", va="center", fontsize=8, color=ink)
    names = [f"{name}  {kind}" for kind, name in kills.kinds.items()]
    axes.set_xticks(range(len(kinds)), names, rotation=55, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(checks)), checks, fontsize=8.5)
    upper = axes.secondary_xaxis("top")
    upper.set_xticks(range(len(kinds)), [str(kills.planted[kind]) for kind in kinds], fontsize=8)
    upper.set_xlabel("faults planted of each kind; a darker cell is a larger share of them", fontsize=8.5)
    axes.grid(visible=False)
    axes.set_xticks([x - 0.5 for x in range(1, len(kinds))], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, len(checks))], minor=True)
    axes.grid(which="minor", color=PAPER, linewidth=1.2)
    bare(axes, "left", "bottom")
    upper.tick_params(length=0)
    upper.spines["top"].set_visible(False)


def _bars(axes: Axes, kills: Kills) -> None:
    sums = [kills.sum(check) for check in kills.checks]
    alone = [kills.alone.get(check, 0) for check in kills.checks] if kills.alone is not None else [0] * len(sums)
    places, longest = range(len(sums)), max(sums)
    axes.barh(places, sums, color=BLUE, height=0.72, label="all")
    if any(alone):
        axes.barh(places, alone, color=VERMILLION, height=0.36, label="and nothing else does")
        # Below the axis and its name: the bars have no corner that is always free.
        axes.legend(loc="upper right", bbox_to_anchor=(1, 0), borderaxespad=5, fontsize=8)
    for y, (count, own) in enumerate(zip(sums, alone, strict=True)):
        text = f"{count}  ({own})" if own else str(count)
        axes.text(count + 0.02 * longest, y, text, va="center", fontsize=8, color=INK)
    axes.set_xlim(0, 1.25 * longest)
    axes.set_xlabel("faults found", fontsize=8.5)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", which="both", length=0)
