"""Pictures of a run, as PNG files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from suite import cost, roofline, tables

# The same contender has the same colour in every picture; others take the rest in turn.
COLOURS = {
    "native": "#0b7285",
    "native, double buffer": "#15aabf",
    "native, rollout": "#66d9e8",
    "inductor": "#4c6ef5",
    "eager": "#868e96",
    "C by hand": "#e8590c",
    cost.COPY_TITLE: "#000000",
    "Gymnasium CartPoleVectorEnv": "#2f9e44",
    "Gymnasium SyncVectorEnv": "#94d82d",
    "EnvPool": "#ae3ec9",
    "gymnax": "#f59f00",
    "PufferLib Ocean C": "#c92a2a",
    "numba loop": "#5c940d",
}
DASHED = {cost.COPY_TITLE: ":", "C by hand": "--"}


def all_of(result: dict[str, Any], folder: Path) -> list[Path]:
    """Draw what the run has data for; returns the files."""
    made: list[Path] = []
    if result["groups"]:
        made.append(_panels(speed, tables.by_environment(result), folder / "bench-speed.png"))
    growth = result.get("growth")
    if growth:
        rows = tables.by_environment({"groups": growth["rows"]})
        caches = roofline.caches(result["machine"])
        made.append(
            _panels(
                lambda axes, name, groups: by_rows(axes, groups, growth["costs"][name]["moved"], caches),
                rows,
                folder / "bench-rows.png",
            )
        )
        made.append(_panels(share, rows, folder / "bench-roofline.png"))
        if growth["berries"]:
            made.append(forager(growth, folder / "bench-forager.png"))
    return made


def _panels(draw: Callable[[Axes, str, Any], None], parts: dict[str, Any], path: Path) -> Path:
    """One panel for each environment, one legend for all."""
    figure = Figure(figsize=(4.2 * len(parts), 4.4), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(parts), squeeze=False)[0]
    for axes, (name, groups) in zip(panels, parts.items(), strict=True):
        draw(axes, name, groups)
        axes.set_title(name)
    return _finish(figure, panels, path)


def _finish(figure: Figure, panels: Sequence[Axes], path: Path) -> Path:
    handles = {}
    for axes in panels:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.grid(True, which="major", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without the time and the version of the library in it, equal figures make equal files.
    figure.savefig(path, metadata={"Software": None})
    return path


def _lines(
    axes: Axes, groups: Sequence[dict[str, Any]], x: Callable[[Any], float], y: Callable[[Any, Any], float]
) -> None:
    """A line for each contender through what `y(group, contender)` gives at `x(group)`."""
    names = list(dict.fromkeys(each["name"] for group in groups for each in group["contenders"]))
    for name in names:
        points = [
            (x(group), y(group, each)) for group in groups for each in group["contenders"] if each["name"] == name
        ]
        axes.plot(
            *zip(*points, strict=True), label=name, color=COLOURS.get(name), linestyle=DASHED.get(name, "-"),
            marker="o", markersize=3, linewidth=1.4,
        )  # fmt: skip


def _logarithmic(axes: Axes, label: str, what: str = "rows N") -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(what)
    axes.set_ylabel(label)


def speed(axes: Axes, name: str, groups: Sequence[dict[str, Any]]) -> None:
    """Steps per CPU-second against N, all contenders."""
    _lines(axes, groups, lambda group: group["num_envs"], lambda _, each: each["steps_per_second"]["cpu"]["median"])
    _logarithmic(axes, "steps per CPU-second")


def nanoseconds(_: Any, contender: dict[str, Any]) -> float:
    """Median CPU time of one step of one row."""
    return 1e9 / contender["steps_per_second"]["cpu"]["median"]


def by_rows(axes: Axes, groups: Sequence[dict[str, Any]], moved: float, caches: dict[str, int]) -> None:
    """Nanoseconds a step against N, with the N whose step fills a cache."""
    _lines(axes, groups, lambda group: group["num_envs"], nanoseconds)
    _logarithmic(axes, "CPU ns per step of one row")
    most = max(group["num_envs"] for group in groups)
    for level, size in caches.items():
        if 1 < size / moved < most:
            axes.axvline(size / moved, color="#adb5bd", linewidth=0.8)
            axes.text(size / moved, axes.get_ylim()[1], f" {level}", fontsize=7, va="top", color="#868e96")


def share(axes: Axes, name: str, groups: Sequence[dict[str, Any]]) -> None:
    """Share of the rate at which the same bytes are copied, against N."""
    groups = [group for group in groups if group["num_envs"] >= roofline.FROM_ROWS]
    shares = {group["num_envs"]: roofline.shares(group) for group in groups}
    _lines(
        axes, groups, lambda group: group["num_envs"], lambda group, each: shares[group["num_envs"]][each["name"]]
    )
    _logarithmic(axes, "share of the copy rate")


def forager(growth: dict[str, Any], path: Path) -> Path:
    """forager's cost against berries and against the side of the grid."""
    figure = Figure(figsize=(9, 4.4), dpi=110, layout="constrained")
    panels = figure.subplots(1, 2)
    _lines(panels[0], growth["berries"], lambda group: group["berries"], nanoseconds)
    _logarithmic(panels[0], "CPU ns per step of one row", "berries")
    _lines(panels[1], growth["grids"], lambda group: group["size"], nanoseconds)
    _logarithmic(panels[1], "CPU ns per step of one row", "cells along a side of the grid")
    panels[0].set_title(f"forager, N = {growth['berries'][0]['num_envs']:,}")
    return _finish(figure, panels, path)
