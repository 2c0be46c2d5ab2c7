"""Several worker processes that look at mutants; one that hangs or dies is replaced, and the others go on.

    with Pool(settings, jobs=4, timeout=300) as pool:
        for mutant, answer in pool.answers("judge", mutants):    # in the order in which they are found
            ...                                                   # `answer` is a Verdict, or a Lost that says why not
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from simulacrum.mutate.judge import Settings
from simulacrum.mutate.mutant import Mutant

MOST = 150  # mutants that one process looks at: what torch and the caches keep of each does not pile up for ever
START = 90.0  # seconds that importing may take beyond a mutant's own


@dataclass(frozen=True)
class Lost:
    """No answer: `timeout` says whether the mutant was given up, else its process ended. `seconds` it was given."""

    timeout: bool
    seconds: float


@dataclass
class Worker:
    """One process as its caller sees it."""

    process: subprocess.Popen[bytes]
    number: int
    taken: int = 0
    mutant: Mutant | None = None
    began: float = 0.0

    def send(self, words: Any) -> None:
        """Hand something over; a process that has ended is found out by its listener."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError, OSError):
            self.process.stdin.write(pickle.dumps(words))
            self.process.stdin.flush()

    def end(self) -> None:
        """End the process, whatever it is doing, with what it has started."""
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


@dataclass
class Pool:
    """`jobs` processes; a mutant has `timeout` seconds. A context manager: leaving it ends them all.

    on_start: called with each mutant as a process takes it. at_least: more seconds, for some of them by id.
    """

    settings: Settings
    jobs: int
    timeout: float
    on_start: Callable[[Mutant], None] = lambda mutant: None
    at_least: Mapping[str, float] = field(default_factory=dict[str, float])
    workers: dict[int, Worker] = field(default_factory=dict[int, Worker])
    inbox: queue.SimpleQueue[Any] = field(default_factory=queue.SimpleQueue[Any])
    started: int = 0

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers.values():
            worker.end()
        self.workers.clear()

    def answers(self, kind: str, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Any]]:
        """Each mutant with what was found, or a `Lost`; as they come."""
        waiting = deque(mutants)
        left = len(waiting)
        while left:
            self._employ(kind, waiting)
            for mutant, answer in self._collect():
                left -= 1
                yield mutant, answer

    def _employ(self, kind: str, waiting: deque[Mutant]) -> None:
        """Give every idle process a mutant, starting processes where there are too few."""
        while waiting and len(self.workers) < self.jobs:
            self._start()
        for worker in list(self.workers.values()):
            if worker.mutant is None and waiting:
                worker.mutant, worker.began = waiting.popleft(), time.monotonic()
                worker.taken += 1
                worker.send((kind, worker.mutant))
                self.on_start(worker.mutant)

    def _collect(self) -> Iterator[tuple[Mutant, Any]]:
        """What has come within a moment, and those that ran out of time."""
        with contextlib.suppress(queue.Empty):
            number, answer = self.inbox.get(timeout=0.2)
            worker = self.workers.get(number)
            if worker is not None and worker.mutant is not None:
                mutant, worker.mutant = worker.mutant, None
                if answer is None:
                    answer = Lost(False, round(time.monotonic() - worker.began, 1))
                    self._dismiss(worker)
                elif worker.taken >= MOST:
                    self._dismiss(worker)
                yield mutant, answer
            elif worker is not None and answer is None:
                self._dismiss(worker)
        now = time.monotonic()
        for worker in list(self.workers.values()):
            if worker.mutant is None:
                continue
            given = max(self.timeout, self.at_least.get(worker.mutant.id, 0.0))
            if now - worker.began > given + (START if worker.taken == 1 else 0.0):
                mutant, worker.mutant = worker.mutant, None
                self._dismiss(worker)
                yield mutant, Lost(True, round(now - worker.began, 1))

    def _dismiss(self, worker: Worker) -> None:
        del self.workers[worker.number]
        worker.end()

    def _start(self) -> None:
        root = str(Path(__file__).resolve().parents[2])  # this very simulacrum, wherever the caller found it
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        quiet = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "simulacrum.mutate.worker"], env={**os.environ, **quiet},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.started += 1
        worker = Worker(process, self.started)
        self.workers[worker.number] = worker
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        worker.send(self.settings)

    def _listen(self, worker: Worker) -> None:
        """Hand on what comes from one process, then None. Runs in a thread of its own."""
        assert worker.process.stdout is not None
        with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                _, answer = pickle.load(worker.process.stdout)
                self.inbox.put((worker.number, answer))
        self.inbox.put((worker.number, None))
