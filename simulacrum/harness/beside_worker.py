"""The other process of `beside`: reads its job from stdin, writes what it finds to stdout, and ends with its caller."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from typing import Any

from simulacrum.errors import CompileError
from simulacrum.harness.bench import Bench
from simulacrum.harness.beside import BUILD, Job
from simulacrum.harness.running import run_check


def main() -> None:
    """Build, check, and send each thing as it is found: tuples that begin with a word."""
    import torch

    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a twin prints must not end up among the messages

    def send(*message: Any) -> None:
        pipe.write(pickle.dumps(message))
        pipe.flush()

    job: Job = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    torch.set_num_threads(job.threads)
    bench = Bench(job.package, forms=job.forms, device=job.device, seed=job.seed, failures=job.failures,
                  progress=lambda *said: send("said", *said))
    if job.target is not None:
        send("built", *_built(bench, job))
    for name in job.checks:
        outcome, seconds = run_check(bench, name)
        send("met", bench.covered, bench.used)
        send("check", name, outcome, seconds)
        bench.covered = {}


def _built(bench: Bench, job: Job) -> tuple[Any, float]:
    """The file of the native form, or the error that says why there is none; and the seconds."""
    from simulacrum.engine.boundary import core_of
    from simulacrum.engine.native import build

    began = time.perf_counter()
    bench.progress(BUILD, "capture, lower, compile", 0, 1)
    core = core_of(bench.package, bench.schema.max_episode_steps)
    try:
        binary = build(core, job.target)
    except CompileError as error:
        return error, time.perf_counter() - began
    core.use_native(binary)
    seconds = time.perf_counter() - began
    bench.progress(BUILD, f"built in {seconds:.1f} s", 1, 1)
    return binary.path, seconds


def _end_with_the_caller() -> None:
    """Wait until the pipe from the caller closes, then end, and whatever was started here (a compiler) with it."""
    os.read(0, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
