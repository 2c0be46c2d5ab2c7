"""`differential`: reference and batched agree bit for bit, over several batch sizes, drivers and episode ends.

Every row that is compared has a reference of its own beside it. Everything that a step shows is compared on bits:
state, observation, reward, both flags, info, mask, and the engine's clock and statistics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulacrum.engine.vector import FROM_SCHEMA
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, seeds_for
from simulacrum.harness.compare import checksum
from simulacrum.harness.frames import BatchSide
from simulacrum.harness.lockstep import Lockstep
from simulacrum.trace.divergence import Divergence

EPISODES = 3  # per compared row, at least
UNLIMITED = 250  # steps, for an environment without a time limit
CHECKSUM_RUN = (1000, 50)  # rows and steps of the rollout whose checksum `throughput` must reproduce


@dataclass(frozen=True)
class Plan:
    """One lockstep run: batch size, how many of its rows get references, and what is varied."""

    num_envs: int
    compared: int
    params: bool = False  # parameters drawn per row from their declared bounds
    scripted: bool = False  # driven by the package's probes
    limit: object = FROM_SCHEMA


FULL = (
    Plan(1, 1),
    Plan(2, 2),
    Plan(3, 3, params=True),
    Plan(17, 17, scripted=True),
    Plan(64, 64, params=True),
    Plan(513, 513),
    Plan(4097, 48, limit=7),
)
QUICK = (Plan(1, 1), Plan(7, 7, params=True), Plan(65, 65))


def run(bench: Bench) -> Outcome:
    """All plans, smallest batch first; the first divergence ends the check."""
    transitions, smallest = 0, None
    plans = QUICK if bench.quick else FULL
    for number, plan in enumerate(plans):
        bench.say(f"{plan.num_envs} rows", number, len(plans))
        lock, found = _run(bench, plan, bench.seed + number)
        transitions += lock.transitions
        if found is not None:
            return failed(f"the twins part: {found.difference.path}", found, compared_transitions=transitions)
        least = int(lock.episodes.min())
        smallest = least if smallest is None else min(smallest, least)
    if not bench.quick:
        bench.checksums["differential"] = reference_checksum(bench)
    return _judged(bench, transitions, smallest or 0)


def _run(bench: Bench, plan: Plan, seed: int) -> tuple[Lockstep, Divergence | None]:
    params = bench.row_params(plan.num_envs, seed) if plan.params else None
    env = bench.env(plan.num_envs, limit=plan.limit, params=params)
    rows = None if plan.compared == plan.num_envs else _sample(plan, seed)
    lock = Lockstep(bench, env, rows)
    probes = bench.package.probes() if plan.scripted else None
    driver = drivers.standard(bench.schema, plan.num_envs, seed)
    if probes is not None:
        scripted = [drivers.Scripted(p.name, p.act, bench.schema, lock.readings) for p in probes.PROBES]
        driver = drivers.Mixed([*scripted, *driver.drivers], plan.num_envs)
    limit = env.max_episode_steps
    most = UNLIMITED if limit is None else EPISODES * (limit + 1)
    return lock, lock.run(driver, seeds_for(plan.num_envs, seed), episodes=EPISODES, most=most)


def _sample(plan: Plan, seed: int) -> list[int]:
    """Compared rows of a large batch: the first, the last, those around powers of two, and random others."""
    generator = np.random.default_rng(seed)
    fixed = {0, 1, plan.num_envs - 1, plan.num_envs - 2, *(2**k for k in range(1, 12)), *(2**k - 1 for k in range(2, 13))}
    rows = {row for row in fixed if row < plan.num_envs}
    while len(rows) < plan.compared:
        rows.add(int(generator.integers(plan.num_envs)))
    return sorted(rows)


def checksum_rollout(bench: Bench) -> tuple[list[int], list[object]]:
    """Seeds and actions of the rollout that `differential` and `throughput` both run."""
    num_envs, steps = CHECKSUM_RUN
    driver = drivers.standard(bench.schema, num_envs, bench.seed)
    return seeds_for(num_envs, bench.seed), [driver.actions({}, step) for step in range(steps)]


def reference_checksum(bench: Bench) -> str:
    """The checksum of that rollout, from a lockstep run in which every bit was compared."""
    seeds, actions = checksum_rollout(bench)
    env = bench.env(len(seeds))
    side = BatchSide(env)
    frames = [side.reset(seed=seeds)]
    frames.extend(side.step(action) for action in actions)
    return checksum(frames)


def _judged(bench: Bench, transitions: int, episodes: int) -> Outcome:
    evidence = {
        "compared_transitions": transitions,
        "episodes_per_row_at_least": episodes,
        "met": {name: bench.covered.get(name, 0) for name in ("terminated", "truncated", "both", "ended")},
        "checksum": bench.checksums.get("differential"),
    }
    missing = [f"draw slot {d.name}" for d in bench.schema.draws if not bench.covered.get(f"slot:{d.name}")]
    if not bench.covered.get("ended"):
        missing.append("an episode end")
    if missing:
        return inconclusive(f"never met: {', '.join(missing)}", **evidence)
    return passed(f"{transitions:,} transitions agree bit for bit", **evidence)
