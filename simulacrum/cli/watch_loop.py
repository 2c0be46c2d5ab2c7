"""The loop of `simulacrum watch`: the levels from the first one on, as files change, and what is shown of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.progress import first_line
from simulacrum.cli.watch_run import Files, Run

LOOK, SETTLED = 0.25, 0.15  # seconds between two looks at the files, and without a change until they count as written
SHOWN = 40  # lines of a failure at most
STYLES = {"passed": "green", "FAILED": "bold red", "broken": "bold red", "running": "cyan", "waiting": "dim"}


def watch_levels(name: str, level: int) -> None:
    """Run the levels up to `level` again and again, until Ctrl-C."""
    terminal.one_thread()
    folder = _folder(name)
    screen = _Screen(folder, terminal.out(), level)
    try:
        _watch(folder, screen, level)
    except KeyboardInterrupt:
        screen.say("stopped")


def _folder(name: str) -> Path:
    """The package's folder, also where its files do not hold together at the moment."""
    from simulacrum.contract.package import load_package
    from simulacrum.errors import ContractError

    try:
        return load_package(name).folder
    except ContractError:
        if not Path(name).is_dir():
            raise
        return Path(name).resolve()


def _watch(folder: Path, screen: _Screen, highest: int) -> None:
    files, changed = Files(folder), list[str]()
    while True:
        screen.begin(changed)
        changed = _climb(folder, files, screen, highest) or _next_change(files)
        changed = sorted({*changed, *_settle(files)})


def _climb(folder: Path, files: Files, screen: _Screen, highest: int) -> list[str]:
    """Run level after level while they pass; the files that changed meanwhile, [] where the top or a failure came."""
    for level in range(1, highest + 1):
        run = Run(folder, level)
        try:
            screen.started(level)
            while not run.ended:
                for event in run.events(LOOK):
                    screen.event(level, event)
                changed = files.changed()
                if changed:
                    return changed
            screen.ended(level)
        finally:
            run.stop()
        if not screen.passed(level):
            return []
    screen.at_the_top()
    return []


def _next_change(files: Files) -> list[str]:
    while True:
        time.sleep(LOOK)
        changed = files.changed()
        if changed:
            return changed


def _settle(files: Files) -> list[str]:
    """Wait until nothing has changed for a moment (an editor writes in several steps); what changed meanwhile."""
    seen: set[str] = set()
    while True:
        time.sleep(SETTLED)
        changed = files.changed()
        if not changed:
            return sorted(seen)
        seen.update(changed)


@dataclass
class _Level:
    status: str = "waiting"
    text: str = ""
    seconds: float = 0.0
    checks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class _Screen:
    """In a terminal one compact page, drawn anew with each event; in a log a line as each level ends."""

    def __init__(self, folder: Path, console: Console, highest: int) -> None:
        self.folder, self.console, self.highest = folder, console, highest
        self.levels: dict[int, _Level] = {}
        self.head = Text()

    def begin(self, changed: list[str]) -> None:
        """A new round, because of these files."""
        self.levels = {level: _Level() for level in range(1, self.highest + 1)}
        when = time.strftime("%H:%M:%S")
        what = f"changed: {', '.join(changed[:4])}" if changed else "watching"
        self.head = Text.assemble((self.folder.name, "bold"), f"  {when}  {what}  {terminal.short_path(self.folder)}")
        self._log(f"{when}  {what}")
        self._draw()

    def started(self, level: int) -> None:
        """A level begins."""
        self.levels[level].status = "running"
        self._draw()

    def event(self, level: int, event: dict[str, Any]) -> None:
        """One event of `validate --json`."""
        mine = self.levels[level]
        if event["event"] == "progress":
            mine.text = f"{event['name']}: {event['what']}"
        elif event["event"] == "check":
            mine.checks.append(event)
            mine.text = event["name"]
        elif event["event"] == "finished":
            mine.status, mine.seconds = "passed" if event["passed"] else "FAILED", event["seconds"]
            bad = [*event["failed"], *event["inconclusive"]]
            mine.text = ", ".join(bad) if bad else f"{len(mine.checks)} checks"
        elif event["event"] == "error":
            mine.status, mine.text = "broken", _error(event)
        self._draw()

    def ended(self, level: int) -> None:
        """A level's process is gone."""
        mine = self.levels[level]
        if mine.status == "running":
            mine.status, mine.text = "broken", "its process ended without a result"
        self._log(self._line(level).plain)
        for line in self._failure(level):
            self._log(line)
        self._draw()

    def passed(self, level: int) -> bool:
        """Whether the level passed."""
        return self.levels[level].status == "passed"

    def at_the_top(self) -> None:
        """Nothing is left to run."""
        self._log(f"all green up to level {self.highest}; the gate asks for: simulacrum validate {self.folder}")

    def say(self, text: str) -> None:
        """A last word."""
        self.console.print(Text(text, style="dim"))

    def _log(self, line: str) -> None:
        if not self.console.is_terminal:
            self.console.print(Text(line), soft_wrap=True)
            self.console.file.flush()

    def _draw(self) -> None:
        if not self.console.is_terminal:
            return
        self.console.clear()
        self.console.print(self.head, no_wrap=True, overflow="ellipsis")
        for level in self.levels:
            self.console.print(self._line(level), no_wrap=True, overflow="ellipsis")
        for level in self.levels:
            for line in self._failure(level):
                self.console.print(Text(line), no_wrap=True, overflow="ellipsis")
        if all(one.status == "passed" for one in self.levels.values()):
            self.console.print(Text.assemble("next  ", terminal.command(f"simulacrum validate {self.folder}")))

    def _line(self, level: int) -> Text:
        from simulacrum.attest.catalog import LEVELS

        mine = self.levels[level]
        seconds = f"{mine.seconds:.1f} s" if mine.seconds else ""
        lead, status = f"level {level}  {LEVELS[level]:<23}", (f"{mine.status:<8}", STYLES[mine.status])
        return Text.assemble(lead, status, f"{seconds:>8}  ", first_line(mine.text))

    def _failure(self, level: int) -> list[str]:
        """The first check that did not pass: its message and its divergence, as far as they fit."""
        mine = self.levels[level]
        if mine.status == "broken":
            return ["", *mine.text.splitlines()[1:SHOWN]]
        bad = next((one for one in mine.checks if one["status"] in ("failed", "inconclusive")), None)
        if mine.status != "FAILED" or bad is None:
            return []
        lines = f"{bad['name']}: {bad['message']}".splitlines()
        if bad["divergence"] is not None:
            from simulacrum.trace.divergence import Divergence
            from simulacrum.trace.show import render_plain

            lines += ["", *render_plain(Divergence.from_json(bad["divergence"])).splitlines()]
        return ["", *lines[:SHOWN], *([f"... {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else [])]


def _error(event: dict[str, Any]) -> str:
    parts = {name: event[name] for name in ("expected", "found", "where", "next") if event.get(name)}
    return "\n".join([event["message"], *(f"  {name}: {text}" for name, text in parts.items())])
