"""What a package's runs have not exercised is named with its line and rule, unless it is declared unreachable."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.coverage import Coverage
from simulacrum.harness.drivers import standard
from simulacrum.harness.lockstep import Lockstep

Changed = Callable[..., EnvPackage]
BRANCH = ("        return position\n", "        if position == 77:\n            return GOAL\n        return position\n")
DECLARED = (
    BRANCH[0],
    "        if position == 77:\n            return GOAL  # never: the line ends at 5\n        return position\n",
)


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    def make(name: str, *edits: tuple[str, str, str]) -> EnvPackage:
        return load_package(copy_env(name, tmp_path / "changed", [Edit(*edit) for edit in edits]))

    return make


def watched(judged: EnvPackage, rows: int = 16, most: int = 60) -> Coverage:
    bench, coverage = Bench(judged), Coverage(judged)
    lock = Lockstep(bench, bench.env(rows, params=bench.row_params(rows, 3)))
    with coverage.watching():
        assert lock.run(standard(judged.schema, rows, 1), seeds_for(rows, 2), episodes=2, most=most) is None
    return coverage


def test_all_rules_of_both_twins_are_met_and_what_is_missing_is_named() -> None:
    coverage = watched(package("toywalk"))
    assert coverage.unmet == []
    assert [(gap.where, gap.what) for gap in coverage.missing] == [("reference.py:44", "`return GOAL` never ran")]
    assert coverage.missing[0].rule.startswith("R5: `position` becomes")
    assert coverage.unreached == [44]
    assert coverage.figures()["rules"] == {"reference": [8, 8], "fast": [8, 8]}


def test_a_runner_made_before_is_seen_and_one_afterwards_is_not() -> None:
    judged = package("toywalk")
    early, coverage = ReferenceRunner(judged), Coverage(judged)
    early.reset(1)
    with coverage.watching():
        early.step(1)
    assert {"R3", "R5", "R9"} <= set(coverage.rules) - set(coverage.unmet)
    assert "R2" in coverage.unmet
    ReferenceRunner(judged).reset(2)
    assert "R2" in coverage.unmet


def test_a_package_of_the_same_code_counts_too(changed: Changed) -> None:
    coverage, small = Coverage(package("toywalk")), changed("toywalk", ("__init__.py", "GOAL = 5", "GOAL = 3"))
    with coverage.watching(small):
        ReferenceRunner(small).reset(1)
    assert "R2" not in coverage.unmet


def test_a_branch_that_nobody_takes_is_a_gap(changed: Changed) -> None:
    coverage = watched(changed("toywalk", ("reference.py", *BRANCH)))
    assert any("return GOAL` never ran" in gap.what and gap.where == "reference.py:46" for gap in coverage.missing)


def test_a_declaration_excuses_the_block_and_the_way_there_and_is_told(changed: Changed) -> None:
    coverage = watched(changed("toywalk", ("reference.py", *DECLARED)))
    assert [gap.where for gap in coverage.missing] == ["reference.py:44"]
    assert coverage.figures()["declared_never"] == ["reference.py:46: the line ends at 5"]


def test_a_declaration_without_a_reason_is_none(changed: Changed) -> None:
    bare = (DECLARED[0], DECLARED[1].replace("never: the line ends at 5", "never:"))
    coverage = watched(changed("toywalk", ("reference.py", *bare)))
    assert "reference.py:46" in [gap.where for gap in coverage.missing]


def test_a_declaration_that_is_wrong_is_a_gap(changed: Changed) -> None:
    wrong = ("            return LEFT_END\n", "            return LEFT_END  # never: nobody walks there\n")
    coverage = watched(changed("toywalk", ("reference.py", *wrong)))
    assert any("declared never to come up (nobody walks there), and did" in gap.what for gap in coverage.missing)


def test_a_rule_that_the_batched_twin_never_carries_out_is_a_gap(changed: Changed) -> None:
    idle = ("    def _move(", "    def _idle(self) -> None:\n        return  # R6\n\n    def _move(")
    coverage = watched(changed("toywalk", ("fast.py", "  # R6: float32 [N]", ""), ("fast.py", *idle)))
    assert coverage.unmet == []
    assert any(gap.where.startswith("fast.py:") and "never carried out R6" in gap.what for gap in coverage.missing)


def test_an_operand_that_never_decides_alone_is_a_gap(changed: Changed) -> None:
    edit = ("terminated = position == GOAL  # R7", "terminated = position == GOAL or position > GOAL  # R7")
    coverage = watched(changed("toywalk", ("reference.py", *edit)))
    assert any("`position > GOAL` was never true while the rest of its `or` was false" in gap.what
               and gap.rule.startswith("R7") for gap in coverage.missing)  # fmt: skip


def test_an_outcome_of_a_draw_that_never_comes_is_a_gap(changed: Changed) -> None:
    never = ('"slip", ctx.params.slip', '"slip", 0.0')
    coverage = watched(changed("toywalk", ("reference.py", *never), ("fast.py", *never)))
    assert [gap.what for gap in coverage.missing if "draw" in gap.what] == ["the draw slip never gave: True"]


def test_who_traces_already_goes_on_seeing_every_line() -> None:
    judged, lines = package("toywalk"), set[int]()
    runner, coverage = ReferenceRunner(judged), Coverage(judged)
    path = str(judged.folder / "reference.py")

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename == path and event == "line":
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with coverage.watching():
            runner.reset(1)
            runner.step(1)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert "R5" not in coverage.unmet
    assert {28, 29, 33} <= lines
