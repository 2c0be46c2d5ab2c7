"""The sub-checks of `differential` that are about where actions come from, beside its plain rollouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.single import SimulacrumEnv
from simulacrum.engine.vector import FROM_SCHEMA
from simulacrum.harness import illegal
from simulacrum.harness.bench import Bench, Outcome, failed, passed, seeds_for, skipped
from simulacrum.harness.drivers import basic
from simulacrum.harness.drivers.campaign import Campaign
from simulacrum.harness.drivers.novelty import Archive, LoadedLockstep
from simulacrum.harness.drivers.outside import deciding, refusal
from simulacrum.harness.drivers.replayed import Replayed, Tape, params_of, tapes
from simulacrum.harness.lockstep import Lockstep
from simulacrum.trace.divergence import Divergence

GIVEN = "given_policy"  # runs only where there is one
BETWEEN = 3  # legal steps between two illegal ones
REPLAYED_ROWS, MOST_REPLAYED = 16, 120  # rows of a replay, and its steps at most
NOVEL_ROWS, SEGMENT = 16, 8  # rows that restart together, and their steps until the next restart
GENERATIONS, QUICK_GENERATIONS = 24, 6
POLICY_ROWS, POLICY_STEPS = 9, 400


def driven(bench: Bench) -> dict[str, Callable[[Bench, Campaign], Outcome]]:
    """The sub-checks by name, in the order in which they run."""
    found = {"illegal_actions": illegal_actions, "mutated_replays": mutated_replays, "novelty": novelty}
    return found if bench.policy is None else {**found, GIVEN: given_policy}


def illegal_actions(bench: Bench, campaign: Campaign) -> Outcome:
    """Each value just outside the space, in the midst of a rollout that goes on afterwards."""
    if torch.device(bench.device).type != "cpu":
        return skipped("an accelerator reports an illegal action at the next look, not at the step")
    env = bench.env(illegal.ROWS)
    lock, single, refused = Lockstep(bench, env), SimulacrumEnv(bench.package), 0
    single.reset(seed=0)
    driver = basic.standard(bench.schema, illegal.ROWS, bench.seed)
    found, step = lock.reset(seeds_for(illegal.ROWS, bench.seed + 31)), 0
    for name, value, actions in illegal.illegal_actions(bench):
        if not deciding(lock):
            found = found or lock.step(driver.actions(lock.last, step))
        problem = None if found is not None else refusal(lock, single, actions)
        if problem is not None:
            return failed(f"illegal action {value} in {name}, step {step} of a rollout: {problem}")
        refused += 1
        for _ in range(BETWEEN):
            found = found or lock.step(driver.actions(lock.last, step))
            step += 1
        if found is not None:
            return _parted(found, after="an illegal action was refused")
    campaign.reached.add(lock, ["illegal"] * illegal.ROWS)
    return passed(f"{refused} kinds of illegal actions refused on the way", illegal_actions_refused=refused)


def mutated_replays(bench: Bench, campaign: Campaign) -> Outcome:
    """Earlier rows' actions with changes, and unchanged under limits that fall on the end; the modes that reset others.

    An episode that ended by the rules after `length` steps, replayed under a limit of `length`, ends by both at once.
    """
    found = None if campaign.tapes else _record(bench, campaign)
    if found is not None:
        return _parted(found)
    recorded = campaign.tapes
    ended = [tape for tape in recorded if tape.ended == "terminated"]
    shortest = min(ended, key=lambda tape: tape.length, default=None)
    plans: list[tuple[AutoresetMode, Any, list[Tape], bool]] = [
        (AutoresetMode.SAME_STEP, FROM_SCHEMA, _some(recorded, REPLAYED_ROWS), False),
        (AutoresetMode.DISABLED, FROM_SCHEMA, _some(recorded[::-1], REPLAYED_ROWS), False),
        (AutoresetMode.SAME_STEP, 1, _some(recorded, 3), True),
        (AutoresetMode.DISABLED, 2, _some(recorded, 3), True),  # the declared limit may be beyond `MOST_REPLAYED`
    ]
    if shortest is not None:
        plans.append((AutoresetMode.NEXT_STEP, shortest.length, [shortest, *_some(ended, 3)], True))
    transitions = 0
    for number, (mode, limit, chosen, faithful) in enumerate(plans):
        env = bench.env(len(chosen), mode=mode, limit=limit, params=params_of(bench.schema, chosen))
        lock = Lockstep(bench, env)
        driver = Replayed(bench.schema, chosen, bench.seed + number, faithful=faithful)
        most = min(MOST_REPLAYED // (4 if bench.quick else 1), *(max(len(order), 4) for order in driver.order))
        found = lock.run(driver, [tape.seed for tape in chosen], episodes=3, most=max(most, 4))
        if found is not None:
            return _parted(found)
        campaign.reached.add(lock, ["replayed"] * len(chosen))
        transitions += lock.transitions
    return passed(f"{transitions:,} transitions of changed replays agree")


def novelty(bench: Bench, campaign: Campaign) -> Outcome:
    """Short stretches from states that were rarely visited, loaded into both twins."""
    archive, transitions = Archive(bench.schema, bench.seed), 0
    env = bench.env(NOVEL_ROWS)
    driver = basic.standard(bench.schema, NOVEL_ROWS, bench.seed + 77)
    generations = QUICK_GENERATIONS if bench.quick else GENERATIONS
    for generation in range(generations):
        bench.say(f"restarts from {len(archive.places)} kinds of states", generation, generations)
        lock = LoadedLockstep(bench, env)
        seeds = seeds_for(NOVEL_ROWS, bench.seed + 1000 + generation)
        found = lock.begin(archive.rare(NOVEL_ROWS), seeds) if archive.places else lock.reset(seeds)
        for step in range(SEGMENT):
            if found is None:
                archive.add(lock.frames[-1][0])
                found = lock.step(driver.actions(lock.last, step))
        if found is not None:
            return _parted(found, after="states were loaded into both twins")
        archive.add(lock.frames[-1][0])
        campaign.reached.add(lock, ["novelty"] * NOVEL_ROWS)
        transitions += lock.transitions
    return passed(f"{transitions:,} transitions from {len(archive.places)} kinds of states agree")


def given_policy(bench: Bench, campaign: Campaign) -> Outcome:
    """Episodes that the given policy plays: `policy(observation, state, t)` of one row gives its action."""
    if bench.policy is None:
        return skipped("no policy was given")
    lock = Lockstep(bench, bench.env(POLICY_ROWS))
    driver = basic.Scripted("policy", bench.policy, bench.schema, POLICY_ROWS, lock.reading)
    most = POLICY_STEPS // (8 if bench.quick else 1)
    found = lock.run(driver, seeds_for(POLICY_ROWS, bench.seed + 53), episodes=2, most=most)
    if found is not None:
        return _parted(found)
    campaign.reached.add(lock, ["policy"] * POLICY_ROWS)
    return passed(f"{lock.transitions:,} transitions of the given policy agree")


def _record(bench: Bench, campaign: Campaign) -> Divergence | None:
    """Something to replay, where no rollout has been run before."""
    seed = bench.seed + 5
    lock, seeds = Lockstep(bench, bench.env(REPLAYED_ROWS)), seeds_for(REPLAYED_ROWS, seed)
    driver = basic.standard(bench.schema, REPLAYED_ROWS, seed)
    found = lock.run(driver, seeds, episodes=1, most=MOST_REPLAYED)
    campaign.tapes += tapes(lock, seeds, lock.chosen)
    return found


def _some(recorded: Sequence[Tape], count: int) -> list[Tape]:
    """So many of them, spread over all."""
    every = max(1, len(recorded) // count)
    return list(recorded[::every][:count])


def _parted(found: Divergence, after: str = "") -> Outcome:
    return failed(f"the twins part{f' after {after}' if after else ''}: {found.difference.path}", found)
