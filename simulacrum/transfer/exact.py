"""The exact form: the same policy in both twins, and every bit of every step must be equal.

Where twins agree bit for bit nothing is left to statistics: one difference in millions of steps is a failure, and is
told with its step, its row, its field and both values, as the battery tells one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, seeds_for
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.shrink.hook import made_small
from simulacrum.trace.divergence import Divergence
from simulacrum.transfer.certificate import CHECK, Standing
from simulacrum.transfer.policies import Policy, names

ROWS, EACH = 32, 4  # rows side by side, and episodes of each before the next rows begin
LONGEST = 20_000  # steps of a row before the next rows begin, whether its episodes have ended or not
Say = Callable[[str, int, int], None]  # what is being done, done, total


@dataclass(frozen=True)
class Played:
    """What one policy did in both twins. returns, lengths: of the first episodes of each row, in the reference."""

    policy: Policy
    transitions: int
    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    divergence: Divergence | None = None

    @property
    def evidence(self) -> dict[str, Any]:
        """As the report keeps it."""
        found = self.divergence
        return {
            **self.policy.about,
            "episodes": len(self.returns),
            "transitions": self.transitions,
            "mean_return": float(np.mean(self.returns)) if self.returns else None,
            "mean_length": float(np.mean(self.lengths)) if self.lengths else None,
            "equal": found is None,
            **({} if found is None else {"first_difference": found.difference.path, "failure": found.id}),
        }


def exact(
    standing: Standing, policies: Sequence[Policy], *, episodes: int, failures: Path, seed: int, say: Say,
    on_policy: Callable[[Played], None] = lambda played: None,
) -> Outcome:  # fmt: skip
    """Let each policy play `episodes` episodes at least in both twins at once, until something differs.

    A policy that meets a difference ends there; the others are still tried. The first difference is made small.
    """
    bench = Bench(standing.package, forms=("eager",), failures=failures, check=CHECK, seed=seed)
    bench.progress = lambda check, what, done, total: say(what, done, total)
    played: list[Played] = []
    first: Divergence | None = None
    with torch.no_grad():
        for policy in policies:
            one = _play(bench, policy, standing.form, episodes, say)
            if one.divergence is not None and first is None:
                first = made_small(bench, failed("", one.divergence)).divergence
            played.append(one)
            on_policy(one)
    return _outcome(standing, played, first)


def _play(bench: Bench, policy: Policy, form: str, episodes: int, say: Say) -> Played:
    returns: list[float] = []
    lengths: list[int] = []
    transitions, block, limit = 0, 0, bench.schema.max_episode_steps
    rows = min(ROWS, max(1, -(-episodes // EACH)))
    most = LONGEST if limit is None else min(LONGEST, EACH * (limit + 1))
    while len(returns) < episodes:
        say(f"{policy.name}: episodes in both twins", len(returns), episodes)
        lock = Lockstep(bench, bench.env(rows, form=form))
        seeds = seeds_for(rows, bench.seed + 7919 * block)
        found = lock.run(policy.driver(bench.schema, rows), seeds, episodes=EACH, most=most)
        transitions, block, before = transitions + lock.transitions, block + 1, len(returns)
        for row in range(rows):
            ends = [one for one, _ in lock.frames[1:] if one["terminated"][row] or one["truncated"][row]]
            # The first ones of each row: what is played until the last row is done would be short ones mostly.
            returns += [float(one["episode_return"][row]) for one in ends[:EACH]]
            lengths += [int(one["episode_length"][row]) for one in ends[:EACH]]
        if found is not None or len(returns) == before:  # a difference, or a policy of which no episode ends
            return Played(policy, transitions, tuple(returns), tuple(lengths), found)
    return Played(policy, transitions, tuple(returns), tuple(lengths))


def _outcome(standing: Standing, played: Sequence[Played], first: Divergence | None) -> Outcome:
    evidence = {
        "form": "exact",
        "batched_form": standing.form,
        "policies": {one.policy.name: one.evidence for one in played},
        "transitions": sum(one.transitions for one in played),
        "episodes": sum(len(one.returns) for one in played),
    }
    parted = [one.policy for one in played if one.divergence is not None]
    if first is not None:
        message = f"the twins part where {names(parted)} plays: {first.difference.path}"
        return failed(message, first, verdict="different", **evidence)
    if not evidence["episodes"]:
        return inconclusive(f"nothing differed, and no episode ended in {evidence['transitions']:,} steps", **evidence)
    message = (
        f"{len(played)} {'policy plays' if len(played) == 1 else 'policies play'} the same in both twins: "
        f"{evidence['episodes']:,} episodes, {evidence['transitions']:,} steps, equal bit for bit"
    )
    return passed(message, verdict="equal", **evidence)
