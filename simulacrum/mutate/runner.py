"""All mutants of a package: which of them are faults at all, and which of those the battery finds."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simulacrum.attest.gate import gate_state, wanted_configuration
from simulacrum.attest.mutation import digests
from simulacrum.contract.digest import compute_digest
from simulacrum.errors import UsageError
from simulacrum.mutate.argued import Argument, argument_for, arguments
from simulacrum.mutate.equivalence import Trace, capture_of, trace_of
from simulacrum.mutate.judge import Settings
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.plan import TIME, Plan, chosen_mutants
from simulacrum.mutate.pool import Lost, Pool
from simulacrum.mutate.results import Results
from simulacrum.mutate.verdict import DUPLICATE, EQUIVALENT, LOST, SAME_GRAPH, STILLBORN, SURVIVED, TIMEOUT, Verdict

CONTROL = "control"


@dataclass
class Watcher:
    """Told what happens. The base says nothing."""

    def planned(self, chosen: Sequence[Mutant], total: int) -> None:
        """Which mutants are looked at, of how many."""

    def stage(self, what: str, done: int, total: int) -> None:
        """How far "trace", "capture" or "judge" has come."""

    def began(self, mutant: Mutant) -> None:
        """A process has taken a mutant."""

    def ended(self, mutant: Mutant, verdict: Verdict, again: bool) -> None:
        """A mutant's verdict; `again` where it is one of an earlier run."""


@dataclass
class Run:
    """A run in the making and its outcome: verdicts by mutant id, in the order of `chosen`.

    files: hashes of the package and of the framework as the run began.
    """

    plan: Plan
    watcher: Watcher = field(default_factory=Watcher)
    chosen: list[Mutant] = field(default_factory=list[Mutant])
    total: int = 0
    verdicts: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    seconds: float = 0.0
    judged: int = 0
    files: tuple[str, str] = ("", "")

    def go(self) -> Run:
        """Do it all. Raises UsageError where nothing is left to run, and what reading the package raises."""
        began = time.perf_counter()
        self.files = digests(self.plan.package)
        self.chosen, self.total = chosen_mutants(self.plan)
        self.watcher.planned(self.chosen, self.total)
        argued = arguments(self.plan.package)
        results = Results.open(self.plan.output, self._about())
        left = [mutant for mutant in self.chosen if not self._known(mutant, results, argued)]
        with tempfile.TemporaryDirectory(prefix="simulacrum-mutate-") as scratch:
            plan = self.plan
            settings = Settings(
                plan.package, Path(scratch), plan.forms, plan.quick, plan.matrix, plan.unread, whole=plan.rewrites
            )  # fmt: skip
            jobs = min(plan.jobs, max(len(left), 1))
            # The package as it is runs all checks to their ends, which a short time for a mutant is not meant for.
            with Pool(settings, jobs, plan.timeout, self.watcher.began, {CONTROL: TIME}) as pool:
                left = self._traced(pool, left, results)
                # What is said to be no fault takes a whole battery: last, so that all others are known before.
                left.sort(key=lambda mutant: argument_for(mutant, argued) is not None)
                control = [] if plan.only or not left or _validated(plan) else [_control(plan)]
                for mutant, answer in pool.answers("judge", [*control, *left]):
                    if mutant.kind == CONTROL:
                        _check_control(plan, answer)
                        continue
                    self.judged += 1
                    self._note(mutant, _verdict(mutant, answer), results, argued)
                    self.watcher.stage("judge", self.judged, len(left))
        results.save()
        self.seconds = time.perf_counter() - began
        return self

    def _about(self) -> dict[str, Any]:
        plan = self.plan
        digest = compute_digest(plan.package)
        return {
            "digest": digest.whole, "forms": plan.forms, "quick": plan.quick, "matrix": plan.matrix,
            "unread": plan.unread,
        }  # fmt: skip

    def _known(self, mutant: Mutant, results: Results, argued: dict[str, Argument]) -> bool:
        verdict = results.get(mutant)
        if verdict is None or (verdict.status == DUPLICATE and not any(one.id == verdict.of for one in self.chosen)):
            return False
        self.verdicts[mutant.id] = _with_argument(mutant, replace(verdict, id=mutant.id), argued)
        self.watcher.ended(mutant, self.verdicts[mutant.id], True)
        return True

    def _note(self, mutant: Mutant, verdict: Verdict, results: Results, argued: dict[str, Argument]) -> None:
        """Keep what the battery said; a reason in writing, which may come or go, is weighed anew by each run."""
        results.put(mutant, verdict)
        self.verdicts[mutant.id] = _with_argument(mutant, verdict, argued)
        self.watcher.ended(mutant, self.verdicts[mutant.id], False)

    def _traced(self, pool: Pool, waiting: list[Mutant], results: Results) -> list[Mutant]:
        """Those that are faults of their own, as far as graphs tell; the others get their verdicts here."""
        traces = self._answered(pool, "trace", waiting)
        original = trace_of(self.plan.package)
        same = [one for one in waiting if original.graph and traces[one.id].graph == original.graph]
        captures = self._answered(pool, "capture", same)
        whole = capture_of(self.plan.package) if same else Trace()
        equal = {name for name, trace in captures.items() if whole.graph and trace.graph == whole.graph}
        if self.plan.rewrites:
            return self._read(pool, waiting, equal, results)
        left: list[Mutant] = []
        first: dict[str, str] = {original.graph: ""}
        for mutant in waiting:  # in the order of the list, so that of two alike the earlier one stays
            verdict = _by_graph(mutant, traces[mutant.id], first, equal)
            if verdict is None:
                left.append(mutant)
            else:
                self._note(mutant, verdict, results, {})
        return left

    def _read(self, pool: Pool, waiting: list[Mutant], equal: set[str], results: Results) -> list[Mutant]:
        """The rewrites that have to be run; of the others, which compute what the original does, the text is judged."""
        same = [one for one in waiting if one.id in equal]
        for done, (mutant, answer) in enumerate(pool.answers("read", same), 1):
            self._note(mutant, _verdict(mutant, answer), results, {})
            self.watcher.stage("read", done, len(same))
        return [one for one in waiting if one.id not in equal]

    def _answered(self, pool: Pool, kind: str, waiting: list[Mutant]) -> dict[str, Trace]:
        found: dict[str, Trace] = {}
        for mutant, answer in pool.answers(kind, waiting):
            found[mutant.id] = answer if isinstance(answer, Trace) else Trace()
            self.watcher.stage(kind, len(found), len(waiting))
        return found


def _by_graph(mutant: Mutant, trace: Trace, first: dict[str, str], equal: set[str]) -> Verdict | None:
    """What a mutant's graph says of it, or None; `first` maps graphs to the mutant that showed them first."""
    if trace.unfit:
        return Verdict(mutant.id, STILLBORN, why=trace.unfit)
    if mutant.id in equal:
        return Verdict(mutant.id, EQUIVALENT, why=SAME_GRAPH)
    if not trace.graph or first.setdefault(trace.graph, mutant.id) in ("", mutant.id):
        return None
    of = first[trace.graph]
    return Verdict(mutant.id, DUPLICATE, of=of, why=f"the same graph as {of}")


def _validated(plan: Plan) -> bool:
    """Whether a report says already that these files pass these very checks, in full."""
    return plan.forms == ("eager",) and gate_state(plan.package, wanted_configuration()).fresh


def _control(plan: Plan) -> Mutant:
    """The package as it is. Where it does not pass, a failure says nothing about a mutant."""
    text = (plan.package.folder / plan.files[0]).read_text("utf-8")
    return Mutant(CONTROL, CONTROL, "nothing is changed", plan.files[0], 1, "", "", text, original=text)


def _check_control(plan: Plan, answer: Any) -> None:
    if isinstance(answer, Verdict) and answer.status == SURVIVED:
        return
    found = answer.message or answer.why if isinstance(answer, Verdict) else "it ran out of time, or its process ended"
    by = f" by {answer.killer}" if isinstance(answer, Verdict) and answer.killer else ""
    raise UsageError(
        f"the package is refused{by} as it is, so no mutant of it can be judged", found=found,
        where=plan.package.folder, next_step="run `simulacrum validate` on it and mend what it finds",
    )  # fmt: skip


def _verdict(mutant: Mutant, answer: Any) -> Verdict:
    if isinstance(answer, Lost):
        why = f"given up after {answer.seconds:.0f} s" if answer.timeout else "its process ended"
        return Verdict(mutant.id, TIMEOUT if answer.timeout else LOST, why=why, spent=answer.seconds)
    return answer


def _with_argument(mutant: Mutant, verdict: Verdict, argued: dict[str, Argument]) -> Verdict:
    """A survivor whose equivalence is argued in writing and not contradicted by a completely enumerated small model."""
    argument = argument_for(mutant, argued)
    if verdict.status != SURVIVED or argument is None:
        return verdict
    if not verdict.small_model:
        return replace(verdict, why=f"argued to be no fault ({argument.reason}), but the small model is not complete")
    return replace(verdict, status=EQUIVALENT, why=f"equivalent in the small model: {argument.reason}")
