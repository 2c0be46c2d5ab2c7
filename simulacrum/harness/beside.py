"""A second process beside the battery: it builds the native form, then runs checks that need no other's result.

    with Helper.start(bench, names, build=True) as helper:    # it loads the package from its folder
        helper.take()                                         # look at what has come so far, without waiting
        helper.wait("replay")                                 # (outcome, seconds), or None: run it yourself

Everything it finds comes back through a pipe, in the order in which it was found. A helper that breaks down costs time
and nothing else: whoever waits for it is told to do the work. It never outlives its caller: it ends when the pipe to it
closes, whatever closed it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import CompileError
from simulacrum.harness.bench import Bench, Outcome, Progress

BUILD = "native form"  # the stage's name where progress is shown


@dataclass(frozen=True)
class Job:
    """What the other process is told: the bench's settings, the checks, and where the native form goes, if anywhere."""

    package: EnvPackage
    forms: tuple[str, ...]
    device: str
    seed: int
    failures: Path
    checks: tuple[str, ...]
    target: Path | None
    threads: int


@dataclass
class Helper:
    """The other process as its caller sees it."""

    bench: Bench
    checks: tuple[str, ...]
    process: subprocess.Popen[bytes]
    kept: tempfile.TemporaryDirectory[str]
    progress: Progress
    waiting: set[str]
    built: CompileError | Path | None = None
    inbox: queue.SimpleQueue[Any] = field(default_factory=queue.SimpleQueue[Any])
    found: dict[str, tuple[Outcome, float]] = field(default_factory=dict[str, tuple[Outcome, float]])

    @classmethod
    def start(cls, bench: Bench, checks: Sequence[str], *, build: bool) -> Helper:
        """Start it on `checks` of the bench, after the native form where `build` says so."""
        import torch

        kept = tempfile.TemporaryDirectory(prefix="simulacrum-native-")
        root = str(Path(__file__).resolve().parents[2])  # this very simulacrum, wherever the caller found it
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [sys.executable, "-m", "simulacrum.harness.beside_worker"], env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        job = Job(
            bench.package, bench.forms, bench.device, bench.seed, bench.failures, tuple(checks),
            Path(kept.name) if build else None, torch.get_num_threads(),
        )  # fmt: skip
        waiting = {*checks, BUILD} if build else {*checks}
        made = cls(bench, tuple(checks), process, kept, bench.progress, waiting)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(job, process.stdin)
            process.stdin.flush()
        made.listener.start()
        return made

    def __post_init__(self) -> None:
        self.listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Helper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process, whatever it is doing, with what it has started."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
        self.process.wait()
        self.listener.join()  # the process is gone, so the pipe has an end
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if not isinstance(self.built, Path):
            self.kept.cleanup()

    def _listen(self) -> None:
        """Hand on what comes through the pipe, then None. Runs in a thread of its own, so that the pipe never fills."""
        assert self.process.stdout is not None
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                self.inbox.put(pickle.load(self.process.stdout))
        self.inbox.put(None)

    def take(self) -> None:
        """Look at what has come so far."""
        with contextlib.suppress(queue.Empty):
            while self.waiting:
                self._one(self.inbox.get_nowait())

    def has(self, name: str) -> bool:
        """Whether the outcome of a check has come."""
        self.take()
        return name in self.found

    def wait(self, name: str) -> tuple[Outcome, float] | None:
        """The outcome and seconds of a check; None where the process ended without one."""
        while name in self.waiting:
            self._one(self.inbox.get())
        return self.found.get(name)

    def native(self) -> None:
        """Wait for the native form and put it where the bench looks for it.

        Raises:
            CompileError: it cannot be built.
        """
        while BUILD in self.waiting:
            self._one(self.inbox.get())
        if isinstance(self.built, CompileError):
            raise self.built

    def _one(self, message: Any) -> None:
        if message is None:
            self.waiting.clear()
            return
        kind, *rest = message
        if kind == "said":
            self.progress(*rest)
        elif kind == "met":
            for name, times in rest[0].items():
                self.bench.meet(name, times)
            self.bench.used.merge(rest[1])
        elif kind == "built":
            self._built(*rest)
        else:
            name, outcome, seconds = rest
            self.found[name] = outcome, seconds
            self.waiting.discard(name)

    def _built(self, found: CompileError | Path, seconds: float) -> None:
        from simulacrum.engine.boundary import core_of
        from simulacrum.engine.native import load

        self.waiting.discard(BUILD)
        self.built = found
        if isinstance(found, CompileError):
            return
        self.bench.build_seconds = seconds
        binary = load(found)
        weakref.finalize(binary, self.kept.cleanup)
        core_of(self.bench.package, self.bench.schema.max_episode_steps).use_native(binary)
