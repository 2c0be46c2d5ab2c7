"""One mutant before the required checks, what is cheap first: does any of them see it?

The order is chosen for the first failure to come soon: what reading finds, then the sub-checks of rules and of their
interactions, then a fraction of each check, then all of each. A failure in a fraction is a failure only where the whole
check fails as well, so that a kill is always one of a full validation.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum import errors
from simulacrum.attest.catalog import CHECKS, SUB_CHECKS
from simulacrum.contract import loader
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import SimulacrumError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.running import run_check
from simulacrum.harness.small.answers import Answers
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.place import spoken_of
from simulacrum.mutate.verdict import KILLED, LOST, SAME_GRAPH, STILLBORN, SURVIVED, Verdict

FIRST = "spec_contract"  # reads the files; nothing else is worth running on a package that it refuses
SMALL_MODEL = "differential.small_model"
# Checks that are made of their sub-checks alone: those that have been run need not be run again with the rest.
PARTED = ("differential",)
NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.so", "*.json.tmp", "validation_report.json", "failures", "*.md~")


@dataclass(frozen=True)
class Settings:
    """How mutants of a package are judged.

    forms: as in the battery, "eager" first. quick: a fraction of the work decides; the score is then not one of the
    battery. matrix: every check on every mutant, without stopping. unread: without the check that reads the files, so
    that how a fault is spelled plays no part. whole: no fraction of a check before all of it, for what should pass.
    reading: that check alone, for what has the original's graph. scratch: a folder for copies and failure files.
    """

    package: EnvPackage
    scratch: Path
    forms: tuple[str, ...] = ("eager",)
    quick: bool = False
    matrix: bool = False
    unread: bool = False
    whole: bool = False
    reading: bool = False


@dataclass(frozen=True)
class Stage:
    """One check to run: all of it, or the sub-checks in `asked`; `quick`, a fraction of it.

    answered: what the reference answered beside other mutants is taken over. That is faster, and says nothing about
    what the reference's run exercises; so who passes is asked once more without it.
    """

    check: str
    asked: frozenset[str] = frozenset()
    quick: bool = False
    answered: bool = False


def required_checks(forms: tuple[str, ...] = ("eager",)) -> tuple[str, ...]:
    """The checks whose failure counts, in the catalogue's order."""
    wanted = ["yes", "if supplied", *(["per configuration"] if len(forms) > 1 else [])]
    return tuple(check.name for check in CHECKS if check.required in wanted)


def stages(settings: Settings) -> Iterator[Stage]:
    """What is run, in order, as long as nothing fails."""
    checks = required_checks(settings.forms)
    if not settings.unread:
        yield Stage(FIRST)
    if settings.reading:
        return
    rest = [name for name in checks if name != FIRST]
    if settings.matrix:
        yield from (Stage(name, quick=settings.quick) for name in rest)
        return
    early = {name: [one for one in SUB_CHECKS if one.check == name and one.level <= 2] for name in PARTED}
    single_steps = [
        Stage(name, asked, settings.quick)
        for level in (1, 2)
        for name in PARTED
        if (asked := frozenset(one.path for one in early[name] if one.level == level))
    ]
    if not settings.whole:
        yield from (replace(stage, answered=True) for stage in single_steps)
    later = {
        name: frozenset(one.path for one in SUB_CHECKS if one.check == name and one.level > 2) if early.get(name) else
        frozenset[str]()
        for name in rest
    }
    if not (settings.quick or settings.whole):
        yield from (Stage(name, later[name], quick=True) for name in rest)
    yield from single_steps
    yield from (Stage(name, later[name], settings.quick) for name in rest)


@dataclass
class Judge:
    """One mutant on its way through the stages."""

    settings: Settings
    mutant: Mutant
    package: EnvPackage
    scratch: Path
    answers: Answers
    began: float = field(default_factory=time.perf_counter)
    checks: dict[str, str] = field(default_factory=dict[str, str])
    small_model: bool = False
    killed: Verdict | None = None

    def __post_init__(self) -> None:
        self.benches = {quick: self._bench(quick) for quick in (True, False)}

    def _bench(self, quick: bool) -> Bench:
        return Bench(
            self.package, forms=self.settings.forms, quick=quick, failures=self.scratch / "failures", shrink=False,
            keep_going=self.settings.matrix,
        )  # fmt: skip

    def verdict(self) -> Verdict:
        """Run the stages and say how it ended."""
        found = unfit(self.package)
        if found is not None:
            return Verdict(self.mutant.id, STILLBORN, why=found, spent=self.spent)
        for stage in stages(self.settings):
            outcome = self.run(stage)
            if outcome.status != "failed" or self.killed is not None:
                continue
            if stage.quick and not self.settings.quick:
                outcome = self.run(replace(stage, quick=False))
                if outcome.status != "failed":
                    continue
            if not _by_the_twins(outcome):
                return Verdict(self.mutant.id, LOST, why=f"{stage.check} broke: {_first_lines(outcome.message)}",
                               checks=self.checks, spent=self.spent)
            self.killed = self._killed(stage.check, outcome)
            if not self.settings.matrix or (stage.check == FIRST and not _ran(outcome)):
                break
        verdict = self.killed or Verdict(self.mutant.id, SURVIVED)
        return replace(verdict, checks=self.checks, small_model=self.small_model, spent=self.spent)

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return round(time.perf_counter() - self.began, 3)

    def run(self, stage: Stage) -> Outcome:
        """One stage; its statuses are kept, those of a fraction only until the whole is run."""
        bench = self.benches[stage.quick]
        bench.asked, bench.answers = stage.asked, self.answers if stage.answered else None
        outcome, _ = run_check(bench, stage.check)
        parts = {f"{stage.check}.{name}": one.status for name, one in outcome.parts.items()}
        if not stage.quick or self.settings.quick:
            self.checks.update(parts or {stage.check: outcome.status})
        small = outcome.parts.get(SMALL_MODEL.partition(".")[2])
        if small is not None:
            walked: Any = small.evidence.get("small_model", {})
            self.small_model = small.status == "passed" and bool(walked.get("complete"))
        return outcome

    def _killed(self, check: str, outcome: Outcome) -> Verdict:
        parts = [name for name, one in outcome.parts.items() if one.status == "failed"]
        killer = f"{check}.{parts[0]}" if parts else check
        verdict = Verdict(
            self.mutant.id, KILLED, killer=killer, by_reading=check == FIRST and not _ran(outcome),
            message=_first_lines(outcome.message), seconds=self.spent,
        )
        found = outcome.divergence
        if found is None:
            return verdict
        rule = found.rule.id if found.rule is not None else ""
        rules, names = spoken_of(self.mutant, self.package)
        blamed = found.difference.field or found.difference.kind.rpartition(".")[2]
        return replace(
            verdict, named=found.difference.path, rule=rule, located=rule in rules or blamed in names,
            step=found.step + 1, episode=found.episode, t=found.t, row=found.row,
            transitions=None if found.counts is None else found.counts.transitions_compared,
        )


def judged(settings: Settings, mutant: Mutant, answers: Answers | None = None) -> Verdict:
    """Judge a copy of the package with the mutant in it. Nothing of it stays but what the reference answered."""
    place = settings.scratch / mutant.id
    package = planted(settings.package, mutant, place)
    try:
        return Judge(settings, mutant, package, place, answers or Answers()).verdict()
    finally:
        loader.forget(package.import_name)
        shutil.rmtree(place, ignore_errors=True)


def read(settings: Settings, mutant: Mutant) -> Verdict:
    """Judge what has the original's graph, and so its bits: what is left to ask is whether its text is refused."""
    verdict = judged(replace(settings, reading=True), mutant)
    return replace(verdict, why=SAME_GRAPH) if verdict.status == SURVIVED else verdict


def planted(package: EnvPackage, mutant: Mutant, place: Path) -> EnvPackage:
    """A copy of the package in a folder below `place`, with the mutant's file in place of its own."""
    folder = place / package.folder.name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(package.folder, folder, ignore=NOT_COPIED)
    (folder / mutant.file).write_text(mutant.source, "utf-8")
    return EnvPackage(package.name, package.env_id, folder, f"path {folder}")


def unfit(package: EnvPackage) -> str | None:
    """Why this is no twin at all: it does not import, or its first reset and steps give no frame. None if it is one."""
    try:
        bench = Bench(package, forms=("eager",), failures=package.folder.parent / "failures")
        for twin in ("reference", "fast"):
            package.module(twin)
        from simulacrum.engine.runner import ReferenceRunner

        ReferenceRunner(package).reset(1)
        for rows, mode in ((1, AutoresetMode.NEXT_STEP), (3, AutoresetMode.SAME_STEP)):
            with torch.no_grad():
                env = bench.env(rows, mode=mode)
                env.reset(seed=list(range(1, rows + 1)))
                env.step(drivers.standard(bench.schema, rows, 0).actions({}, 0))
    except SimulacrumError as error:
        return f"{type(error).__name__}: {_first_lines(str(error))}"
    except Exception as error:  # whatever a twin raises
        return f"{type(error).__name__}: {_first_lines(str(error))}"
    return None


def _ran(outcome: Outcome) -> bool:
    """Whether the first check got as far as running the twins."""
    return "rules" in outcome.evidence or "kind" in outcome.evidence


def _by_the_twins(outcome: Outcome) -> bool:
    """Whether a failure is one of the package: an exception that came from elsewhere says nothing about a mutant."""
    kind = str(outcome.evidence.get("kind", ""))
    return not kind or hasattr(errors, kind) or "\n  where: " in outcome.message


def _first_lines(text: str, lines: int = 3) -> str:
    return "\n".join(text.strip().splitlines()[:lines])

