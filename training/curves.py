"""Runs beside each other, and what seeds make of them: `python training/curves.py runs/cartpole-v1__* --out new.png`.

Reads the results.json of finished runs. Those that trained the same algorithm are one line: the mean over its runs, and
around it from the worst of them to the best; one that has stopped stays at its last value. What they reached on the
reference twin in the end is a dot each, and a table on the terminal, in the form that Markdown reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from simulacrum.plots import Curve, learning_curves

POINTS = 200  # of a line


@dataclass
class Args:
    folders: Annotated[tuple[Path, ...], tyro.conf.Positional]  # folders of runs, or results.json files
    out: Path | None = None  # the PNG to write; none is drawn without it
    title: str = ""  # of the picture; the environment's id by default
    window: float = 0.05  # part of a run whose episodes make one point
    level: float | None = None  # a return to draw a line at, such as one that somebody published
    level_name: str = "level"  # what the line is called


def read(folders: tuple[Path, ...]) -> list[dict[str, Any]]:
    """What results.json holds, of each folder.

    Raises:
        SystemExit: a folder without one, or nothing to read.
    """
    runs = []
    for folder in folders:
        path = folder / "results.json" if folder.is_dir() else folder
        if not path.is_file():
            raise SystemExit(f"{path} is not there: the run is not finished, or it is no run")
        runs.append(json.loads(path.read_text()))
        if not runs[-1].get("curve"):
            raise SystemExit(f"{path} has no curve: no episode ended in that run, or its script writes none")
    if not runs:
        raise SystemExit("name at least one run's folder")
    return runs


def algorithm(run: dict[str, Any]) -> str:
    """Its name as tables show it: that of the first policy measured."""
    return next(iter(run["reference"])).removesuffix(", trained")


def together(runs: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Runs by environment and algorithm, in the order in which they came."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["env_id"], algorithm(run)), []).append(run)
    return groups


def smooth(run: dict[str, Any], steps: np.ndarray, window: float) -> np.ndarray:
    """Mean return of the episodes that ended within `window` steps before each of `steps`; where none did, the last."""
    at, _, mean, _, count = np.array(run["curve"]).T
    sums, counts = np.append(0, np.cumsum(mean * count)), np.append(0, np.cumsum(count))
    last = np.searchsorted(at, steps, side="right")
    first = np.minimum(np.searchsorted(at, steps - window, side="right"), np.maximum(last - 1, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (sums[last] - sums[first]) / (counts[last] - counts[first])  # not a number before the first episode


def rows(groups: dict[tuple[str, str], list[dict[str, Any]]]) -> list[str]:
    """The table's lines."""
    lines = ["| algorithm | environment | runs | steps | return | worst to best run |", "|---|---|---|---|---|---|"]
    for (env_id, name), runs in groups.items():
        ends = [next(iter(run["reference"].values()))["return"] for run in runs]
        steps = f"{int(max(run.get('steps', run['curve'][-1][0]) for run in runs)):,}"
        spread = f"{min(ends):.2f} to {max(ends):.2f}" if len(runs) > 1 else ""
        lines.append(f"| {name} | {env_id} | {len(runs)} | {steps} | {np.mean(ends):.2f} | {spread} |")
    return lines


def curve(label: str, runs: list[dict[str, Any]], window: float) -> Curve:
    """The mean of runs, from the worst to the best of them around it, and what each reached on the reference twin."""
    end = max(run["curve"][-1][0] for run in runs)
    steps = np.linspace(0, end, POINTS)
    lines = np.array([smooth(run, steps, window * end) for run in runs])
    seen = ~np.isnan(lines).any(axis=0)
    lines = lines[:, seen]
    return Curve(
        label=f"{label} ({len(runs)} run{'s' if len(runs) > 1 else ''})",
        steps=steps[seen].tolist(),
        returns=lines.mean(axis=0).tolist(),
        low=lines.min(axis=0).tolist(),
        high=lines.max(axis=0).tolist(),
        ends=[(run["curve"][-1][0], next(iter(run["reference"].values()))["return"]) for run in runs],
    )


def draw(groups: dict[tuple[str, str], list[dict[str, Any]]], args: Args, path: Path) -> None:
    """A line for each group, and one for the level where there is one."""
    several = len({env_id for env_id, _ in groups}) > 1
    lines = [
        curve(f"{name}, {env_id}" if several else name, runs, args.window) for (env_id, name), runs in groups.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    learning_curves(
        path,
        lines,
        title=args.title or ", ".join(dict.fromkeys(env_id for env_id, _ in groups)),
        levels=[] if args.level is None else [(args.level_name, args.level)],
        note="markers: on the reference twin, without exploring",
    )


def main(args: Args) -> list[str]:
    """Print the table, draw the picture; returns the table's lines."""
    groups = together(read(args.folders))
    lines = rows(groups)
    print("\n".join(lines))
    if args.out is not None:
        draw(groups, args, args.out)
    return lines


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
