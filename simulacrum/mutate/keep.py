"""Turning a finished run into the score that is kept with the package."""

from __future__ import annotations

from pathlib import Path

from simulacrum.attest.mutation import Score, digests, now, write_score
from simulacrum.attest.report import add_score
from simulacrum.mutate.matrix import Pair, summary, tally
from simulacrum.mutate.runner import Run


def pairs(run: Run) -> list[Pair]:
    """Every mutant of the run with its verdict, in the run's order."""
    return [(mutant, run.verdicts[mutant.id]) for mutant in run.chosen if mutant.id in run.verdicts]


def keep(run: Run) -> Path | None:
    """Write the score, put it into the package's report, and return where it lies.

    None where the run is not one that a score speaks of, or files changed while it went on: then nobody can say what
    was judged.
    """
    own, framework = digests(run.plan.package)
    if not run.plan.scored or run.files != (own, framework):
        return None
    whole = tally(run.verdicts.values())
    score = Score(
        env_id=run.plan.package.env_id, killed=whole.killed, counted=whole.counted, planted=run.total,
        sampled=len(run.chosen), seconds=round(run.seconds, 1), finished=now(), package=own, battery=framework,
        summary=summary(pairs(run), matrix=run.plan.matrix),
    )  # fmt: skip
    path = write_score(run.plan.package, score)
    add_score(run.plan.package)
    return path
