"""What `simulacrum watch` stands on: the content of a folder's files, and a run of one level in a process of its own.

Each run is a new process, so that no module of the package is left from before the change. Where processes can be
forked from a server that has torch and the battery imported already, a run starts in a fraction of a second.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PRELOADED = ["torch", "gymnasium", "simulacrum.harness.battery", "simulacrum.cli.app"]
WRITTEN = {".py", ".md", ".json"}  # the kinds of files that people write in a package
MADE = ("validation_report", "mutation_score")  # those that a run writes


class Files:
    """The content of the files that somebody writes in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stamps: dict[str, tuple[tuple[int, int], str]] = {}
        self.content = self._read()

    def changed(self) -> list[str]:
        """Names of the files whose content is another than at the last call; a touch alone changes nothing."""
        before, self.content = self.content, self._read()
        names = before.keys() | self.content.keys()
        return sorted(name for name in names if before.get(name) != self.content.get(name))

    def _read(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in self._paths():
            name = path.relative_to(self.folder).as_posix()
            with contextlib.suppress(OSError):  # gone between the listing and the look
                stat = path.stat()
                stamp = (stat.st_mtime_ns, stat.st_size)
                if self._stamps.get(name, (None, ""))[0] != stamp:
                    self._stamps[name] = stamp, hashlib.sha256(path.read_bytes()).hexdigest()
                found[name] = self._stamps[name][1]
        return found

    def _paths(self) -> Iterator[Path]:
        for path in self.folder.rglob("*"):
            parts = path.relative_to(self.folder).parts
            if path.suffix in WRITTEN and not path.name.startswith(MADE) and "__pycache__" not in parts:
                yield path


class Run:
    """`simulacrum validate FOLDER --level LEVEL --json` in a process of its own; `events` gives what it says."""

    def __init__(self, folder: Path, level: int) -> None:
        context = _context()
        self._pipe, other = context.Pipe(duplex=False)
        self._process = context.Process(target=_validate, args=(str(folder), level, other), daemon=True)
        self._process.start()
        other.close()
        self._rest = b""
        self.ended = False

    def events(self, seconds: float) -> list[dict[str, Any]]:
        """The events that came in, waiting for the first of them at most so long; sets `ended` after the last."""
        found: list[dict[str, Any]] = []
        while not self.ended and self._pipe.poll(0 if found else seconds):
            piece = os.read(self._pipe.fileno(), 1 << 16)
            self.ended = not piece
            *lines, self._rest = (self._rest + piece).split(b"\n")
            found += [json.loads(line) for line in lines if line.startswith(b"{")]
        return found

    def stop(self) -> None:
        """End it, wherever it is."""
        self._process.terminate()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._pipe.close()


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def _validate(folder: str, level: int, pipe: Connection) -> None:
    """The child's whole life. What the package prints goes nowhere; only the events are wanted."""
    out, nowhere = os.dup(pipe.fileno()), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # as long as the process lives
    os.dup2(out, 1)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # as above
    from simulacrum.cli.app import main

    code = main(["validate", folder, "--level", str(level), "--json", "--fail-fast"])
    sys.stdout.flush()
    os._exit(code)
