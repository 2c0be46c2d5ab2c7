"""`auto_reset`: the episode boundary is right in every mode: staggered, simultaneous, length-one episodes.

Both twins run side by side in NEXT_STEP, SAME_STEP and DISABLED over at least three episodes a row. The four cases
(none, terminated, truncated, both) must each occur in each mode; for "both" the time limit is set to the very step at
which some row was seen to terminate. A package whose spec says under Episode end that its rules terminate nothing, in
the words "never terminate", "terminate no episode" or "end no episode", cannot show two of the cases, and is held to
its word; any other package in which nothing terminates leaves the check inconclusive.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed
from simulacrum.harness.boundary_run import BoundaryRun, Problem, Table
from simulacrum.harness.chronicle import Chronicle
from simulacrum.harness.frames import Array

MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)
CASES = ("none", "terminated", "truncated", "both")
EPISODES = 3  # per row and run, at least
HORIZON = 1000  # steps looked ahead for a termination, at most; all of the time limit where that is shorter
UNLIMITED = 300  # steps looked ahead where the schema has no limit
ROWS, QUICK_ROWS, FEW = 33, 17, 9
NOTHING_TERMINATES = re.compile(r"never terminate|(end|terminate)s? no episode")


@dataclass
class Judge:
    """The runs of one package: what they met, in each mode, and their starts and ends."""

    bench: Bench
    table: Table
    rows: int
    met: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    kept: dict[str, Chronicle] = field(default_factory=dict[str, Chronicle])
    transitions: int = 0
    restarts: int = 0
    compared_between_modes: int = 0

    def run(self, mode: AutoresetMode, limit: int | None) -> BoundaryRun:
        """A run of this package in one mode; all runs have the same seeds, parameters and actions."""
        return BoundaryRun(self.bench, self.table, mode, limit, self.rows, self.bench.seed + 3)

    def count(self, run: BoundaryRun) -> None:
        """Add up what a run met."""
        self.met.setdefault(run.mode.name, Counter()).update(run.met)
        self.transitions += run.lock.transitions
        self.restarts += run.restarts

    def episodes(self, mode: AutoresetMode, limit: int) -> Problem | None:
        """Three episodes a row under this limit, held against the references and against the other runs."""
        run = self.run(mode, limit)
        problem = run.episodes(EPISODES, (EPISODES + 1) * (limit + 1))
        self.count(run)
        return problem or self._against_others(run)

    def _against_others(self, run: BoundaryRun) -> Problem | None:
        """Starts must not depend on mode or limit; ends must not depend on the mode."""
        made = run.chronicle()
        for title, other in self.kept.items():
            kinds = ("start", "end") if title.endswith(f"limit {run.limit}") else ("start",)
            for what in kinds:
                self.compared_between_modes += made.common(other, what)
                parted = made.parts(other, what)
                if parted is not None:
                    name, episode, row = parted
                    return f"{what} of episode {episode} of row {row} differs in {name}: {run.title} and {title}", None
        self.kept[run.title] = made
        return None


def run(bench: Bench) -> Outcome:
    """A first look for terminations, then all modes under several limits, then resets by hand."""
    declared = bench.schema.max_episode_steps
    horizon = UNLIMITED if declared is None else min(declared, HORIZON)
    rows = QUICK_ROWS if bench.quick else ROWS
    judge = Judge(bench, Table(bench, rows, horizon, bench.seed), rows)
    bench.say("looking for terminations")
    problem, limit, terminations = _look(judge, horizon)
    limits = [1, 3] if limit in (None, 1, 3) else [1, 3, limit]
    if limit == 1:
        limits = [1, 2, 3]
    problem = problem or _all_modes(judge, limits, limit)
    if problem is None:
        problem = _by_hand(judge)
    evidence: dict[str, Any] = {
        "cases": {mode: {case: met[case] for case in CASES} for mode, met in judge.met.items()},
        "ends": {mode: {what: n for what, n in met.items() if what not in CASES} for mode, met in judge.met.items()},
        "limits": limits,
        "limit_at_a_termination": limit,
        "episodes_per_row_at_least": EPISODES,
        "compared_transitions": judge.transitions,
        "resets_by_hand": judge.restarts,
        "boundaries_compared_between_runs": judge.compared_between_modes,
    }
    if problem is not None:
        return failed(problem[0], problem[1], **evidence)
    never = _never_terminates(bench)
    if never is not None and terminations:
        return failed(f"{never} says that no episode is terminated, and {terminations} were", **evidence)
    missing = _missing(judge, never is not None)
    if missing:
        return inconclusive(f"never met: {', '.join(missing)}", **evidence)
    return passed(f"{judge.transitions:,} transitions over the boundary in {len(MODES)} modes", **evidence)


def _look(judge: Judge, horizon: int) -> tuple[Problem | None, int | None, int]:
    """Run under the declared limit, with scripted policies among the drivers; their actions become the table's.

    Returns (a problem, the limit under which some row terminates at the limit itself, how many rows terminated).
    """
    run = judge.run(AutoresetMode.NEXT_STEP, judge.bench.schema.max_episode_steps)
    probes = judge.bench.package.probes()
    driver = drivers.standard(judge.bench.schema, judge.rows, judge.bench.seed)
    if probes is not None:
        schema, read = judge.bench.schema, run.lock.reading
        scripted = [drivers.Scripted(p.name, p.act, schema, judge.rows, read) for p in probes.PROBES]
        driver = drivers.Mixed([*driver.drivers, *scripted], judge.rows)
    problem, first = run.start(), np.zeros(judge.rows, dtype=np.int64)
    for step in range(horizon):
        if problem is not None or bool((run.lock.episodes > 0).all()):
            break
        last = run.lock.last
        judge.table.put(last, driver.actions(last, step))
        problem = run.step()
        frame = run.lock.frames[-1][0]
        fresh: Array = frame["terminated"] & (frame["episode"] == 0) & (first == 0)
        first[fresh] = frame["t"][fresh]
    judge.count(run)
    judge.met.clear()  # the cases are counted in the runs that follow, mode by mode
    steps = sorted({int(t) for t in first if t})
    # The second earliest, where there is one: then some row terminates before it as well.
    limit = steps[min(1, len(steps) - 1)] if steps else None
    return problem, limit, int((first > 0).sum())


def _all_modes(judge: Judge, limits: list[int], limit: int | None) -> Problem | None:
    problem: Problem | None = None
    for mode in MODES:
        for one in limits:
            judge.bench.say(f"{mode.name.lower()}, limit {one}")
            problem = problem or judge.episodes(mode, one)
        if problem is None and limit is not None and not judge.met[mode.name]["terminated"]:
            problem = judge.episodes(mode, limit + 1)
        if problem is not None:
            break
    return problem


# --- resets by hand --------------------------------------------------------------------------------------------------


def _by_hand(judge: Judge) -> Problem | None:
    bench = judge.bench
    table = Table(bench, FEW, 8, bench.seed + 5)
    for mode in MODES:
        bench.say(f"{mode.name.lower()}, resets by hand")
        run = BoundaryRun(bench, table, mode, 4, FEW, bench.seed + 5)
        problem = _partial(run)
        judge.count(run)
        if problem is not None:
            return f"after a reset by hand, {problem[0]}", problem[1]
    return None


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


# --- judgement ------------------------------------------------------------------------------------------------------


def _never_terminates(bench: Bench) -> str | None:
    """The rule under Episode end that says the rules never terminate an episode, or None."""
    for rule in bench.package.spec.rules.values():
        if rule.heading == "Episode end" and NOTHING_TERMINATES.search(" ".join(rule.text.lower().split())):
            return rule.id
    return None


def _missing(judge: Judge, never_terminates: bool) -> list[str]:
    possible = ("none", "truncated") if never_terminates else CASES
    ends = ("all rows at once", "some rows, others not", "first row", "last row", "length one")
    wanted = (*possible, *ends)
    return [
        f"{what} ({mode.name.lower()})" for mode in MODES for what in wanted if not judge.met[mode.name][what]
    ]
