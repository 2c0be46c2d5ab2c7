"""After a check has failed: its record with the smallest case, and a test of it beside."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.diagnosis import diagnose
from simulacrum.harness.shrink import shrink
from simulacrum.harness.shrink.as_test import as_test
from simulacrum.trace.divergence import Divergence, dump_divergence
from simulacrum.trace.jsonio import write_bytes


def made_small(bench: Bench, outcome: Outcome) -> Outcome:
    """The outcome with its divergence shrunk, and the files of it rewritten.

    Whatever goes wrong in here, the failure stays as it was found.
    """
    record = outcome.divergence
    if not bench.shrink or outcome.status != "failed" or record is None or record.shrunk is not None:
        return outcome
    with contextlib.suppress(Exception):
        complete = _completed(bench, record)
        return replace(outcome, divergence=complete)
    return outcome


def _completed(bench: Bench, record: Divergence) -> Divergence:
    def say(count: int) -> None:
        if count % 20 == 1:
            bench.say(f"making {record.difference.path} small: case {count}")

    moment = bench.moments.get(record.id)
    shrunk = shrink(bench.package, record, moment, quick=bench.quick, say=say)
    record = replace(record, shrunk=shrunk)
    if record.diagnosis and (shrunk is None or not shrunk.verified):
        return rewritten(bench, record)  # a relation has named its kinds; both twins agree in that step
    with contextlib.suppress(Exception):
        record = replace(record, diagnosis=diagnose(bench.package, record))
    return rewritten(bench, record)


def rewritten(bench: Bench, record: Divergence) -> Divergence:
    """The record with its files written again, and a test beside it where its case is sure."""
    place = Path(record.files["record"]) if "record" in record.files else None
    if place is None:
        return record
    if record.shrunk is not None and record.shrunk.verified:
        test = place.with_name(f"test_{record.id}.py")
        write_bytes(test, as_test(bench.package, record, record.shrunk).encode("utf-8"))
        record = replace(record, files={**record.files, "test": str(test)})
    write_bytes(place, dump_divergence(record).encode("ascii"))
    return record
