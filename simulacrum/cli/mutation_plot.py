"""A run of mutants as a picture: which check finds which kind of fault. matplotlib is imported when one is drawn."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulacrum.errors import UsageError
from simulacrum.mutate.matrix import Pair, by_check, check_by_kind, tally
from simulacrum.mutate.verdict import KILLED
from simulacrum.trace.kinds import BY_NUMBER

SUFFIXES = (".png", ".svg", ".pdf")
# A light-to-dark map of one hue and two of the colours of Okabe and Ito: apart for any eye, and in grey.
MAP, BAR, ALONE, INK, PALE = "Blues", "#9ecae1", "#d55e00", "#222222", "#8a8a8a"
DARK = 0.55  # from this share on, a cell's number is white


def check_plot(path: Path | None) -> None:
    """Refuse, before anything has run, a picture that could not be drawn.

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
        raise UsageError("drawing needs matplotlib", next_step="pip install matplotlib")


def draw(path: Path, pairs: Sequence[Pair], *, matrix: bool, title: str) -> None:
    """Draw checks against kinds: in each cell how many mutants of the kind the check fails on, its shade their share.

    At the right each check's sum and, with a matrix, how many of those no other check fails on.

    Args:
        path: the picture, PNG, SVG or PDF.
        pairs: mutants with their verdicts.
        matrix: all checks were run on each mutant; otherwise the first to fail is counted, and no other.
        title: begins the line above the picture.

    Raises:
        UsageError: no mutant was killed.
    """
    from matplotlib.figure import Figure

    cells = check_by_kind(pairs, matrix=matrix)
    if not cells:
        raise UsageError("nothing was found, so there is nothing to draw", found=f"{len(pairs)} mutants, none killed")
    every = {one.path: one for one in by_check([verdict for _, verdict in pairs], matrix=matrix)}
    sums = {check: sum(of.values()) for check, of in cells.items()}
    checks = sorted(cells, key=lambda check: (-sums[check], check))
    whole = {kind: tally([v for m, v in pairs if m.kind == kind]) for kind in sorted({m.kind for m, _ in pairs})}
    kinds = [kind for kind, one in whole.items() if one.counted]
    killed = sum(verdict.status == KILLED for _, verdict in pairs)
    figure = Figure(figsize=(3.4 + 0.36 * len(kinds) + 2.2, 2.6 + 0.3 * len(checks)), dpi=130, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(max(len(kinds), 4), 5))
    _cells(left, checks, kinds, cells, {kind: one.counted for kind, one in whole.items()})
    _bars(right, checks, sums, {check: every[check].unique or 0 for check in checks} if matrix else None)
    said = "every check that fails on it" if matrix else "the first check that fails on it"
    counted = sum(one.counted for one in whole.values())
    figure.suptitle(f"{title}: {killed} of {counted} planted faults found; counted is {said}", fontsize=10, color=INK)
    figure.savefig(path)


def _cells(axes: Any, checks: list[str], kinds: list[str], cells: Any, counted: dict[str, int]) -> None:
    shares = [[cells[check][kind] / counted[kind] for kind in kinds] for check in checks]
    axes.imshow(shares, cmap=MAP, vmin=0.0, vmax=1.0, aspect="auto")
    for y, check in enumerate(checks):
        for x, kind in enumerate(kinds):
            if cells[check][kind]:
                color = "white" if shares[y][x] > DARK else INK
                axes.text(x, y, cells[check][kind], ha="center", va="center", fontsize=7.5, color=color)
    names = [f"{BY_NUMBER[kind].title if kind in BY_NUMBER else kind}  {kind}" for kind in kinds]
    axes.set_xticks(range(len(kinds)), names, rotation=55, ha="right", rotation_mode="anchor", fontsize=7.5)
    axes.set_yticks(range(len(checks)), checks, fontsize=8)
    upper = axes.secondary_xaxis("top")
    upper.set_xticks(range(len(kinds)), [str(counted[kind]) for kind in kinds], fontsize=7.5)
    upper.tick_params(length=0)
    upper.set_xlabel("faults planted of each kind; a darker cell is a larger share of them", fontsize=8, color=INK)
    axes.set_xticks([x - 0.5 for x in range(1, len(kinds))], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, len(checks))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="both", length=0)
    for side in (*axes.spines.values(), *upper.spines.values()):
        side.set_visible(False)


def _bars(axes: Any, checks: list[str], sums: dict[str, int], alone: dict[str, int] | None) -> None:
    places, longest = range(len(checks)), max(sums.values(), default=1)
    axes.barh(places, [sums[check] for check in checks], color=BAR, height=0.72, label="all")
    if alone is not None and any(alone.values()):
        axes.barh(places, [alone[check] for check in checks], color=ALONE, height=0.36, label="and nothing else does")
        axes.legend(loc="lower right", fontsize=7.5, frameon=False)
    for y, check in enumerate(checks):
        more = f"  ({alone[check]})" if alone is not None and alone[check] else ""
        axes.text(sums[check] + 0.02 * longest, y, f"{sums[check]}{more}", va="center", fontsize=7.5, color=INK)
    axes.set_xlim(0, 1.22 * longest)
    axes.set_xlabel("faults found", fontsize=8, color=INK)
    axes.tick_params(axis="y", which="both", length=0)
    axes.tick_params(axis="x", labelsize=7.5, color=PALE)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
