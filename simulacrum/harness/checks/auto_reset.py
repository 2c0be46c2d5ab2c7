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

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed
from simulacrum.harness.boundary_run import BoundaryRun, Problem, Table
from simulacrum.harness.chronicle import Chronicle
from simulacrum.harness.frames import Array
from simulacrum.harness.parts import Parts
from simulacrum.harness.relations.horizon import longer_horizon
from simulacrum.harness.relations.partial_reset import MODES, partial_reset

CASES = ("none", "terminated", "truncated", "both")
EPISODES = 3  # per row and run, at least
HORIZON = 1000  # steps looked ahead for a termination, at most; all of the time limit where that is shorter
UNLIMITED = 300  # steps looked ahead where the schema has no limit
ROWS, QUICK_ROWS = 33, 17
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
    limits: list[int] = field(default_factory=list[int])
    limit: int | None = None  # under which some row terminates at the limit itself
    compared_between_modes: int = 0

    def run(self, mode: AutoresetMode, limit: int | None) -> BoundaryRun:
        """A run of this package in one mode; all runs have the same seeds, parameters and actions."""
        return BoundaryRun(self.bench, self.table, mode, limit, self.rows, self.bench.seed + 3)

    def count(self, run: BoundaryRun, *, met: bool = True) -> None:
        """Add up what a run did, and what it met unless told otherwise."""
        self.met.setdefault(run.mode.name, Counter()).update(run.met if met else {})
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
    """Resets by hand, a first look for terminations, all modes under several limits, pairs of limits."""
    declared = bench.schema.max_episode_steps
    horizon = UNLIMITED if declared is None else min(declared, HORIZON)
    rows = QUICK_ROWS if bench.quick else ROWS
    judge, parts = Judge(bench, Table(bench, rows, horizon, bench.seed), rows), Parts(bench)
    parts.run("partial_reset", lambda: partial_reset(bench, judge.count))  # its ends count among those that must occur
    parts.run("episode_boundary", lambda: _boundary(judge, horizon))
    parts.run("longer_horizon", lambda: longer_horizon(bench))
    if "episode_boundary" not in parts.results:
        return parts.joined()
    evidence: dict[str, Any] = {
        "cases": {mode: {case: met[case] for case in CASES} for mode, met in judge.met.items()},
        "ends": {mode: {what: n for what, n in met.items() if what not in CASES} for mode, met in judge.met.items()},
        "limits": judge.limits,
        "limit_at_a_termination": judge.limit,
        "episodes_per_row_at_least": EPISODES,
        "compared_transitions": judge.transitions,
        "resets_by_hand": judge.restarts,
        "boundaries_compared_between_runs": judge.compared_between_modes,
    }
    return parts.outcome(f"{judge.transitions:,} transitions over the boundary in {len(MODES)} modes", **evidence)


def _boundary(judge: Judge, horizon: int) -> Outcome:
    """The four cases in each mode, both twins side by side."""
    judge.bench.say("looking for terminations")
    problem, judge.limit, terminations = _look(judge, horizon)
    limit = judge.limit
    judge.limits = [1, 2, 3] if limit == 1 else [1, 3] if limit in (None, 3) else [1, 3, limit]
    problem = problem or _all_modes(judge, judge.limits, limit)
    counted: dict[str, Any] = {"compared_transitions": judge.transitions, "limits": judge.limits}
    if problem is not None:
        return failed(problem[0], problem[1], **counted)
    never = _never_terminates(judge.bench)
    if never is not None and terminations:
        return failed(f"{never} says that no episode is terminated, and {terminations} were", **counted)
    missing = _missing(judge, never is not None)
    if missing:
        return inconclusive(f"never met: {', '.join(missing)}", **counted)
    return passed(f"{judge.transitions:,} transitions", **counted)


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
    judge.count(run, met=False)  # the cases are counted in the runs that follow, mode by mode
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
