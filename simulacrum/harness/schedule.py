"""Which check runs when, and in which of two processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

import torch

from simulacrum.engine.forms import cpp_compiler
from simulacrum.errors import CompileError
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.beside import BUILD, Helper
from simulacrum.harness.running import run_check

# What the second process runs: checks that neither use nor leave anything that another check looks at. The rest is
# shared out so that both processes have about as much to do.
ASIDE = ("batch_independence", "invariant_sweep", "auto_reset", "replay", "scripted_policies")
LAST = "throughput"


def outcomes(
    bench: Bench, names: Sequence[str], running: contextlib.ExitStack, *, full: bool, named: bool
) -> Iterator[tuple[str, Outcome, float]]:
    """Each check's outcome and seconds in the catalogue's order, with a second process at work where there is a core.

    Whoever waits for the other process runs the next check meanwhile, but not `throughput`: it measures a machine on
    which nothing else of the battery runs.
    """
    if "spec_contract" in names:  # first and alone: the contract is what everything else stands on
        yield "spec_contract", *run_check(bench, "spec_contract")
    rest = [name for name in names if name != "spec_contract"]
    helper = None
    if full and cores() > 1 and torch.device(bench.device).type == "cpu":
        helper = running.enter_context(Helper.start(bench, ASIDE, build="native" in bench.forms))
    _expect_native(bench, helper, named=named)
    own = [name for name in rest if name != LAST and (helper is None or name not in helper.checks)]
    made: dict[str, tuple[Outcome, float]] = {}
    for name in rest:
        while name not in made:
            if helper is not None and helper.has(name):
                made[name] = helper.found[name]
            elif own:
                made[own[0]] = run_check(bench, own[0])
                own.pop(0)
            else:
                made[name] = (helper and helper.wait(name)) or run_check(bench, name)
        yield name, *made[name]


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _expect_native(bench: Bench, helper: Helper | None, *, named: bool) -> None:
    """Say where the native form will come from: another process, or from here once it is asked for.

    Where it cannot be built and was not asked for by name, the Inductor form is judged in its place, and the report
    says why.
    """

    def arrive() -> None:
        try:
            if helper is not None:
                helper.native()
            else:
                bench.progress(BUILD, "capture, lower, compile", 0, 1)
            if bench.native is not None and helper is None:
                bench.progress(BUILD, f"built in {bench.build_seconds:.1f} s", 1, 1)
        except CompileError as error:
            if named:
                raise
            place = f" ({error.where})" if error.where else ""
            bench.unbuilt = f"{error.message}{place}"
            other = ["inductor"] if cpp_compiler() is not None else []
            bench.forms = tuple([form for form in bench.forms if form != "native"] + other)

    if "native" in bench.forms:
        bench.arrival = arrive
