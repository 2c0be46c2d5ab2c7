"""Where the command line prints: results on stdout, what goes wrong on stderr, colour in a terminal only.

`NO_COLOR`, `FORCE_COLOR`, `COLUMNS` and `TERM=dumb` are honoured (by Rich). With `--json` stdout holds JSON alone.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.text import Text

from simulacrum.errors import SimulacrumError, UsageError

COMMAND = "bold cyan"  # the style of a command to type
PASSED, FAILED, WRONG_USE, FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141


@dataclass
class _Mode:
    json: bool = False


_mode = _Mode()


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        # Rich would end the process with 1, which here means a failed check.
        raise BrokenPipeError


def out() -> Console:
    """A console on stdout. Made anew each time, so that it follows a redirected stdout."""
    return _Console(highlight=False, emoji=False, markup=False)


def err() -> Console:
    """A console on stderr."""
    return _Console(stderr=True, highlight=False, emoji=False, markup=False)


def use_json(chosen: bool) -> None:
    """Say at a command's beginning whether stdout is for programs; errors follow it."""
    _mode.json = chosen


def print_json(value: Any) -> None:
    """One JSON document on one line."""
    print(json.dumps(value, ensure_ascii=True, allow_nan=False, default=str), flush=True)


def print_error(error: SimulacrumError) -> None:
    """The error's parts, one a line, on stderr; with `--json` also as an object on stdout."""
    console = err()
    parts = {
        "expected": error.expected,
        "found": error.found,
        "where": error.where,
        "next": error.next_step,
    }
    console.print(Text.assemble(("error: ", "bold red"), error.message), soft_wrap=True)
    for label, value in parts.items():
        if value is not None:
            style = COMMAND if label == "next" else ""
            console.print(Text.assemble((f"  {label}: ", "dim"), (str(value), style)), soft_wrap=True)
    if _mode.json:
        told = {label: None if value is None else str(value) for label, value in parts.items()}
        print_json({"event": "error", "kind": type(error).__name__, "message": error.message, **told})


def print_usage_error(message: str, command: str) -> None:
    """What was wrong with the arguments, and where to read how they are."""
    print_error(UsageError(message.rstrip("."), next_step=f"{command} --help"))


def warn(message: str) -> None:
    """A warning on stderr."""
    err().print(Text.assemble(("warning: ", "bold yellow"), message), soft_wrap=True)


def facts(console: Console, rows: list[tuple[str, str | Text]]) -> None:
    """Label and value, one pair a line."""
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        prose(console, Text(f"{label:<{width}}  ", style="dim"), value if isinstance(value, Text) else Text(value))


def prose(console: Console, lead: Text, text: Text) -> None:
    """A lead and a text beside it, which stays beside it in a terminal that is too narrow for one line.

    Commands and paths are left to the terminal to break, so that they can be copied; a log gets one line.
    """
    room = console.width - lead.cell_len
    if not console.is_terminal or text.style == COMMAND or " " not in text.plain or room < 20:
        console.print(Text.assemble(lead, text), soft_wrap=True)
        return
    for number, line in enumerate(text.wrap(console, room)):
        console.print(Text.assemble(lead if number == 0 else " " * lead.cell_len, line), soft_wrap=True)


def command(text: str) -> Text:
    """A command to type, as it is shown everywhere."""
    return Text(text, style=COMMAND)


def short_path(path: Path) -> str:
    """A path as people write it: from the working directory, or from home where that is shorter."""
    spellings = [str(path)]
    if path.is_relative_to(Path.cwd()):
        spellings.append(str(path.relative_to(Path.cwd())))
    if path.is_relative_to(Path.home()):
        spellings.append(f"~/{path.relative_to(Path.home())}")
    return min(spellings, key=len)


def quoted(path: Path | str) -> str:
    """A path as a word of a shell command."""
    return shlex.quote(str(path))


def spoken(package: Any) -> str:
    """How a package is named in a command: by name where it is found by name, else by its folder."""
    return quoted(short_path(package.folder)) if package.origin.startswith("path") else package.name


def one_thread() -> None:
    """Compute with one thread unless OMP_NUM_THREADS says otherwise; call it before torch is imported.

    The rows of a step are cheap, and a second thread on a shared machine can slow torch down many times over.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MKL_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
