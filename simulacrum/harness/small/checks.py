"""The sub-checks of `differential` that look at single steps: a small model whole, and states at the ends of things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, skipped
from simulacrum.harness.small.boundary import Boundary
from simulacrum.harness.small.comparison import Comparison
from simulacrum.harness.small.config import FILE, read_small, small_package
from simulacrum.harness.small.native import Native
from simulacrum.harness.small.walk import Budget, Walk

# A package without small.json is walked as it is, as far as this goes; one with small.json as far as that.
UNASKED = Budget(20_000, 5.0)
ASKED = Budget(2_000_000, 90.0)
QUICK = Budget(4_000, 5.0)
BOUNDARY, BOUNDARY_QUICK = 8_000, 1_000  # transitions of each boundary sub-check


class SingleSteps:
    """The sub-checks by their names, and `native_states`, which goes again where the others have been."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.done: list[Comparison] = []  # those of the package as it is

    def small_model(self) -> Outcome:
        """Every state, action and draw of the small configuration."""
        bench, small = self.bench, read_small(self.bench.package)
        budget = QUICK if bench.quick else UNASKED if small is None else ASKED
        with small_package(bench.package, small) as package:
            walk = Walk(bench, package, budget, small or None)
            with bench.watching(package):
                walk.run()
        if not walk.sound:
            return _failed(walk, "in the small model", walk.evidence())
        if not small:
            self.done.append(walk)
        if walk.complete:
            return passed(f"all {walk.transitions:,} transitions of the small model agree", **walk.evidence())
        within = f"within {budget.transitions:,} transitions or {budget.seconds:g} s"
        if small is None:
            return skipped(f"not enumerable {within}: write {FILE}")
        if bench.quick:
            return passed(f"{walk.transitions:,} transitions of the small model agree: a quick run", **walk.evidence())
        return inconclusive(f"{FILE} leaves more than can be walked {within}: make it smaller", **walk.evidence())

    def boundary_states(self) -> Outcome:
        """One field, the clock or the parameters at an end."""
        return self._boundary("boundary_states", "states with something at its end", Boundary.singles)

    def boundary_pairs(self) -> Outcome:
        """Two fields at their ends together, or a field and the clock."""
        return self._boundary("boundary_pairs", "states with two things at their ends", Boundary.pairs)

    def native_states(self) -> Outcome:
        """One step in the native form from every place of the others, with draws as they come, against the eager."""
        if self.bench.native is None:
            return skipped("the native form is not judged in this run")
        if not self.done:
            self.boundary_states()
        native = Native(self.bench)
        for comparison in self.done:
            found = native.run(comparison)
            if found is not None:
                return failed(f"the native form parts from the eager one: {found.difference.path}", found,
                              native_states=native.states)  # fmt: skip
        return passed(f"{native.states:,} single steps of the native form agree", native_states=native.states)

    def _boundary(self, name: str, what: str, run: Callable[[Boundary], None]) -> Outcome:
        boundary = Boundary(self.bench, BOUNDARY_QUICK if self.bench.quick else BOUNDARY)
        run(boundary)
        if not boundary.sound:
            return _failed(boundary, f"from {what}", {name: boundary.evidence()})
        self.done.append(boundary)
        count, states = boundary.compared, len(boundary.sources)
        return passed(f"{count:,} transitions from {states:,} {what} agree", **{name: boundary.evidence()})


def _failed(comparison: Comparison, where: str, evidence: dict[str, Any]) -> Outcome:
    if comparison.found is None:
        return failed(comparison.problem or "", **evidence)
    return failed(f"the twins part {where}: {comparison.found.difference.path}", comparison.found, **evidence)
