"""The divergent step of a smallest case, run again line by line in its own batch: for faults that need other rows.

The case runs eagerly, twice: once the lines of the reference are noted, once those of the batched twin, whose values
are then those of the row that is looked at.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.casework import Casework
from simulacrum.harness.explain.line_watcher import Watcher
from simulacrum.harness.explain.watched import Watched, reference_value, row_value
from simulacrum.trace.case import RESET, Case, Shrunk


def watch_case(package: EnvPackage, shrunk: Shrunk) -> tuple[Watched, Watched]:
    """What both twins run in the step of a smallest case that differs; nothing where the case cannot be run so."""
    case = replace(shrunk.case, form="eager", device="cpu")
    reference = Watcher(package.folder / "reference.py", reference_value)
    row = functools.partial(row_value, row=case.line.row, rows=case.num_envs)
    fast = Watcher(package.folder / "fast.py", row)
    try:
        for watcher in (reference, fast):
            _run(package, case, shrunk.step, watcher)
    except Exception:  # a twin under judgement may raise anything, and what it raised alone has been told
        return Watched(), Watched()
    fresh = _is_reset(case, shrunk.step)
    unwanted = "step" if fresh else "reset"
    return Watched(*reference.seen(unwanted)), Watched(*fast.seen(unwanted))


def _run(package: EnvPackage, case: Case, step: int, watcher: Watcher) -> None:
    work = Casework(package)
    next(work.frames(case), None)  # a batch that has never begun would be reset first, and be seen doing so
    frames = work.frames(case)
    for number in range(-1, step + 1):
        with watcher.watching() if number == step else contextlib.nullcontext():
            next(frames, None)


def _is_reset(case: Case, step: int) -> bool:
    """Whether the step begins an episode of the row."""
    if step < 0:
        return case.line.start is None
    action: Any = case.line.actions[step]
    by_hand = action == RESET if isinstance(action, str) else isinstance(action, dict) and RESET in action
    return by_hand or (step == 0 and case.line.ended)
