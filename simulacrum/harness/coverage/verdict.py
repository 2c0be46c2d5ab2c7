"""The judgement over what the runs of `differential` have exercised: all of it, or the run is inconclusive."""

from __future__ import annotations

from simulacrum.harness.bench import Bench, Outcome, inconclusive, passed, skipped
from simulacrum.harness.coverage.judge import Coverage

SHOWN = 12  # gaps that the message names; the evidence has all


def verdict(bench: Bench, coverage: Coverage, *, whole: bool) -> Outcome:
    """Passed where nothing is missing. `whole` says whether all that was to be watched has been.

    A quick run tells what is missing and does not judge: it does a fraction of the work.
    """
    if not whole:
        return skipped("coverage is judged over all other parts of differential, and not all of them were run")
    missing, figures = [str(gap) for gap in coverage.missing], coverage.figures()
    statements, outcomes = figures["statements"], figures["outcomes"]
    share = f"{statements[0]} of {statements[1]} statements and {outcomes[0]} of {outcomes[1]} outcomes of reference.py"
    evidence = {"coverage": figures}
    if not missing:
        return passed(f"ran {share}, and all rules in both twins", **evidence)
    if bench.quick:
        return passed(f"ran {share} (a quick run does not judge that)", **evidence)
    shown = "; ".join(missing[:SHOWN]) + (f"; and {len(missing) - SHOWN} more" if len(missing) > SHOWN else "")
    return inconclusive(f"nothing differed, but this never came up: {shown}", **evidence)
