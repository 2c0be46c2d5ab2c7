"""The picture at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from common.measure import Measured
from simulacrum.plots import run_curve


def draw_curve(path: Path, args: Any, curve: list[list[float]], measured: dict[str, Measured], title: str) -> None:
    """Return against steps with a line for each scripted policy: the whole way, and what matters at its end.

    Args:
        path: the PNG to write.
        args: the run's arguments.
        curve: points (step, seconds, mean return, mean length, episodes).
        measured: returns and lengths by policy; the first is the trained one.
        title: the algorithm's name.
    """
    reached, *others = ((name, float(returns.mean())) for name, (returns, _) in measured.items())
    run_curve(
        path,
        [(point[0], point[2]) for point in curve],
        title=f"{title} on {args.env_id}, seed {args.seed}",
        learning=f"{title} while it learns",
        reached=reached,
        others=others,
    )
