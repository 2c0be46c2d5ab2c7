"""The full report that a result of level 4 belongs to: it must be there, fit the files, and have passed without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simulacrum.attest.certificate import NATIVE, Certified, certified
from simulacrum.attest.gate import gate_state, require_fresh_report
from simulacrum.attest.record import CheckResult, Report
from simulacrum.attest.report import add_result
from simulacrum.contract.package import EnvPackage
from simulacrum.engine.boundary import core_of
from simulacrum.errors import GateError, UsageError

CHECK = "policy_transfer"
_FASTEST = (NATIVE, "inductor", "eager")


@dataclass(frozen=True)
class Standing:
    """A package with the report that speaks for it. `form` is the form of the batched twin that is looked at."""

    package: EnvPackage
    report: Report
    path: Path
    form: str

    @property
    def earlier(self) -> CheckResult | None:
        """What an earlier run on these very files put into the report."""
        return self.report.checks.get(CHECK)

    def add(self, result: CheckResult) -> Path:
        """Put the result into the report, in one move. Raises ReportError where the files have changed meanwhile."""
        return add_result(self.package, self.path, self.report.whole, CHECK, result)


def standing(package: EnvPackage, form: str | None = None) -> Standing:
    """The report of a package, in the validated form that is named, or in the fastest one.

    A report that only an earlier result of this check speaks against will do: that result is about to be replaced.

    Raises:
        GateError: no passing, full report for the files as they are; says which command makes one.
        UsageError: the form was not validated.
    """
    state = gate_state(package)
    report = state.report
    others = None if report is None else {name: one for name, one in report.checks.items() if name != CHECK}
    again = state.status == "failing" and report is not None and replace(report, checks=others or {}).passed
    if report is None or state.report_path is None or not (state.fresh or again):
        require_fresh_report(package)
        raise GateError(f"{package.env_id} has no report to add to", next_step=state.next_command)
    passed = [one for one in report.configurations if one.outcome == "passed" and one.device_class == "cpu"]
    validated = {one.compile: one for one in passed}
    chosen = form or next((one for one in _FASTEST if one in validated), "eager")
    if chosen not in validated:
        raise UsageError(
            f"the form {chosen!r} of {package.env_id} was not validated",
            expected=f"one of {', '.join(sorted(validated))}",
            next_step=f"{state.next_command} --compile {chosen}",
        )
    if chosen == NATIVE:
        _use(package, certified(state.report_path, validated[NATIVE]))
    return Standing(package, report, state.report_path, chosen)


def _use(package: EnvPackage, binary: Certified | str) -> None:
    """Load the library that was validated; where its file cannot be used here, the form is built anew."""
    from simulacrum.engine.native import load

    if isinstance(binary, Certified):
        core_of(package, package.schema.max_episode_steps).use_native(load(binary.path, binary.sha256))


def history(earlier: CheckResult | None) -> list[Mapping[str, Any]]:
    """What all earlier runs on these files found, oldest first: a run that is repeated until it passes can be seen."""
    if earlier is None:
        return []
    kept: Any = earlier.evidence.get("earlier", [])
    brief = {name: earlier.evidence.get(name) for name in ("form", "verdict", "plan", "finished")}
    return [*kept, {"status": earlier.status, "message": earlier.message, **brief}]
