"""M12: rows that are reset by hand start their next episode, and the others do not notice."""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.boundary_run import BoundaryRun, Problem, Table
from simulacrum.harness.frames import Array

MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)
FEW = 9  # rows


def partial_reset(bench: Bench, count: Callable[[BoundaryRun], None]) -> Outcome:
    """Resets of some rows in every mode; all rows are held against references each time. `count` is told each run."""
    table, compared, resets = Table(bench, FEW, 8, bench.seed + 5), 0, 0
    for mode in MODES:
        bench.say(f"{mode.name.lower()}, resets by hand")
        run = BoundaryRun(bench, table, mode, 4, FEW, bench.seed + 5)
        problem = _partial(run)
        count(run)
        compared, resets = compared + run.lock.transitions, resets + run.restarts
        if problem is not None:
            return failed(f"after a reset by hand, {problem[0]}", problem[1])
    return passed(f"{resets} resets by hand", compared_transitions=compared, resets=resets)


def _partial(run: BoundaryRun) -> Problem | None:
    """Some rows in mid-episode, some right after their end, some with a new seed, all at once, twice in a row."""
    problem = run.start() or _steps(run, 2)
    problem = problem or run.restart(_mask(1, FEW - 1)) or _steps(run, 2)  # mid-episode; the others reach the limit
    waiting = run.lock.last["terminated"] | run.lock.last["truncated"]
    half = _mask(*np.flatnonzero(waiting)[::2]) if waiting.any() else _mask(0)
    problem = problem or run.restart(half) or run.restart(half)  # right after the end, and once more
    problem = problem or _refuses(run) or _steps(run, 3)
    seeds: list[int | None] = [row * 977 + 2**40 for row in range(FEW)]
    seeds[2] = None
    problem = problem or run.restart(_mask(0, 2, 5), seeds) or _steps(run, 3)
    return problem or run.restart(np.ones(FEW, dtype=bool)) or _steps(run, 5)


def _steps(run: BoundaryRun, count: int) -> Problem | None:
    """Steps in which, where autoreset is disabled, ended rows are reset first."""
    problem: Problem | None = None
    for _ in range(count):
        waiting = np.array([runner.ended for runner in run.lock.reference.runners])
        if run.mode == AutoresetMode.DISABLED and waiting.any():
            problem = problem or run.restart(waiting)
        problem = problem or run.step()
    return problem


def _refuses(run: BoundaryRun) -> Problem | None:
    """Where autoreset is disabled, a step while a row has ended is refused and changes nothing."""
    state = run.env.state
    if run.mode != AutoresetMode.DISABLED or run.env.device.type != "cpu" or not bool(state.ended.any()):
        return None
    try:
        run.env.step(run.table.get(run.lock.last))
    except gymnasium.error.ResetNeeded:
        return None if run.env.state is state else (f"{run.title}: a refused step changed the state", None)
    return f"{run.title}: a step was taken while row {int(state.ended.nonzero()[0])} had ended", None


def _mask(*rows: int) -> Array:
    mask = np.zeros(FEW, dtype=bool)
    mask[list(rows)] = True
    return mask
