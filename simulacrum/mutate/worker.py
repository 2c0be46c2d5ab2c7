"""A process that looks at mutants one after the other: reads them from stdin, writes what it found to stdout.

It imports torch once, and ends when the pipe from its caller closes, with everything it has started.
"""

from __future__ import annotations

import functools
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from simulacrum.harness.small.answers import Answers
from simulacrum.mutate.equivalence import captured, traced
from simulacrum.mutate.judge import Settings, judged, read


def main() -> None:
    """Answer each request `(kind, mutant)` with `(mutant id, answer)`."""
    import torch

    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a twin prints must not end up among the messages
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # nor may it read them
    torch.set_num_threads(1)
    settings: Settings = pickle.load(requests)
    known = Answers()
    work: dict[str, Callable[..., Any]] = {
        "judge": functools.partial(judged, answers=known), "read": read, "trace": traced, "capture": captured,
    }  # fmt: skip
    for kind, mutant in _requests(requests):
        pipe.write(pickle.dumps((mutant.id, work[kind](settings, mutant))))
        pipe.flush()
    _end()


def _requests(pipe: Any) -> Any:
    """What comes through the pipe, which is read in a thread: a closed pipe ends the process in mid-work too."""
    import queue

    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                inbox.put(pickle.load(pipe))
        except (EOFError, pickle.UnpicklingError, OSError):
            _end()

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield inbox.get()


def _end() -> None:
    """End this process and whatever was started here (a fresh process, a compiler) with it."""
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
