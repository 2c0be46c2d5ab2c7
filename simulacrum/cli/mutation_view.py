"""What is shown while mutants are judged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.mutate.judge import required_checks
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.plan import Plan
from simulacrum.mutate.results import described
from simulacrum.mutate.runner import Watcher
from simulacrum.mutate.verdict import STATUSES, Verdict

STYLES = {"killed": "green", "survived": "bold red", "timeout": "yellow", "lost": "yellow"}
# A rewrite must pass, so what is good and bad is the other way about.
OF_REWRITES = {"survived": ("passed", "green"), "killed": ("refused", "bold red")}
PER_MINUTE = 60.0


def spoken(status: str, *, rewrites: bool) -> tuple[str, str]:
    """A verdict's status as people read it, and its style."""
    usual = status, STYLES.get(status, "dim")
    return OF_REWRITES.get(status, usual) if rewrites else usual


class View(Watcher):
    """Shows a run; the base shows nothing. A context manager around the run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def view_for(plan: Plan, *, json: bool, verbose: bool) -> View:
    """The view that suits stdout: JSON lines, a live table, or lines for a log."""
    if json:
        return JsonView(plan)
    console = terminal.out()
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveView(plan, console, verbose)
    return LogView(plan, console, verbose)


class JsonView(View):
    """One JSON object a line as things happen."""

    def planned(self, chosen: Sequence[Mutant], total: int) -> None:
        plan = self.plan
        terminal.print_json(
            {
                "event": "started",
                "version": 1,
                "package": plan.package.name,
                "env_id": plan.package.env_id,
                "folder": str(plan.package.folder),
                "mutants": len(chosen),
                "of": total,
                "jobs": plan.jobs,
                "files": plan.files,
                "checks": required_checks(plan.forms),
            }
        )

    def stage(self, what: str, done: int, total: int) -> None:
        """Note how far the preparation is."""
        terminal.print_json({"event": "stage", "stage": what, "done": done, "total": total})

    def ended(self, mutant: Mutant, verdict: Verdict, again: bool) -> None:
        """Say what a mutant's verdict is."""
        terminal.print_json(
            {"event": "mutant", **described(mutant), "again": again, "verdict": verdict.to_json()}
        )


class LogView(View):
    """One line as each mutant ends; with `verbose` its diff and what was said of it."""

    def __init__(self, plan: Plan, console: Console, verbose: bool) -> None:
        super().__init__(plan)
        self.console, self.verbose = console, verbose

    def planned(self, chosen: Sequence[Mutant], total: int) -> None:
        self.console.print(title(self.plan, len(chosen), total), soft_wrap=True)

    def ended(self, mutant: Mutant, verdict: Verdict, again: bool) -> None:
        """Say what a mutant's verdict is."""
        self.console.print(line(mutant, verdict), soft_wrap=True)
        if self.verbose:
            self.console.print(Text(f"{mutant.diff}{verdict.message or verdict.why}\n"), soft_wrap=True)
        self.console.file.flush()


class LiveView(LogView):
    """Counts, a bar and the running mutants, which move; what survives is printed above them."""

    def __init__(self, plan: Plan, console: Console, verbose: bool) -> None:
        super().__init__(plan, console, verbose)
        self.counts: Counter[str] = Counter()
        self.running: dict[str, tuple[Mutant, float]] = {}
        self.what, self.done, self.total, self.since = "trace", 0, 0, time.monotonic()
        self.live = Live(console=console, get_renderable=self.table, refresh_per_second=4)

    def __enter__(self) -> View:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.running.clear()
        self.live.stop()

    def stage(self, what: str, done: int, total: int) -> None:
        """Note how far the preparation is."""
        if what != self.what:
            self.what, self.since = what, time.monotonic()
        self.done, self.total = done, total

    def began(self, mutant: Mutant) -> None:
        """Note that a mutant is running."""
        if len(self.running) >= self.plan.jobs:  # one of them has been given back without a verdict: a trace
            self.running.pop(next(iter(self.running)))
        self.running[mutant.id] = mutant, time.monotonic()

    def ended(self, mutant: Mutant, verdict: Verdict, again: bool) -> None:
        """Say what a mutant's verdict is."""
        self.running.pop(mutant.id, None)
        self.counts[verdict.status] += 1
        if self.verbose or verdict.status in ("survived", "timeout", "lost"):
            super().ended(mutant, verdict, again)

    def table(self) -> RenderableType:
        """The display as it stands now."""
        counts = Text.assemble(
            *[part for status in STATUSES if self.counts[status]
              for word, style in [spoken(status, rewrites=self.plan.rewrites)]
              for part in ((f"{self.counts[status]}", style), f" {word}  ")]
        )  # fmt: skip
        bar: Any = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(max(self.total, 1), self.done, width=24, complete_style="cyan"),
                    Text(f"{self.what} {self.done}/{self.total}{self._eta()}"))
        rows = [
            Text(f"{time.monotonic() - began:5.1f} s  {mutant.id} {mutant.kind} {mutant.file}:{mutant.line}  "
                 f"{one_line(mutant.before, 40)} -> {one_line(mutant.after, 40)}", style="dim", no_wrap=True,
                 overflow="ellipsis")
            for mutant, began in list(self.running.values())
        ]  # fmt: skip
        return Group(counts, bar, *rows)

    def _eta(self) -> str:
        if not self.done or self.done >= self.total:
            return ""
        left = (time.monotonic() - self.since) / self.done * (self.total - self.done)
        return f", about {left / PER_MINUTE:.0f} min left" if left > PER_MINUTE else f", about {left:.0f} s left"


def title(plan: Plan, chosen: int, total: int) -> Text:
    """What is mutated, and how many there are."""
    what = "rewrites" if plan.rewrites else "mutants"
    of = f" of {total}" if chosen < total else ""
    jobs = f"{plan.jobs} process{'es' if plan.jobs != 1 else ''}"
    return Text.assemble((plan.package.env_id, "bold"), f"  {chosen}{of} {what} of {', '.join(plan.files)}, {jobs}")


def line(mutant: Mutant, verdict: Verdict) -> Text:
    """One mutant on one line."""
    place = f"{mutant.file}:{mutant.line}"
    change = f"{one_line(mutant.before)} -> {one_line(mutant.after)}"
    dose = f" [{mutant.dose}]" if mutant.dose else ""
    found = f"{verdict.killer} {verdict.named} {verdict.seconds:.1f} s" if verdict.killer else verdict.why
    word, style = spoken(verdict.status, rewrites=mutant.kind == "same")
    said = (found.strip().splitlines()[0] if found.strip() else "", "dim")
    return Text.assemble((f"{word:<11}", style), f"{mutant.id} {mutant.kind} {place}  {change}{dose}  ", said)


def one_line(text: str, most: int = 60) -> str:
    """A fragment on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."
