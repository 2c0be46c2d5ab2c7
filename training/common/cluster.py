"""Ray for the scripts that use it: on this machine, or a cluster that is up."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import ray

MEMORY = 200 * 2**20  # bytes of shared memory for what processes hand each other


@contextlib.contextmanager
def started(processes: int) -> Iterator[None]:
    """A Ray of `processes` processes on this machine, gone at the end; or the cluster that RAY_ADDRESS names.

    A Ray that this process has begun already is used, and left alone.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers of each start
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
    else:
        ray.init(num_cpus=processes, include_dashboard=False, object_store_memory=MEMORY, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()
