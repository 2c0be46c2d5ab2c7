"""What never came up makes a full run of differential inconclusive, and a quick one says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.checks import differential
from simulacrum.harness.checks.differential import Plan
from simulacrum.harness.drivers.campaign import Campaign
from simulacrum.harness.drivers.verdicts import coverage_verdict, sometimes_verdict
from simulacrum.harness.running import run_check

Full = Callable[..., Outcome]
NEVER_HOLDS = (
    "reference.py", '    @sometimes("a walker at the left',
    '    @sometimes("a walker flies", rule="R5")\n'
    "    def flies(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:\n"
    "        return state.position > 99\n\n"
    '    @sometimes("a walker at the left',
)  # fmt: skip
UNREACHED = (
    "reference.py", "        return position\n",
    "        if position == 77:\n            return GOAL  # R7\n        return position\n",
)  # fmt: skip


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Full:
    """`full(*edits)`: a full differential over small plans, of toywalk with these places edited."""
    monkeypatch.setattr(differential, "FULL", (Plan(8, 8, scripted=True), Plan(14, 14, params=True)))
    monkeypatch.setattr(differential, "EPISODES", 2)

    def run(*edits: tuple[str, str, str], **settings: Any) -> Outcome:
        folder = copy_env("toywalk", tmp_path / "changed", [Edit(*edit) for edit in edits])
        bench = Bench(load_package(folder), ("eager",), failures=tmp_path / "failures", **settings)
        return run_check(bench, "differential")[0]

    return run


def test_a_sound_package_is_covered_whole_and_each_driver_is_told(full: Full) -> None:
    outcome = full()
    assert outcome.status == "passed", outcome.message
    drivers = outcome.evidence["drivers"]
    assert {"random", "edge", "constant", "always_right", "illegal", "replayed", "novelty"} <= set(drivers)
    assert set(drivers["novelty"]) == {"transitions", "cells", "terminated", "truncated", "both"}
    assert outcome.evidence["coverage"]["missing"] == []
    assert outcome.evidence["sometimes"]["missing"] == []


def test_what_no_driver_reaches_is_inconclusive_with_its_line_words_and_rule(full: Full) -> None:
    outcome = full(UNREACHED, NEVER_HOLDS)
    assert outcome.status == "inconclusive"
    assert "nothing differed, but this never happened: a walker flies (R5, flies)" in outcome.message
    branch = outcome.parts["coverage"]
    assert branch.status == "inconclusive"
    assert "reference.py:46 `return GOAL  # R7` never ran (R7: The episode is terminated exactly" in branch.message


def test_parts_that_were_not_run_leave_nothing_to_judge(full: Full) -> None:
    outcome = full(UNREACHED, NEVER_HOLDS, asked=frozenset({"differential.coverage", "differential.sometimes"}))
    assert {part.status for part in outcome.parts.values()} == {"skipped"}


@pytest.mark.parametrize("name", ["toywalk", "counter"])
def test_nothing_done_is_nothing_shown(name: str) -> None:
    bench = Bench(package(name))
    campaign = Campaign.of(bench)
    assert coverage_verdict(bench, campaign, whole=True).status == "inconclusive"
    outcome = sometimes_verdict(bench, campaign, whole=True)
    assert outcome.status == "inconclusive"
    for words in ("reset in row 0", "an episode end in mode DISABLED", "an episode that is terminated and truncated",
                  "the action 0 of action", "the draw slot start"):  # fmt: skip
        assert words in str(outcome.evidence["sometimes"]["missing"]) + outcome.message
    quick = Bench(package(name), quick=True)
    assert coverage_verdict(quick, campaign, whole=True).status == "passed"
    assert sometimes_verdict(quick, campaign, whole=True).status == "passed"


def test_only_what_can_end_by_the_rules_must(tmp_path: Path) -> None:
    def endless(*edits: tuple[str, str, str]) -> EnvPackage:
        return load_package(copy_env("toywalk", tmp_path / "changed", [Edit(*edit) for edit in edits]))

    campaign = Campaign.of(Bench(endless(("reference.py", "reward, terminated)", "reward, False)"))))
    assert not campaign.coverage.can_terminate
    assert Campaign.of(Bench(package("toywalk"))).coverage.can_terminate
