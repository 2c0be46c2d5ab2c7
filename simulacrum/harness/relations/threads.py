"""M6: the number of threads and the size of the pieces that a batch is run in change nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

import torch

from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.recording import Recording, explain, parting
from simulacrum.harness.world import World
from simulacrum.trace.divergence import Divergence

# torch shares an operation among threads from 32,768 elements on, so that [N] and [N, K] are shared at other sizes.
# An episode of one step and the reset after it.
ROWS, QUICK_ROWS, CROWD, STEPS, LIMIT = 33_000, 3_000, 256, 2, 1
PIECES = (1, 17, 8_191)  # the rest is the last one


def threads_and_chunks(bench: Bench, *, rows: int | None = None) -> Outcome:
    """One wide batch at 1, 2 and many threads, and once in pieces."""
    count = rows or (QUICK_ROWS if bench.quick else ROWS)
    crowd = World(bench, CROWD, STEPS, LIMIT, bench.seed + 43)
    chosen = [row % CROWD for row in range(count)]
    many = max(4, os.cpu_count() or 1)
    with threads(1):
        whole = crowd.run(chosen)
    compared = 0
    for number in (2, many):
        bench.say(f"{count} rows, {number} threads")
        with threads(number):
            again = crowd.run(chosen)
        found = _apart(bench, whole, again, 0, count, f"{number} threads in place of one")
        if found is not None:
            return failed(f"{found.difference.path}; {found.hints[-1]}", found, threads=[1, 2, many])
        compared += again.transitions
    start = 0
    for size in (*(piece for piece in PIECES if piece < count // 2), count):
        stop = min(start + size, count)
        bench.say(f"{count} rows, in pieces")
        piece = crowd.run(chosen[start:stop])
        what = f"rows {start} to {stop - 1} as a batch of their own"
        found = _apart(bench, whole, piece, start, stop, what)
        if found is not None:
            return failed(f"{found.difference.path}; {found.hints[-1]}", found, threads=[1, 2, many])
        compared, start = compared + piece.transitions, stop
    return passed(f"{compared:,} transitions at 1, 2 and {many} threads, whole and in pieces",
                  compared_transitions=compared, threads=[1, 2, many])


def _apart(bench: Bench, whole: Recording, other: Recording, start: int, stop: int, what: str) -> Divergence | None:
    ones, others = range(start, stop), range(stop - start)
    parted = parting(bench, whole, other, ones, others)
    if parted is None:
        return None
    side = "the whole batch, one thread"
    return explain(bench, parted, whole, other, ones, others, side=side, notes=(f"it changes with {what}",))


@contextlib.contextmanager
def threads(count: int) -> Generator[None]:
    """torch with so many threads, while it lasts."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
