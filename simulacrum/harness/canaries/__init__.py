"""Canaries: faults planted in every full validation, to see that each check can still fail.

A passing check is worth as much as its comparison, and a comparison that looks at the wrong row or leaves a field out
passes everything. So each check is also run, by its own code, on `canary`, a tiny package, with one small fault planted
in it, and has to fail for the right reason. A check that lets a canary through is not counted as passed.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simulacrum.contract import loader
from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome, Progress, no_progress
from simulacrum.harness.canaries.faults import CANARIES, Canary
from simulacrum.harness.running import run_check

STAGE = "canaries"  # its name where progress is shown
HOME = Path(__file__).with_name("canary")

@dataclass
class Caught:
    """How the canaries of one check ended: their number, and what was wrong with those that got through."""

    planted: int = 0
    missed: list[str] = field(default_factory=list[str])

    @property
    def evidence(self) -> dict[str, Any]:
        """As the report keeps it."""
        return {"planted": self.planted, "caught": self.planted - len(self.missed), "missed": list(self.missed)}


class Aviary:
    """The canary package and its planted copies, in a folder that goes with it. A context manager.

    sung: canaries so far. cost: the seconds that they took.
    """

    def __init__(self) -> None:
        self.kept = tempfile.TemporaryDirectory(prefix="simulacrum-canary-")
        self.folder = Path(self.kept.name)
        self.base = EnvPackage.open(HOME, f"path {HOME}")
        self.sung, self.cost = 0, 0.0

    def __enter__(self) -> Aviary:
        return self

    def __exit__(self, *given: object) -> None:
        self.kept.cleanup()

    def judged(self, check: str, outcome: Outcome, progress: Progress = no_progress) -> Outcome:
        """The outcome of a check with its canaries in the evidence; it does not pass where one got through."""
        if outcome.status != "passed":
            return outcome
        progress(STAGE, check, self.sung, len(CANARIES))
        caught = self.sing(check)
        self.sung += caught.planted
        progress(STAGE, f"planted {self.sung}, in {self.cost:.1f} s", self.sung, len(CANARIES))
        if not caught.planted:
            return outcome
        outcome = replace(outcome, evidence={**outcome.evidence, "canaries": caught.evidence})
        if not caught.missed:
            return outcome
        message = f"the check did not see a fault that was planted for it: {'; '.join(caught.missed)}"
        return replace(outcome, status="inconclusive", message=message)

    def sing(self, check: str) -> Caught:
        """Run the check on each of its canaries."""
        began, found = time.perf_counter(), Caught()
        for canary in CANARIES:
            if canary.check == check:
                found.planted += 1
                missed = self.missed(canary)
                found.missed += [] if missed is None else [f"{canary.name}: {missed}"]
        self.cost += time.perf_counter() - began
        return found

    def missed(self, canary: Canary) -> str | None:
        """Why the check did not catch a canary, or None: it failed, and spoke of the fault."""
        package = self._planted(canary)
        forms = ("eager", "inductor") if canary.check == "benchmark_factory_parity" else ("eager",)
        asked = frozenset({canary.path}) if canary.part else frozenset[str]()
        bench = Bench(package, forms=forms, quick=True, failures=self.folder / "failures", asked=asked, shrink=False)
        try:
            with canary.patch() if canary.patch is not None else contextlib.nullcontext():
                outcome, _ = run_check(bench, canary.check)
        finally:
            loader.forget(package.import_name)
        return _unnoticed(canary, outcome)

    def _planted(self, canary: Canary) -> EnvPackage:
        folder = self.folder / str(CANARIES.index(canary)) / HOME.name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(HOME, folder, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*report.json"))
        for name, old, new in canary.edits:
            text = (folder / name).read_text("utf-8")
            assert text.count(old) == 1, f"{name} of the canary holds {text.count(old)} times: {old!r}"
            (folder / name).write_text(text.replace(old, new), "utf-8")
        package = EnvPackage(self.base.name, self.base.env_id, folder, f"path {folder}")
        if all(name != "schema.json" for name, _, _ in canary.edits):
            package.__dict__["schema"] = self.base.schema  # read once: reading it takes longer than some checks
        return package


def _unnoticed(canary: Canary, outcome: Outcome) -> str | None:
    if outcome.status != "failed":
        return f"{canary.path} {outcome.status}"
    if "kind" in outcome.evidence:
        return f"{canary.path} broke: {outcome.message.splitlines()[0]}"
    found = outcome.divergence
    fields = [] if found is None else [one.path for one in (found.difference, *found.others)]
    untold = [words for words in canary.told if words not in fields and words not in outcome.message]
    return f"{canary.path} did not speak of {', '.join(untold)}: {outcome.message.splitlines()[0]}" if untold else None

