"""What a validation found: the failures with their first divergence, the report, and what the gate says now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.evidence import show_evidence
from simulacrum.cli.progress import STATUS_STYLES, Plan

if TYPE_CHECKING:
    from simulacrum.attest.gate import GateState
    from simulacrum.harness.battery import BatteryResult
    from simulacrum.harness.bench import Outcome


def show(plan: Plan, result: BatteryResult, seconds: float, *, json: bool, verbose: bool) -> None:
    """Print everything about a finished run that the progress did not show."""
    from simulacrum.attest.gate import gate_state

    gate = gate_state(plan.package)
    if json:
        from simulacrum.cli.events import finished

        terminal.print_json(finished(plan, result, seconds, gate))
        return
    console = terminal.out()
    if verbose:
        _show_evidence(console, result)
    _show_failures(console, result, every=verbose)
    console.print()
    rows: list[tuple[str, str | Text]] = [("result", _verdict(result, seconds))]
    if result.report_path is not None:
        rows.append(("report" if plan.full else "notes", terminal.short_path(result.report_path)))
    rows += [("page", terminal.short_path(path)) for path in _pages(plan, result)]
    if result.note is not None:
        rows.append(("note", result.note))
    planted = [dict(one.evidence["canaries"]) for one in result.outcomes.values() if "canaries" in one.evidence]
    if planted:
        planned, caught = (sum(one[name] for one in planted) for name in ("planted", "caught"))
        rows.append(("canaries", f"planted {planned}, caught {caught}"))
    rows.append(("gate", _gate_line(plan, gate)))
    rows.append(("next", terminal.command(_next_step(plan, result, gate))))
    terminal.facts(console, rows)


def _pages(plan: Plan, result: BatteryResult) -> list[Path]:
    """A page beside the record of each failure."""
    records = [outcome.divergence for outcome in result.outcomes.values() if outcome.divergence is not None]
    if not records:
        return []
    from simulacrum.cli.explaining import pages

    return pages(plan.package, records)


def names(result: BatteryResult, status: str) -> list[str]:
    """The checks that ended so, in order."""
    return [name for name, outcome in result.outcomes.items() if outcome.status == status]


def _show_evidence(console: Console, result: BatteryResult) -> None:
    for name, outcome in result.outcomes.items():
        console.print()
        console.print(Text.assemble((name, "bold"), f": {outcome.status}"))
        show_evidence(console, outcome.evidence)


def _show_failures(console: Console, result: BatteryResult, *, every: bool) -> None:
    shown = False
    for name, outcome in result.outcomes.items():
        if outcome.status not in ("failed", "inconclusive"):
            continue
        lines = outcome.message.splitlines()
        hidden = outcome.divergence is not None and shown and not every
        if len(lines) <= 1 and (outcome.divergence is None or hidden):
            continue  # the line of the check said all there is, or all that is to be shown
        console.print()
        if len(lines) > 1:
            _show_message(console, name, outcome.status, lines)
        if outcome.divergence is not None and not hidden:
            _show_divergence(console, outcome)
            shown = True


def _show_message(console: Console, name: str, status: str, lines: list[str]) -> None:
    console.print(Text.assemble((f"{name}: ", STATUS_STYLES[status]), lines[0]), soft_wrap=True)
    for line in lines[1:]:
        console.print(Text(line), soft_wrap=True)


def _show_divergence(console: Console, outcome: Outcome) -> None:
    from simulacrum.trace.show import render_plain, render_rich

    assert outcome.divergence is not None
    if console.is_terminal:
        console.print(render_rich(outcome.divergence))
    else:
        console.print(render_plain(outcome.divergence), soft_wrap=True)


def _verdict(result: BatteryResult, seconds: float) -> Text:
    count = len(result.outcomes)
    if result.passed:
        what = f"{count} check{'s' if count != 1 else ''} in {seconds:.1f} s"
        return Text.assemble(("passed", "bold green"), f": {what}{_aside(result)}")
    failed = [*names(result, "failed"), *names(result, "inconclusive")]
    return Text.assemble(("FAILED", "bold red"), f": {', '.join(failed)} ({count} checks in {seconds:.1f} s)")


def _aside(result: BatteryResult) -> str:
    skipped = names(result, "skipped")
    return f" ({', '.join(skipped)} skipped)" if skipped else ""


def _gate_line(plan: Plan, gate: GateState) -> Text:
    if gate.fresh and gate.report is not None:
        opened = [one.title for one in gate.report.configurations if one.outcome == "passed"]
        line = Text.assemble(("open", "bold green"), f" for {', '.join(opened)}")
    else:
        why = f": {'; '.join(gate.why[:3])}" if plan.full else ""
        line = Text.assemble(("closed", "bold red"), f" ({gate.status.replace('_', ' ')}){why}")
    return line if plan.full else Text.assemble(line, ", as before: a partial run grants nothing and revokes nothing")


def _next_step(plan: Plan, result: BatteryResult, gate: GateState) -> str:
    for outcome in result.outcomes.values():
        if outcome.divergence is not None and outcome.divergence.command:
            return outcome.divergence.command
    validate = f"simulacrum validate {terminal.spoken(plan.package)}"
    failed = [*names(result, "failed"), *names(result, "inconclusive")]
    if not result.passed and failed:
        again = "" if plan.level is None else f" --level {plan.level}"
        return f"{validate} -k {failed[0]}{again}"
    if plan.level is not None and plan.level < 3:
        return f"{validate} --level {plan.level + 1}"
    if not gate.fresh:
        return validate
    return f'gymnasium.make_vec("{plan.package.env_id}", num_envs=1024, vectorization_mode="vector_entry_point")'
