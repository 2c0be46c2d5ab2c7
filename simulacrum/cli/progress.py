"""What is shown while the battery runs: one line a check, moving in a terminal, written once in a log."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.errors import ContractError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.harness.bench import Outcome

STATUS_STYLES = {
    "passed": "green",
    "done": "green",
    "failed": "bold red",
    "inconclusive": "yellow",
    "skipped": "dim",
    "running": "cyan",
    "waiting": "dim",
    "not run": "dim",
    "stopped": "yellow",
}


@dataclass(frozen=True)
class Plan:
    """What a run is going to do.

    `full` says whether it writes the report that the gate reads, `named` whether the caller chose the forms, `level`
    how much of the checks runs (None: all).
    """

    package: EnvPackage
    checks: tuple[str, ...]
    forms: tuple[str, ...]
    device: str
    quick: bool
    full: bool
    named: bool = False
    level: int | None = None


class View:
    """Shows a run; the base shows nothing. A context manager around the run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def progress(self, check: str, what: str, done: int, total: int) -> None:
        """A check says what it is doing."""

    def ended(self, check: str, outcome: Outcome, seconds: float) -> None:
        """A check has ended."""


def view_for(plan: Plan, *, json: bool, verbose: bool) -> View:
    """The view that suits stdout: JSON lines, a live table, or lines for a log."""
    if json:
        from simulacrum.cli.events import JsonView

        return JsonView(plan)
    console = terminal.out()
    return (
        LiveView(plan, console)
        if console.is_terminal and not console.is_dumb_terminal
        else LogView(plan, console, verbose)
    )


def header(plan: Plan, console: Console) -> None:
    """What is validated, where it lies, and how."""
    import torch

    package = plan.package
    threads = "1 thread" if torch.get_num_threads() == 1 else f"{torch.get_num_threads()} threads"
    how = f"{', '.join(plan.forms)} on {plan.device}, torch {torch.__version__}, {threads}"
    console.print(Text.assemble((package.env_id, "bold"), f"  {terminal.short_path(package.folder)}"), soft_wrap=True)
    console.print(Text(how, style="dim"), soft_wrap=True)
    driven = outside(package)
    if driven:
        console.print(Text(f"the reference drives {driven}", style="dim"), soft_wrap=True)
    if not plan.full:
        console.print(Text("partial run: it grants nothing and revokes nothing", style="dim"), soft_wrap=True)
    console.print()


def outside(package: EnvPackage) -> str:
    """The installed programs that a reference drives, with their versions; empty for one with rules of its own."""
    from simulacrum.contract.outside import MARK, outside_versions

    try:
        versions = outside_versions(package.schema.outside)
    except ContractError:  # which its own check tells
        return ""
    return ", ".join(f"{key.removeprefix(MARK)} {version}" for key, version in versions.items())


def first_line(text: str) -> str:
    """The first line of a message."""
    return text.splitlines()[0] if text else ""


class LogView(View):
    """One line as each check ends; with `verbose` also what each is doing."""

    def __init__(self, plan: Plan, console: Console, verbose: bool) -> None:
        super().__init__(plan)
        self.console, self.verbose = console, verbose

    def __enter__(self) -> View:
        header(self.plan, self.console)
        return self

    def progress(self, check: str, what: str, done: int, total: int) -> None:
        """Note how far a check is."""
        if self.verbose:
            count = f" ({done}/{total})" if total else ""
            self.console.print(f"  ... {check}: {what}{count}", soft_wrap=True)
            self.console.file.flush()

    def ended(self, check: str, outcome: Outcome, seconds: float) -> None:
        """Say what a check has come to."""
        line = f"{outcome.status:<12} {check:<24} {seconds:7.1f} s  {first_line(outcome.message)}"
        self.console.print(Text(line.rstrip(), style=""), soft_wrap=True)
        self.console.file.flush()


@dataclass
class _Row:
    """One check in the table."""

    status: str = "waiting"
    text: str = ""
    done: int = 0
    total: int = 0
    began: float = 0.0
    seconds: float | None = None


class LiveView(View):
    """A table that moves while the checks run and stays as the result."""

    def __init__(self, plan: Plan, console: Console) -> None:
        super().__init__(plan)
        self.console = console
        self.rows = {name: _Row() for name in plan.checks}
        self.spinner = Spinner("dots", style="cyan")
        self.live = Live(console=console, get_renderable=self.table, refresh_per_second=8)

    def __enter__(self) -> View:
        header(self.plan, self.console)
        self._begin_next()
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for row in self.rows.values():
            if row.status in ("running", "waiting"):
                row.status, row.text = "stopped" if row.status == "running" and error else "not run", ""
        self.live.stop()

    def progress(self, check: str, what: str, done: int, total: int) -> None:
        """Note how far a check is."""
        row = self.rows.setdefault(check, _Row())  # a stage that is no check stands below them
        if row.status == "waiting":
            row.status, row.began = "running", time.perf_counter()
        row.text, row.done, row.total = what, done, total
        if check not in self.plan.checks and done == total:
            row.status, row.seconds = "done", time.perf_counter() - row.began

    def ended(self, check: str, outcome: Outcome, seconds: float) -> None:
        """Say what a check has come to."""
        row = self.rows[check]
        row.status, row.text, row.seconds = outcome.status, first_line(outcome.message), seconds
        self._begin_next()

    def _begin_next(self) -> None:
        """Show the next check as running, unless one already says that it is."""
        rows = [self.rows[name] for name in self.plan.checks]
        row = next((row for row in rows if row.status in ("waiting", "running")), None)
        if row is not None and row.status == "waiting":
            row.status, row.began = "running", time.perf_counter()

    def table(self) -> Table:
        """The table as it stands now."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, min_width=9)  # of "running" with its spinner: nothing jumps
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, justify="right", min_width=7)
        table.add_column(overflow="fold", ratio=1)
        for name, row in self.rows.items():
            table.add_row(self._status(row), Text(name, style=_name_style(row)), self._seconds(row), self._what(row))
        return table

    def _status(self, row: _Row) -> RenderableType:
        if row.status != "running":
            return Text(row.status, style=STATUS_STYLES.get(row.status, ""))
        self.spinner.update(text=Text("running", style="cyan"))
        return self.spinner

    def _seconds(self, row: _Row) -> Text:
        seconds = time.perf_counter() - row.began if row.status == "running" else row.seconds
        return Text("" if seconds is None else f"{seconds:.1f} s", style="" if row.status == "running" else "dim")

    def _what(self, row: _Row) -> RenderableType:
        if row.status != "running" or not row.total:
            return Text(row.text, style="red" if row.status == "failed" else "")
        line: Any = Table.grid(padding=(0, 1))
        bar = ProgressBar(row.total, row.done, width=12, complete_style="cyan", finished_style="cyan")
        # One line, cut where it does not fit: what moves must not push the rest about.
        line.add_row(bar, Text(f"{row.done}/{row.total}"), Text(row.text, no_wrap=True, overflow="ellipsis"))
        return line


def _name_style(row: _Row) -> str:
    return "dim" if row.status in ("waiting", "not run", "skipped") else "bold" if row.status == "running" else ""
