"""The sub-checks of `differential` that look at single steps: `small_model`, `boundary_states`, `boundary_pairs`."""

from __future__ import annotations

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, skipped
from simulacrum.harness.coverage import Coverage
from simulacrum.harness.small.config import FILE, read_small, small_package
from simulacrum.harness.small.walk import Budget, Walk

# A package without small.json is walked as it is, as far as this goes; one with small.json as far as that.
UNASKED = Budget(20_000, 5.0)
ASKED = Budget(2_000_000, 60.0)


def small_model(bench: Bench, coverage: Coverage) -> Outcome:
    """Every state, action and draw of the small configuration; `coverage` learns what that has exercised."""
    small = read_small(bench.package)
    budget = UNASKED if small is None else ASKED
    with small_package(bench.package, small) as package:
        walk = Walk(bench, package, budget, small or None)
        with coverage.watching(package):
            walk.run()
    evidence = walk.evidence()
    if walk.found is not None:
        return failed(f"the twins part in the small model: {walk.found.difference.path}", walk.found, **evidence)
    if walk.problem is not None:
        return failed(walk.problem, **evidence)
    if walk.complete:
        return passed(f"all {walk.transitions:,} transitions of the small model agree", **evidence)
    within = f"within {budget.transitions:,} transitions or {budget.seconds:g} s"
    if small is None:
        return skipped(f"not enumerable {within}: write {FILE}")
    return inconclusive(f"{FILE} leaves more than can be walked {within}: make it smaller", **evidence)
