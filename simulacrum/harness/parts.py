"""The named sub-checks that a check consists of, run and gathered.

    parts = Parts(bench)
    parts.run("rollouts", lambda: rollouts(bench))     # only where the run asked for it
    return parts.joined()

A check stands only where each of its sub-checks does: the first that failed speaks for it, and one that is inconclusive
makes it so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from simulacrum.attest.catalog import SUB_CHECKS_OF
from simulacrum.attest.record import CheckResult
from simulacrum.harness.bench import Bench, Outcome


class Parts:
    """What the sub-checks of the check that `bench` is at have found so far."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.results: dict[str, CheckResult] = {}
        self.outcomes: dict[str, Outcome] = {}

    def run(self, name: str, sub_check: Callable[[], Outcome]) -> Outcome | None:
        """Run a sub-check if it was asked for and nothing before it failed; its outcome, None if it was not run."""
        if (self.failed is not None and not self.bench.keep_going) or not self.bench.wants(name):
            return None
        began = time.perf_counter()
        outcome = sub_check()
        return self.note(name, outcome, time.perf_counter() - began)

    def note(self, name: str, outcome: Outcome, seconds: float = 0.0) -> Outcome:
        """Keep the outcome of a sub-check that was judged along the way. `name` must be in the catalogue."""
        listed = SUB_CHECKS_OF.get(self.bench.check, ())
        assert name in listed, f"{self.bench.check}.{name} is not in attest/catalog.py: {', '.join(listed)}"
        self.results[name], self.outcomes[name] = outcome.result(seconds), outcome
        return outcome

    @property
    def failed(self) -> Outcome | None:
        """The first sub-check that failed."""
        return next((one for one in self.outcomes.values() if one.status == "failed"), None)

    def outcome(self, message: str, **evidence: Any) -> Outcome:
        """The check's own outcome. `message` is said where every sub-check passed (or had nothing to judge)."""
        for status in ("failed", "inconclusive"):
            for name, one in self.outcomes.items():
                if one.status == status:
                    told = one.message if len(self.outcomes) == 1 else f"{name}: {one.message}"
                    return Outcome(status, told, evidence, one.divergence, self.results)
        return Outcome("passed", message, evidence, None, self.results)

    def joined(self, *leading: str) -> Outcome:
        """The check's own outcome where its sub-checks say all there is: their messages, and their evidence merged.

        `leading` names those that are quoted where all of them have run; the others are then counted.
        """
        said = {name: one.message for name, one in self.outcomes.items() if one.message and one.status == "passed"}
        told = list(said.values())
        if leading and set(leading) <= set(said):
            rest = len(said) - len(leading)
            told = [said[name] for name in leading] + [f"{rest} more parts hold"] * bool(rest)
        merged = {name: value for one in self.outcomes.values() for name, value in one.evidence.items()}
        return self.outcome("; ".join(told), **merged)
