"""The events that `simulacrum validate --json` prints, one JSON object a line; `events.schema.json` states them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulacrum.cli import terminal
from simulacrum.cli.outcome import names
from simulacrum.cli.progress import Plan, View

if TYPE_CHECKING:
    from simulacrum.attest.gate import GateState
    from simulacrum.attest.record import CheckResult
    from simulacrum.harness.battery import BatteryResult
    from simulacrum.harness.bench import Outcome
    from simulacrum.trace.divergence import Divergence

VERSION = 1  # of the events; a name that is added does not change it, one that goes or means something else does
QUIET = 10.0  # seconds without an event, after which a JSON stream says that the run goes on


class JsonView(View):
    """One JSON object a line as things happen (`events.schema.json`)."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.spoke = time.perf_counter()

    def say(self, event: Mapping[str, Any]) -> None:
        """Print one event."""
        self.spoke = time.perf_counter()
        terminal.print_json(event)

    def __enter__(self) -> View:
        plan = self.plan
        self.say(
            {
                "event": "started",
                "version": VERSION,
                "package": plan.package.name,
                "env_id": plan.package.env_id,
                "folder": str(plan.package.folder),
                "checks": plan.checks,
                "forms": plan.forms,
                "device": plan.device,
                "quick": plan.quick,
                "full": plan.full,
                "level": plan.level,
            }
        )
        return self

    def ended(self, check: str, outcome: Outcome, seconds: float) -> None:
        """Say what a check has come to."""
        from simulacrum.attest.canonical import plain

        divergence = None if outcome.divergence is None else outcome.divergence.to_json()
        self.say(
            {
                "event": "check",
                "name": check,
                "status": outcome.status,
                "seconds": round(seconds, 3),
                "message": outcome.message,
                "evidence": plain(dict(outcome.evidence), f"evidence of {check}"),
                "divergence": divergence,
                "explanation": None if outcome.divergence is None else explained(self.plan, outcome.divergence),
                "parts": {name: _part(f"{check}.{name}", part) for name, part in outcome.parts.items()},
            }
        )

    def progress(self, check: str, what: str, done: int, total: int) -> None:
        if time.perf_counter() - self.spoke >= QUIET:
            self.say({"event": "progress", "name": check, "what": what, "done": done, "total": total})


def explained(plan: Plan, record: Divergence) -> dict[str, Any] | None:
    """All that a program needs to mend the twins; None where the package cannot even be read for it."""
    from simulacrum.harness.explain import explain

    package = plan.package
    env = package.folder if package.origin.startswith("path") else None
    try:
        return explain(record, package, env=env).to_json()
    except Exception as error:  # the failure itself must come out, whatever the package does when it is asked again
        terminal.warn(f"the failure {record.id} cannot be explained: {error}")
        return None


def _part(name: str, part: CheckResult) -> dict[str, Any]:
    from simulacrum.attest.canonical import plain

    return {
        "status": part.status,
        "seconds": round(part.seconds, 3),
        "message": part.message,
        "evidence": plain(dict(part.evidence), f"evidence of {name}"),
    }


def finished(plan: Plan, result: BatteryResult, seconds: float, gate: GateState) -> dict[str, Any]:
    """The last event of a run that came to its end."""
    report = result.report_path
    return {
        "event": "finished",
        "passed": result.passed,
        "full": plan.full,
        "seconds": round(seconds, 3),
        "failed": names(result, "failed"),
        "inconclusive": names(result, "inconclusive"),
        "report": None if report is None else str(report),
        "note": result.note,
        "gate": {"status": gate.status, "why": gate.why, "next_command": gate.next_command},
    }
