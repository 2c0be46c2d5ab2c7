"""A scripted policy whose mean return is known, as data that the battery runs through both twins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Probe:
    """One scripted policy and the interval its mean return must lie in.

    name: a short name, unique in the package.
    act: `(observation, state, t) -> action` on scalars in the reference's form: observation and state made of
        Python scalars and nested tuples, `t` the steps taken so far. A function of its arguments alone.
    low, high: the mean return over the episodes lies in [low, high], both included.
    episodes: over how many episodes the mean is taken: episode 0 of the rows seeded `seed`, `seed + 1`, ...
    why: where the interval comes from: a computation, or a measurement with its size.
    seed: seed of the first row.

    Returns are sums of rewards in float64; parameters and time limit are the schema's defaults.
    """

    name: str
    act: Callable[[Any, Any, int], Any]
    low: float
    high: float
    episodes: int
    why: str
    seed: int = 0
