"""One check, run: whatever a twin does, the end is an outcome."""

from __future__ import annotations

import importlib
import time
from typing import Any

import torch

from simulacrum.contract.loader import ROOT
from simulacrum.errors import SimulacrumError
from simulacrum.harness.bench import Bench, Outcome, failed
from simulacrum.harness.shrink.hook import made_small


def run_check(bench: Bench, name: str) -> tuple[Outcome, float]:
    """One check of the catalogue on a bench, and its seconds. What a twin raises is a failed outcome, not an error."""
    bench.check = name
    module: Any = importlib.import_module(f"simulacrum.harness.checks.{name}")
    began = time.perf_counter()
    try:
        with torch.no_grad():
            outcome: Outcome = module.run(bench)
    except SimulacrumError as error:
        outcome = failed(str(error), kind=type(error).__name__)
    except NotImplementedError as error:
        outcome = failed(f"a method of the twin is not written: {error}")
    except Exception as error:  # an author's mistake inside a twin: say where, not our insides
        outcome = failed(explained(error), kind=type(error).__name__)
    return made_small(bench, outcome), time.perf_counter() - began


def explained(error: Exception) -> str:
    """The error with the innermost line of a package's own files, where there is one: a small model is a copy of it."""
    place, trace = "", error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__", "")).startswith(f"{ROOT}."):
            place = f"\n  where: {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{place}"
