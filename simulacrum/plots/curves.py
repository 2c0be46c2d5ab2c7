"""Learning curves: one run, runs with the spread over their seeds, learners beside each other, a sweep of settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.plots.style import BLUE, INK, MUTED, VERMILLION, look, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = Sequence[float]
Point = tuple[float, float]
STEPS, RETURN = "environment steps", "mean episode return"
UNITS = ((1e6, " (millions)"), (1e3, " (thousands)"))


@dataclass(frozen=True)
class Curve:
    """One line of returns against steps.

    steps, returns: its points [P]. low, high: from where to where its seeds lie [P]. each: lines that it is the mean
    of, drawn thin, [P] each. ends: points (steps, return) that stand by themselves, such as what a trained policy
    reached where it was judged.
    """

    label: str
    steps: Numbers
    returns: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    each: Sequence[Numbers] = ()
    ends: Sequence[Point] = ()


@dataclass(frozen=True)
class Setting:
    """The trainings of one setting in a sweep.

    value: of what is searched. label: how the legend calls the setting; None leaves it in the background. curves: the
    points (steps, return) of each training. ends: what each reached.
    """

    value: float
    label: str | None
    curves: Sequence[Sequence[Point]]
    ends: Numbers = field(default=())


def learning_curves(
    path: Path, curves: Sequence[Curve], *, title: str, levels: Sequence[tuple[str, float]] = (), note: str = "",
    x_label: str = STEPS, y_label: str = RETURN,
) -> None:  # fmt: skip
    """Draw curves beside each other, with their spread as a band, and a dotted line for each level (name, return).

    `note` is told below the picture, after `x_label` and its unit. Raises UsageError as `check_picture`.
    """
    size, unit = _unit([step for curve in curves for step in curve.steps])
    with picture(path, 8.0, 4.4) as figure:
        axes = figure.subplots()
        for number, curve in enumerate(curves):
            _curve(axes, curve, number, size)
        for number, (name, level) in enumerate(levels):
            axes.axhline(
                level, color=MUTED, linestyle=(0, (1, 1.5 + number)), linewidth=1.6, label=f"{level:g}: {name}"
            )
        axes.set_title(title)
        axes.set_xlabel(f"{x_label}{unit}{'; ' + note if note else ''}")
        axes.set_ylabel(y_label)
        axes.legend(loc="best")


def _curve(axes: Axes, curve: Curve, number: int, size: float) -> None:
    color, dashes, marker = look(number)
    steps = [step / size for step in curve.steps]
    for line in curve.each:
        axes.plot(steps, line, color=color, linewidth=0.8, alpha=0.45)
    axes.plot(steps, curve.returns, color=color, linestyle=dashes, linewidth=2.0, label=curve.label)
    if curve.low is not None and curve.high is not None:
        axes.fill_between(steps, curve.low, curve.high, color=color, alpha=0.18, linewidth=0)
    if curve.ends:
        ends, returns = zip(*curve.ends, strict=True)
        axes.plot([end / size for end in ends], returns, marker, color=color, markersize=5, zorder=5)


def run_curve(
    path: Path, points: Sequence[Point], *, title: str, learning: str, reached: tuple[str, float],
    others: Sequence[tuple[str, float]] = (),
) -> None:  # fmt: skip
    """Draw one run twice: the whole way, and what matters at its end, near the best of all returns.

    Args:
        path: the picture, PNG, SVG or PDF.
        points: (steps, mean return) as the run went on.
        title: of the picture.
        learning: what the line is called.
        reached: name and mean return of the trained policy.
        others: name and mean return of each policy to hold it against.

    Raises:
        UsageError: as `check_picture`.
    """
    size, unit = _unit([step for step, _ in points])
    steps, returns = [step / size for step, _ in points], [value for _, value in points]
    with picture(path, 9.6, 4.2) as figure:
        whole, close = figure.subplots(1, 2, width_ratios=(3, 2))
        for axes in (whole, close):
            axes.plot(steps, returns, color=BLUE, label=learning)
            name, value = reached
            axes.plot(steps[-1:] or [0.0], [value], "o", color=INK, zorder=5, label=f"{name}: {value:.2f}")
            for number, (name, value) in enumerate(others, 1):
                color, dashes = look(number).color, ("--", "-.", ":")[(number - 1) % 3]
                axes.axhline(value, color=color, linestyle=dashes, linewidth=1.5, label=f"{name}: {value:.2f}")
            axes.set_xlabel(f"{STEPS}{unit}")
        best = max(value for _, value in (reached, *others))
        spread = max(best, *returns, 0.0) - min(best, *returns, 0.0)
        if spread > 0:
            close.set_ylim(best - 0.06 * spread, best + 0.03 * spread)
        close.set_title("near the best")
        whole.set_title(title)
        whole.set_ylabel(RETURN)
        whole.legend(loc="best")


def sweep(path: Path, settings: Sequence[Setting], *, title: str, searched: str) -> None:
    """Draw all trainings of a sweep against steps, and what each reached against the value that was searched.

    Settings with a label stand out; those that come first are drawn on top. Raises UsageError as `check_picture`.
    """
    size, unit = _unit([step for one in settings for curve in one.curves for step, _ in curve])
    colors = dict(zip((one.label for one in settings if one.label), (BLUE, VERMILLION), strict=False))
    with picture(path, 9.6, 4.2) as figure:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        curves, ends = figure.subplots(1, 2, width_ratios=(3, 2))
        for one in reversed(settings):
            color = colors.get(one.label or "", MUTED)
            strength = {"color": color, "alpha": 0.9 if one.label else 0.35, "linewidth": 1.6 if one.label else 1.1}
            for number, points in enumerate(one.curves):
                steps, returns = [step / size for step, _ in points], [value for _, value in points]
                curves.plot(steps, returns, label=None if number else one.label, **strength)
            ends.plot([one.value] * len(one.ends), one.ends, "o", color=color, alpha=strength["alpha"])
        curves.set_title(title)
        curves.set_xlabel(f"{STEPS}{unit}")
        curves.set_ylabel(RETURN)
        if colors:
            figure.legend(loc="outside lower left")  # settings are told at length, and curves leave no corner free
        ends.set_title("on the reference twin")
        ends.set_xscale("log")
        ends.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ends.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ends.xaxis.set_minor_formatter(NullFormatter())
        ends.set_xlabel(searched)
        ends.set_ylabel(RETURN)


def _unit(steps: Sequence[float]) -> tuple[float, str]:
    """The largest unit in which the last step is 2 or more, and how an axis names it."""
    last = max(steps, default=0.0)
    return next(((size, name) for size, name in UNITS if last >= 2 * size), (1.0, ""))
