"""The judgement over what the runs of `differential` have exercised: all of it, or the run is inconclusive.

A quick run tells what is missing and does not judge: it does a fraction of the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulacrum.harness.bench import Bench, Outcome, inconclusive, passed, skipped
from simulacrum.harness.coverage.judge import Coverage
from simulacrum.harness.drivers.campaign import Campaign
from simulacrum.harness.drivers.reached import Reached

PARTIAL = "this is judged over all other parts of differential, and not all of them were run"
SHOWN = 12  # gaps that the message names; the evidence has all


def coverage_verdict(bench: Bench, campaign: Campaign, *, whole: bool) -> Outcome:
    """Of rules, statements, outcomes and draws. `whole` says whether all that was to be watched has been run."""
    if not whole:
        return skipped(PARTIAL)
    coverage = campaign.coverage
    missing, figures = [str(gap) for gap in coverage.missing], coverage.figures()
    statements, outcomes = figures["statements"], figures["outcomes"]
    share = f"{statements[0]} of {statements[1]} statements and {outcomes[0]} of {outcomes[1]} outcomes of reference.py"
    evidence = {"coverage": figures}
    if not missing:
        return passed(f"ran {share}, and all rules in both twins", **evidence)
    if bench.quick:
        return passed(f"ran {share} (a quick run does not judge that)", **evidence)
    return inconclusive(f"nothing differed, but this never came up: {_listed(missing)}", **evidence)


def sometimes_verdict(bench: Bench, campaign: Campaign, *, whole: bool) -> Outcome:
    """Of what must happen at least once: what `@sometimes` methods want, ends of all kinds, resets, actions, modes."""
    if not whole:
        return skipped(PARTIAL)
    coverage, reached = campaign.coverage, campaign.reached
    unheld = [f"{one.text} ({one.rule}, {one.method})" for one in coverage.unheld]
    drawn = coverage.reference.watched.seen.drawn
    slots = [f"the draw slot {draw.name}" for draw in bench.schema.draws
             if draw.name not in drawn and not bench.covered.get(f"slot:{draw.name}")]  # fmt: skip
    missing = [*unheld, *_unmet(coverage, reached), *slots, *reached.untaken()]
    evidence = {
        "drivers": {name: tally.told() for name, tally in reached.drivers.items()},
        "sometimes": {"met": sorted(reached.met), "missing": missing},
    }
    if not missing:
        return passed("everything that must happen sometimes has happened", **evidence)
    if bench.quick:
        return passed(f"{len(missing)} things that must happen sometimes have not (a quick run does not judge that)",
                      **evidence)  # fmt: skip
    return inconclusive(f"nothing differed, but this never happened: {_listed(missing)}", **evidence)


def _unmet(coverage: Coverage, reached: Reached) -> list[str]:
    """The built-in ones. Where each step ends its episode, no step ends nothing and the clock never comes first."""
    wanted = ["reset in row 0", "reset in the last row", "an episode of one step", *MODES]
    one_step = "neither" not in reached.met and "terminated" in reached.met
    wanted += [] if one_step else ["truncated", "neither"]
    wanted += ["terminated", "both"] if coverage.can_terminate else []
    return [_WORDS.get(name, name) for name in wanted if name not in reached.met]


MODES = ("mode NEXT_STEP", "mode SAME_STEP", "mode DISABLED")
_WORDS = {
    "terminated": "an episode that is terminated and not truncated",
    "truncated": "an episode that is truncated and not terminated",
    "both": "an episode that is terminated and truncated by the same step",
    "neither": "a step that ends nothing",
    **{mode: f"an episode end in {mode}" for mode in MODES},
}


def _listed(missing: Sequence[str]) -> str:
    return "; ".join(missing[:SHOWN]) + (f"; and {len(missing) - SHOWN} more" if len(missing) > SHOWN else "")


VERDICTS = {"sometimes": sometimes_verdict, "coverage": coverage_verdict}
