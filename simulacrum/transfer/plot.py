"""The picture of a study: each training as a dot, and the intervals of the differences beside the margin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simulacrum.errors import UsageError
from simulacrum.transfer.statistical import Study

# Okabe and Ito's colours, which remain distinct to colour-blind readers; shapes say the same once more.
BATCHED, REFERENCE, MARGIN = "#0072B2", "#D55E00", "#009E73"
NAMES = {
    "trained": "training in the batched twin\nminus training in the reference",
    "judged": "judged in the batched twin\nminus judged in the reference",
}


def draw(found: Study, path: Path) -> Path:
    """Write a PNG. Raises UsageError where Matplotlib is not installed."""
    figure = _figure((9.6, 3.8))
    dots, intervals = figure.subplots(1, 2, width_ratios=(2, 3))
    _dots(dots, found)
    _intervals(intervals, found)
    figure.suptitle(f"{found.plan.env_id}: {found.verdict}", x=0.01, ha="left", fontweight="bold")
    figure.savefig(path, dpi=110)
    return path


def _figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise UsageError("the picture needs Matplotlib", next_step="pip install 'simulacrum[transfer]'") from error
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _dots(axes: Any, found: Study) -> None:
    columns = [
        ("batched", "batched", BATCHED, "o"), ("batched", "reference", BATCHED, "s"),
        ("reference", "reference", REFERENCE, "s"), ("reference", "batched", REFERENCE, "o"),
    ]  # fmt: skip
    for place, (side, judge, colour, marker) in enumerate(columns):
        means = found.means(side, judge)  # type: ignore[arg-type]  # both are names of sides
        spread = [place + 0.24 * (number / max(1, len(means) - 1) - 0.5) for number in range(len(means))]
        axes.plot(spread, means, marker, color=colour, markersize=5, alpha=0.75)
        axes.plot([place - 0.3, place + 0.3], [sum(means) / len(means)] * 2, color=colour, linewidth=2)
    axes.set_xticks(range(4), [f"{side}\n{judge}" for side, judge, _, _ in columns], fontsize="small")
    axes.set_xlabel("trained in / judged in", fontsize="small")
    axes.set_ylabel("mean return of a policy")
    axes.grid(axis="y", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _intervals(axes: Any, found: Study) -> None:
    margin, tests = found.plan.margin, found.tests
    axes.axvspan(-margin, margin, color=MARGIN, alpha=0.15)
    for edge in (-margin, margin):
        axes.axvline(edge, color=MARGIN, linestyle="--", linewidth=1.3)
    axes.axvline(0, color="0.6", linewidth=0.8)
    for place, (_, one) in enumerate(reversed(tests.items())):
        axes.plot([one.low, one.high], [place, place], color="black", linewidth=2, solid_capstyle="butt")
        axes.plot([one.low, one.difference, one.high], [place] * 3, "|", color="black", markersize=10)
        axes.plot([one.difference], [place], "D", color="black", markersize=5)
        text = f"{one.verdict}; power {one.power:.2f}, n = {one.n[0]} and {one.n[1]}"
        axes.annotate(text, (one.difference, place), (0, 9), textcoords="offset points", ha="center", fontsize="small")
    axes.set_yticks(range(len(tests)), [NAMES[name] for name in reversed(tests)], fontsize="small")
    axes.set_ylim(-0.6, len(tests) - 0.3)
    level = round(100 * (1 - 2 * found.plan.alpha))
    label = f"difference of mean returns, {level} % interval; shaded: the margin, ±{margin:g}"
    axes.set_xlabel(label, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
