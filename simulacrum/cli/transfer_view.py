"""What `simulacrum transfer` shows while it runs, and what it found."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.status import Status
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.progress import STATUS_STYLES

if TYPE_CHECKING:
    from simulacrum.attest.gate import GateState
    from simulacrum.harness.bench import Outcome
    from simulacrum.transfer.certificate import Standing
    from simulacrum.transfer.exact import Played
    from simulacrum.transfer.statistical import Trained

QUIET = 10.0  # seconds without a line, after which a JSON stream says that the run goes on


class View:
    """A run for people: lines in a log, and in a terminal one that moves. A context manager around the run."""

    def __init__(self, known: Standing, fields: list[str]) -> None:
        self.known, self.fields, self.began = known, fields, time.perf_counter()
        self.spoke = self.began
        self.console = terminal.out()
        self.status: Status | None = None

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.began

    def __enter__(self) -> View:
        package, how = self.known.package, "bit for bit"
        if self.fields:
            how = f"within tolerances in {', '.join(self.fields)}"
        self.console.print(
            Text.assemble((package.env_id, "bold"), f"  {terminal.short_path(package.folder)}"), soft_wrap=True
        )
        line = f"{self.known.form} form beside the reference; the twins agree {how}"
        self.console.print(Text(line, style="dim"), soft_wrap=True)
        self.console.print()
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self.status = self.console.status("")
            self.status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status is not None:
            self.status.stop()

    def started(self, about: Mapping[str, Any]) -> None:
        """The policies are chosen, or the plan is made and about to be written down."""
        plan = about.get("plan")
        if plan is not None:
            each = "the same seeds in both" if plan["paired"] else "other seeds in each"
            self._line(
                f"plan        margin {plan['margin']:g}, level {plan['alpha']:g}, {plan['seeds']} trainings a twin "
                f"({each}), {plan['steps']:,} steps each; written to {about['output']}"
            )

    def say(self, what: str, done: int, total: int) -> None:
        """What is being done."""
        if self.status is not None:
            self.status.update(f"{what} ({done:,}/{total:,})" if total else what)

    def played(self, one: Played) -> None:
        """A policy of the exact form is done."""
        found, mean = one.evidence, one.evidence["mean_return"]
        word = "equal" if found["equal"] else "DIFFERENT"
        earned = "" if mean is None else f", mean return {mean:.4g}"
        what = f"{found['episodes']:,} episodes, {found['transitions']:,} steps{earned}"
        more = "" if found["equal"] else f"; first in {found['first_difference']}"
        self._line(f"{word:<11} {one.policy.name:<20} {what}{more}")

    def trained(self, one: Trained) -> None:
        """A training of the statistical form is done."""
        self._line(
            f"trained in  {one.side:<10} seed {one.seed:<6} mean return {one.batched:.4g} in the batched twin, "
            f"{one.reference:.4g} in the reference"
        )

    def _line(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)
        self.console.file.flush()


class JsonView(View):
    """A run for programs: one JSON object a line."""

    def __enter__(self) -> View:
        return self

    def started(self, about: Mapping[str, Any]) -> None:
        package = self.known.package
        self.event(
            "started", version=1, package=package.name, env_id=package.env_id, folder=str(package.folder),
            form="statistical" if "plan" in about else "exact", batched_form=self.known.form, tolerances=self.fields,
            **about,
        )  # fmt: skip

    def say(self, what: str, done: int, total: int) -> None:
        if time.perf_counter() - self.spoke > QUIET:
            self.event("progress", what=what, done=done, total=total)

    def played(self, one: Played) -> None:
        self.event("policy", name=one.policy.name, **one.evidence)

    def trained(self, one: Trained) -> None:
        self.event("trained", **vars(one))

    def event(self, name: str, /, **parts: Any) -> None:
        """Print one event."""
        from simulacrum.attest.canonical import plain

        self.spoke = time.perf_counter()
        terminal.print_json(plain({"event": name, **parts}, name))


def view_for(known: Standing, fields: list[str], *, json: bool) -> View:
    """The view that suits stdout."""
    return (JsonView if json else View)(known, fields)


def show(known: Standing, outcome: Outcome, picture: Path | None, view: View, *, recorded: bool) -> None:
    """Put the outcome into the report, where it belongs there, and print it."""
    from simulacrum.attest.gate import gate_state

    report = known.add(_result(known, outcome, view.seconds)) if recorded else None
    gate = gate_state(known.package)
    if isinstance(view, JsonView):
        view.event(
            "finished", status=outcome.status, verdict=outcome.evidence.get("verdict"), message=outcome.message,
            evidence=dict(outcome.evidence),
            divergence=None if outcome.divergence is None else outcome.divergence.to_json(),
            report=None if report is None else str(report), picture=None if picture is None else str(picture),
            seconds=view.seconds,
            gate={"status": gate.status, "why": gate.why, "next_command": gate.next_command},
        )  # fmt: skip
        return
    console = view.console
    if "tests" in outcome.evidence:
        console.print()
        for name, one in outcome.evidence["tests"].items():
            console.print(_test(name, one), soft_wrap=True)
    if outcome.divergence is not None:
        _show_divergence(view, outcome)
    console.print()
    rows: list[tuple[str, str | Text]] = [("result", _verdict(outcome, view.seconds))]
    rows.append(("report", "left alone: bit-identical twins are judged by the exact form" if report is None else
                 terminal.short_path(report)))  # fmt: skip
    if outcome.divergence is not None:
        from simulacrum.cli.explaining import pages

        rows += [("page", terminal.short_path(path)) for path in pages(known.package, [outcome.divergence])]
    if picture is not None:
        rows.append(("picture", terminal.short_path(picture)))
    rows += [("gate", _gate(gate)), ("next", terminal.command(_next(known, outcome)))]
    terminal.facts(console, rows)


def _result(known: Standing, outcome: Outcome, seconds: float) -> Any:
    """The outcome as the report keeps it, with what earlier runs on these files found."""
    import datetime
    from dataclasses import replace

    from simulacrum.transfer.certificate import history

    finished = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    evidence = {**outcome.evidence, "finished": finished, "earlier": history(known.earlier)}
    return replace(outcome, evidence=evidence).result(seconds)


def _test(name: str, one: Mapping[str, Any]) -> Text:
    """A comparison in a line: `trained  +0.4987 (90 % interval -0.806 to +1.803), margin ±2.5: equivalent; ...`."""
    level, needed = round(100 * (1 - 2 * one["alpha"])), one["needed"]
    style = {"equivalent": "green", "different": "bold red"}.get(one["verdict"], "yellow")
    return Text.assemble(
        f"{name:<8} {one['difference']:+.4g} ({level} % interval {one['low']:+.4g} to {one['high']:+.4g}), "
        f"margin ±{one['margin']:g}: ",
        (one["verdict"], style),
        f"; p {one['p']:.2g}, power {one['power']:.2f}, "
        f"{'over 10,000' if needed is None else needed} trainings a twin for a power of 0.8",
    )


def _show_divergence(view: View, outcome: Outcome) -> None:
    from simulacrum.trace.show import render_plain, render_rich

    assert outcome.divergence is not None
    view.console.print()
    if view.console.is_terminal:
        view.console.print(render_rich(outcome.divergence))
    else:
        view.console.print(render_plain(outcome.divergence), soft_wrap=True)


def _verdict(outcome: Outcome, seconds: float) -> Text:
    word = {"passed": "passed", "failed": "FAILED", "inconclusive": "not shown"}[outcome.status]
    said = outcome.message.partition(": ")[0] if "tests" in outcome.evidence else outcome.message
    return Text.assemble((word, STATUS_STYLES[outcome.status]), f": {said} ({seconds:.1f} s)")


def _gate(gate: GateState) -> Text:
    if gate.fresh:
        return Text.assemble(("open", "bold green"), ": no gate needs this check")
    return Text.assemble(("closed", "bold red"), f" ({gate.status.replace('_', ' ')}): {'; '.join(gate.why[:3])}")


def _next(known: Standing, outcome: Outcome) -> str:
    if outcome.divergence is not None and outcome.divergence.command:
        return outcome.divergence.command
    return f"simulacrum validate {terminal.spoken(known.package)}" if outcome.status == "failed" else "simulacrum list"
