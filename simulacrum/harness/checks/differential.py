"""`differential`: reference and batched agree bit for bit, over several batch sizes, drivers and episode ends.

Every row that is compared has a reference of its own beside it. Everything that a step shows is compared on bits:
state, observation, reward, both flags, info, mask, and the engine's clock and statistics.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulacrum.attest.catalog import SUB_CHECKS_OF
from simulacrum.engine.vector import FROM_SCHEMA
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, seeds_for
from simulacrum.harness.compare import checksum
from simulacrum.harness.coverage import Coverage
from simulacrum.harness.drivers.campaign import Campaign
from simulacrum.harness.drivers.checks import GIVEN, driven
from simulacrum.harness.drivers.replayed import tapes
from simulacrum.harness.drivers.verdicts import VERDICTS
from simulacrum.harness.frames import frame_fields, rows_of, take
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.parts import Parts
from simulacrum.harness.recording import Recording, explain, parting, record
from simulacrum.harness.small.checks import SingleSteps
from simulacrum.trace.divergence import Divergence

EPISODES = 3  # per compared row, at least
UNLIMITED = 250  # steps, for an environment without a time limit
# Compared transitions of one plan, after which it stops: with long episodes the ends come up in plans of fewer rows,
# and three episodes of 1,000 steps in each of 513 rows would show nothing but more of the middle, for hours.
MOST_COMPARED = 160_000
MOST_STEPS = 4_000  # of one plan, for the same reason: a batch of one row takes as long over a step as one of 64
WATCHED_ROWS = 64  # plans with more compared rows run unwatched
TAPES = 12  # rows of a plan that are kept to be replayed


@dataclass(frozen=True)
class Plan:
    """One lockstep run: batch size, how many of its rows get references, and what is varied."""

    num_envs: int
    compared: int
    params: bool = False  # parameters drawn per row from their declared bounds
    scripted: bool = False  # driven by the package's probes, beside the standard drivers
    limit: object = FROM_SCHEMA


# The run whose beginning `throughput` must reproduce: all of its rows are compared, at the schema's own settings.
CHECKED = Plan(513, 513)
CHECKED_ROWS, CHECKED_STEPS = 512, 64

FULL = (
    Plan(1, 1),
    Plan(2, 2),
    Plan(3, 3, params=True),
    Plan(17, 17, scripted=True),
    Plan(64, 64, params=True),
    CHECKED,
    Plan(4097, 48, limit=7),
)
QUICK = (Plan(1, 1), Plan(7, 7, params=True), Plan(65, 65))


@dataclass(frozen=True)
class Run:
    """What a plan has led to."""

    plan: Plan
    lock: Lockstep
    seeds: list[int]
    params: Mapping[str, Any] | None
    owners: list[str]  # the name of the driver of each row

    def told_to(self, campaign: Campaign) -> None:
        """Note what it has reached, and some rows' actions to be replayed, where they mean the same once more."""
        campaign.reached.add(self.lock, self.owners)
        if self.plan.limit is FROM_SCHEMA:
            campaign.tapes += tapes(self.lock, self.seeds, self.lock.chosen[:TAPES])


@dataclass
class Done:
    """The runs so far, kept for the native form, which may still be in the making; and where the time went."""

    runs: list[Run] = field(default_factory=list[Run])
    seconds: dict[str, float] = field(default_factory=lambda: {"reference": 0.0, "eager": 0.0, "native": 0.0})

    @contextlib.contextmanager
    def timed(self, what: str) -> Generator[None, None, None]:
        """Count the time meanwhile to `what`."""
        began = time.perf_counter()
        yield
        self.seconds[what] += time.perf_counter() - began

    def add(self, run: Run) -> None:
        """Count a run; what its references took was counted to the eager form, beside which they were stepped."""
        self.runs.append(run)
        self.seconds["reference"] += run.lock.reference.seconds
        self.seconds["eager"] -= run.lock.reference.seconds

    @property
    def transitions(self) -> int:
        """Transitions that a reference and the batch have both taken."""
        return sum(run.lock.transitions for run in self.runs)


def run(bench: Bench) -> Outcome:
    """The sub-checks in the catalogue's order; the first divergence ends the check."""
    parts, campaign = Parts(bench), Campaign.of(bench)
    singles = SingleSteps(bench)
    with campaign.watching():
        for name in ("small_model", "boundary_states", "boundary_pairs"):
            parts.run(name, getattr(singles, name))
    parts.run("rollouts", lambda: rollouts(bench, campaign))
    with campaign.watching():
        for name, sub_check in driven(bench).items():
            parts.run(name, functools.partial(sub_check, bench, campaign))
    parts.run("native_states", singles.native_states)
    whole = all(name in parts.results or name in (*VERDICTS, GIVEN) for name in SUB_CHECKS_OF["differential"])
    for name, judge in VERDICTS.items():
        parts.run(name, functools.partial(judge, bench, campaign, whole=whole))
    return parts.joined("small_model", "rollouts", "coverage")


def rollouts(bench: Bench, campaign: Campaign) -> Outcome:
    """All plans, smallest batch first."""
    done = Done()
    plans = QUICK if bench.quick else FULL
    for number, plan in enumerate(plans):
        bench.say(f"{plan.num_envs} rows", number, len(plans))
        with done.timed("eager"), _watched(campaign, plan):
            run, found = _run(bench, plan)
        done.add(run)
        run.told_to(campaign)
        if found is not None:
            return failed(f"the twins part: {found.difference.path}", found, compared_transitions=done.transitions)
        if plan is CHECKED:
            bench.checksums["differential"] = checksum(
                rows_of(frame, range(CHECKED_ROWS)) for _, frame in run.lock.frames[: CHECKED_STEPS + 1]
            )
    if "native" in bench.forms:
        bench.say("the native form beside them", len(plans), len(plans))
    if bench.native is not None:
        for run in done.runs:
            with done.timed("native"):
                found = _beside_native(bench, run)
            if found is not None:
                return failed(f"the twins part: {found.difference.path}", found, compared_transitions=done.transitions)
    whole = all(map(bench.wants, SUB_CHECKS_OF["differential"]))
    return _judged(bench, campaign.coverage, done, whole=whole)


def _watched(campaign: Campaign, plan: Plan) -> contextlib.AbstractContextManager[None]:
    """Watch both twins in the small plans, while there is something to learn; the large ones run them as they are."""
    return contextlib.nullcontext() if plan.compared > WATCHED_ROWS else campaign.watching()


def _run(bench: Bench, plan: Plan) -> tuple[Run, Divergence | None]:
    seed = bench.seed + plan.num_envs
    params = bench.row_params(plan.num_envs, seed) if plan.params else None
    env = bench.env(plan.num_envs, limit=plan.limit, params=params)
    rows = None if plan.compared == plan.num_envs else _sample(plan, seed)
    lock = Lockstep(bench, env, rows)
    probes = bench.package.probes() if plan.scripted else None
    driver = drivers.standard(bench.schema, plan.num_envs, seed)
    if probes is not None:
        scripted = [
            drivers.Scripted(probe.name, probe.act, bench.schema, plan.num_envs, lock.reading)
            for probe in probes.PROBES
        ]
        driver = drivers.Mixed([*scripted, *driver.drivers], plan.num_envs)
    limit = env.max_episode_steps
    most = UNLIMITED if limit is None else EPISODES * (limit + 1)
    most = min(most, MOST_COMPARED // plan.compared, MOST_STEPS)
    least = CHECKED_STEPS if plan is CHECKED else 0
    seeds = seeds_for(plan.num_envs, seed)
    found = lock.run(driver, seeds, episodes=EPISODES, most=max(most, least), least=least)
    owners = [driver.drivers[owner].name for owner in driver.owner]
    return Run(plan, lock, seeds, params, owners), found


def _beside_native(bench: Bench, run: Run) -> Divergence | None:
    """The same rollout in the native form, all rows of it, against the eager one that the references agreed with."""
    plan, lock, seeds = run.plan, run.lock, run.seeds
    plain = Recording(lock.env, seeds, lock.actions, [frame for _, frame in lock.frames])
    native = record(bench.env(plan.num_envs, limit=plan.limit, params=run.params, form="native"), seeds, lock.actions)
    rows = range(plan.num_envs)
    parted = parting(bench, plain, native, rows, rows)
    if parted is None:
        return None
    side = "the eager form, which the reference agreed with"
    return explain(bench, parted, plain, native, rows, rows, side=side, notes=("built as native on cpu",))


def _sample(plan: Plan, seed: int) -> list[int]:
    """Compared rows of a large batch: the first, the last, those around powers of two, and random others."""
    generator = np.random.default_rng(seed)
    ends = {0, 1, plan.num_envs - 1, plan.num_envs - 2}
    powers = {2**k for k in range(1, 12)} | {2**k - 1 for k in range(2, 13)}
    rows = {row for row in ends | powers if row < plan.num_envs}
    while len(rows) < plan.compared:
        rows.add(int(generator.integers(plan.num_envs)))
    return sorted(rows)


def checked_inputs(bench: Bench) -> tuple[list[int], list[Any]]:
    """Seeds of the rows and actions of the steps of that rollout, for a batch of `CHECKED_ROWS` rows."""
    seed = bench.seed + CHECKED.num_envs
    driver = drivers.standard(bench.schema, CHECKED.num_envs, seed)
    actions = [driver.actions({}, step) for step in range(CHECKED_STEPS)]
    rows = range(CHECKED_ROWS)
    return seeds_for(CHECKED.num_envs, seed)[:CHECKED_ROWS], [take(action, rows) for action in actions]


def _judged(bench: Bench, coverage: Coverage, done: Done, *, whole: bool) -> Outcome:
    fields, transitions = frame_fields(bench.schema), done.transitions
    idle = bench.used.idle(fields)
    evidence = {
        "compared_transitions": transitions,
        "native_transitions": sum(run.plan.num_envs * len(run.lock.actions) for run in done.runs if bench.native),
        "seconds": {name: round(seconds, 3) for name, seconds in done.seconds.items()},
        "share_of_the_reference": round(done.seconds["reference"] / sum(done.seconds.values()), 3),
        "episodes_per_row_at_least": min(int(run.lock.episodes.min()) for run in done.runs),
        "met": {name: bench.covered.get(name, 0) for name in ("terminated", "truncated", "both", "ended")},
        "rules_met": [name for name in coverage.rules if name not in coverage.unmet],
        "lines_of_reference_never_run": coverage.unreached,
        "tolerances_used": dict(bench.used.share),
        "tolerances_never_needed": idle,
        "checksum": bench.checksums.get("differential"),
    }
    missing: list[str] = []
    if not (whole or bench.quick):  # other parts may yet come to it, and the last ones judge; a quick run does not
        missing += [f"draw slot {d.name}" for d in bench.schema.draws if not bench.covered.get(f"slot:{d.name}")]
        missing += [f"rule {name}" for name in coverage.unmet]
    if not bench.covered.get("ended"):
        missing.append("an episode end")
    if missing:
        return inconclusive(f"nothing differed in {transitions:,} transitions, but never met: {', '.join(missing)}",
                            **evidence)
    message = f"{transitions:,} transitions agree bit for bit"
    if bench.native is not None:
        message += ", in the native form too"
    if bench.used.share:
        message = f"{transitions:,} transitions agree, within tolerances in {', '.join(bench.used.share)}"
    if idle:
        message += f"; weakened for nothing: the tolerance of {', '.join(idle)} was never needed, remove it"
    return passed(message, **evidence)
