"""Pictures of a run, as PNG files: what `simulacrum.plots` draws of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulacrum.plots import Panel, Speed, throughput
from suite import cost, roofline, tables

# The same contender looks the same in every picture; others take the looks that are left.
CONTENDERS = (
    "native",
    "C by hand",
    "eager",
    "inductor",
    "native, double buffer",
    cost.COPY_TITLE,
    "native, rollout",
    "Gymnasium CartPoleVectorEnv",
    "Gymnasium SyncVectorEnv",
    "EnvPool",
    "gymnax",
    "PufferLib Ocean C",
    "numba loop",
)
LOOKS = {name: number for number, name in enumerate(CONTENDERS)}

Group = dict[str, Any]
At = Callable[[Group], float]
Value = Callable[[Group, Group], float]


def all_of(result: dict[str, Any], folder: Path) -> list[Path]:
    """Draw what the run has data for; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, list[Panel]] = {}
    if result["groups"]:
        drawn["bench-speed"] = [speed(name, groups) for name, groups in tables.by_environment(result).items()]
    growth = result.get("growth")
    if growth:
        rows = tables.by_environment({"groups": growth["rows"]})
        caches = roofline.caches(result["machine"])
        drawn["bench-rows"] = [
            by_rows(name, groups, growth["costs"][name]["moved"], caches) for name, groups in rows.items()
        ]
        drawn["bench-roofline"] = [share(name, groups) for name, groups in rows.items()]
        if growth["berries"]:
            drawn["bench-forager"] = forager(growth)
    for name, panels in drawn.items():
        throughput(folder / f"{name}.png", panels)
    return [folder / f"{name}.png" for name in drawn]


def _lines(groups: Sequence[Group], x: At, y: Value) -> list[Speed]:
    """A line for each contender through what `y(group, contender)` gives at `x(group)`."""
    names = dict.fromkeys(each["name"] for group in groups for each in group["contenders"])
    lines = []
    for name in names:
        points = [
            (x(group), y(group, each)) for group in groups for each in group["contenders"] if each["name"] == name
        ]
        at, values = zip(*points, strict=True)
        lines.append(Speed(name, at, values, number=LOOKS.get(name)))
    return lines


def _rows(group: Group) -> float:
    return group["num_envs"]


def speed(name: str, groups: Sequence[Group]) -> Panel:
    """Steps per CPU-second against N, all contenders."""
    lines = _lines(groups, _rows, lambda _, each: each["steps_per_second"]["cpu"]["median"])
    return Panel(name, lines, y_label="steps per CPU-second")


def nanoseconds(_: Any, contender: Group) -> float:
    """Median CPU time of one step of one row."""
    return 1e9 / contender["steps_per_second"]["cpu"]["median"]


COST = "CPU ns per step of one row"


def by_rows(name: str, groups: Sequence[Group], moved: float, caches: Mapping[str, int]) -> Panel:
    """Nanoseconds a step against N, with the N whose step fills a cache."""
    most = max(map(_rows, groups))
    marks = [(size / moved, level) for level, size in caches.items() if 1 < size / moved < most]
    return Panel(name, _lines(groups, _rows, nanoseconds), y_label=COST, marks=marks)


def share(name: str, groups: Sequence[Group]) -> Panel:
    """Share of the rate at which the same bytes are copied, against N."""
    groups = [group for group in groups if _rows(group) >= roofline.FROM_ROWS]
    shares = {_rows(group): roofline.shares(group) for group in groups}
    lines = _lines(groups, _rows, lambda group, each: shares[_rows(group)][each["name"]])
    return Panel(name, lines, y_label="share of the copy rate")


def forager(growth: dict[str, Any]) -> list[Panel]:
    """forager's cost against berries and against the side of the grid."""
    rows = growth["berries"][0]["num_envs"]
    berries = _lines(growth["berries"], lambda group: group["berries"], nanoseconds)
    grids = _lines(growth["grids"], lambda group: group["size"], nanoseconds)
    return [
        Panel(f"forager, N = {rows:,}", berries, x_label="berries", y_label=COST),
        Panel("", grids, x_label="cells along a side of the grid", y_label=COST),
    ]
