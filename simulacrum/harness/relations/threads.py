"""M6: the number of threads and the size of the pieces that a batch is run in change nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

import torch

from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.compare import checksum
from simulacrum.harness.fresh import wide_rows, wide_world
from simulacrum.harness.recording import Recording, explain, parting
from simulacrum.harness.world import World
from simulacrum.trace.divergence import Divergence

QUICK_ROWS = 3_000
PIECES = (1, 17, 8_191)  # the rest is the last one


def threads_and_chunks(bench: Bench, seed: int, rows: int) -> tuple[Outcome, str]:
    """One wide batch of `rows` rows (0: few) at 1, 2 and many threads, and once in pieces.

    The second value is the checksum of the batch at one thread.
    """
    count = rows or QUICK_ROWS
    crowd, chosen = wide_world(bench, seed), wide_rows(count)
    with threads(1):
        whole = crowd.run(chosen)
    return _against(bench, crowd, chosen, whole), checksum(whole.frames)


def _against(bench: Bench, crowd: World, chosen: list[int], whole: Recording) -> Outcome:
    count, many = len(chosen), max(4, os.cpu_count() or 1)
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
