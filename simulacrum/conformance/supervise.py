"""Judges an environment in a process of its own, which is ended where it hangs and started again where it dies."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulacrum.conformance.rule import Result
from simulacrum.errors import SimulacrumError, UsageError

START = 120.0  # seconds that importing and making the environment may take
CAUSES = ("Error", "error:", "ailed", "FATAL", "Fatal")  # in the line of its last words that says why
GRACE = 5.0  # seconds that a rule may be late before its process is ended


@dataclass(frozen=True)
class Request:
    """What is to be judged. `python` is the interpreter that has the environment's libraries."""

    target: str
    num_envs: int = 4
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    vectorization_mode: str | None = None
    rules: Sequence[str] | None = None
    steps: int = 500
    seconds: float = 30.0
    python: str = sys.executable
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Made:
    """What was made: the class's name, the mode's (or None), the rows, the versions of the libraries."""

    name: str
    mode: str | None
    num_envs: int
    versions: Mapping[str, str]


def run(request: Request) -> Iterator[Made | Result]:
    """What was made, then the result of each rule as it ends.

    A rule that does not end within its time, or whose process dies, has failed; the rules after it run in a new
    process.

    Raises:
        UsageError: an unknown rule, or the environment cannot be made.
    """
    from simulacrum.conformance.catalog import RULES, chosen

    waiting, shown = chosen(request.rules), False
    while waiting:
        with _Worker(request, waiting) as worker:
            for answer in worker.answers():
                if answer["event"] == "made" and not shown:
                    shown = True
                    yield Made(answer["class"], answer["mode"], answer["num_envs"], answer["versions"])
                elif answer["event"] == "result":
                    waiting.remove(answer["rule"])
                    yield Result(**{name: value for name, value in answer.items() if name != "event"})
            if worker.lost is None:
                return
        name = worker.at or waiting[0]
        waiting.remove(name)
        yield Result(name, RULES[name].severity, "failed", worker.lost)


class _Worker:
    """One process. `at` is the rule it was at; `lost` says why it is gone before its end."""

    def __init__(self, request: Request, rules: Sequence[str]) -> None:
        self.request = request
        self.at: str | None = None
        self.lost: str | None = None
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # a pipe would fill up
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            [request.python, "-m", "simulacrum.conformance.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._said, text=True, start_new_session=True, env=_environment(request),
        )  # fmt: skip
        assert self._process.stdin is not None
        asked = {
            "target": request.target, "num_envs": request.num_envs, "kwargs": dict(request.kwargs),
            "vectorization_mode": request.vectorization_mode, "steps": request.steps, "seconds": request.seconds,
            "rules": list(rules),
        }  # fmt: skip
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.close()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # closed while it was being read
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # with the processes that the environment started
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._said.close()

    def answers(self) -> Iterator[dict[str, Any]]:
        """Its answers until it is done; `lost` is set where they end before."""
        while True:
            try:
                line = self._lines.get(timeout=START if self.at is None else self.request.seconds + GRACE)
            except queue.Empty:
                self.lost = f"it did not end within {self.request.seconds:g} s; its process was ended"
                if self.at is None:
                    raise UsageError(f"it could not be made within {START:g} s", found=self.request.target) from None
                return
            if line is None:
                self._died()
                return
            answer = json.loads(line)
            if answer["event"] == "done":
                return
            if answer["event"] == "error":
                raise UsageError(answer["message"], expected=answer["expected"], found=answer["found"],
                                 where=answer["where"], next_step=answer["next_step"])  # fmt: skip
            if answer["event"] == "begin":
                self.at = answer["rule"]
            yield answer

    def _died(self) -> None:
        status = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().strip().splitlines() or ["it said nothing"]
        told = next((line.strip() for line in lines if any(word in line for word in CAUSES)), lines[-1].strip())
        how = f"signal {-status}" if status < 0 else f"status {status}"
        if self.at is None:
            raise SimulacrumError(f"the process that was to make it died with {how}", found=told,
                                  where=f"{self.request.python} -m simulacrum.conformance.worker")  # fmt: skip
        self.lost = f"its process died with {how}: {told[:200]}"


def _environment(request: Request) -> dict[str, str]:
    """The process's own variables; an interpreter without this package finds it by the path."""
    made = {**os.environ, **request.environment}
    if request.python != sys.executable:
        root = str(Path(__file__).parents[2])
        made["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [made.get("PYTHONPATH")])])
    return made
