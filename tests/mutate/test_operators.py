"""Each operator, by one line as it was and as it makes it; all kinds; the numbers that a package gives rise to."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from kit import package
from mutate.rolling import rolled
from mutate.sample import made

from simulacrum.mutate.mutant import mutants, rewrites
from simulacrum.mutate.operators import OPERATORS, REWRITES
from simulacrum.trace.kinds import KINDS

ENVIRONMENTS = sorted(each.parent.name for each in Path(__file__).parents[2].glob("envs/*/schema.json"))
BLOCKS = {"pong", "minatar_breakout"}  # whose batched twins have blocks inside blocks


class Case(NamedTuple):
    """One operator on one line of one twin; comments at the line's end left out."""

    kind: str
    operator: str
    source: str
    old: str
    new: str


def read_cases() -> list[Case]:
    """The blocks of operators.txt."""
    blocks = Path(__file__).with_name("operators.txt").read_text("utf-8").strip().split("\n\n")
    return [Case(*lines[0].split(" | "), *(line[2:] for line in lines[1:])) for lines in map(str.splitlines, blocks)]


CASES = read_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.kind} {c.operator}, {c.source}".replace(" ", "-"))
def test_one_line(case: Case) -> None:
    found = [each for each in made(case.source) if (each.kind, each.operator) == (case.kind, case.operator)]
    changed = [
        (old.partition("  # ")[0].strip(), new.partition("  # ")[0].strip())
        for each in found
        for old, new in zip(each.original.splitlines(), each.source.splitlines(), strict=False)
        if old != new
    ]
    assert (case.old, case.new) in changed


def test_every_operator_has_a_line_here() -> None:
    shown = {(case.kind, case.operator, case.source.partition("/")[2] + ".py") for case in CASES}
    known = {(each.kind, each.name, file) for each in (*OPERATORS, *REWRITES) for file in each.files}
    assert {each for each in known if each[2] != "__init__.py"} == shown


def test_every_kind_has_operators() -> None:
    assert {each.kind for each in OPERATORS} == {kind.number for kind in KINDS}


def test_every_operator_is_in_the_docs() -> None:
    text = " ".join(Path(__file__).parents[2].joinpath("docs", "mutation.md").read_text("utf-8").split())
    assert [each.name for each in (*OPERATORS, *REWRITES) if each.name not in text] == []


@pytest.mark.parametrize(("name", "least"), [("toywalk", 60), ("forager", 120), ("cartpole", 60), ("pendulum", 60)])
def test_a_package_gives_enough(name: str, least: int) -> None:
    assert len([each for each in made(f"{name}/fast") if each.kind != "same"]) >= least


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in BLOCKS else pytest.mark.nightly) for name in ENVIRONMENTS]
)
def test_every_environment_has_places_for_faults_and_for_rewrites(name: str) -> None:
    """Whatever its twins are written like: loops, blocks inside blocks, another program in place of the reference."""
    judged = package(name)
    assert len(mutants(judged)) > 100
    assert len(mutants(judged, file="reference.py")) > 10
    assert len(rewrites(judged)) >= 30


def test_all_kinds_have_a_place_in_forager() -> None:
    assert {each.kind for each in made("forager/fast")} == {*(kind.number for kind in KINDS), "same"}


@pytest.mark.parametrize("name", ["toywalk", "forager", "rivals"])
def test_few_are_stillborn(name: str) -> None:
    sample = [each for each in made(f"{name}/fast") if each.kind != "same"][::13]
    assert sum(not _runs(name, each.source) for each in sample) < 0.1 * len(sample)


def _runs(name: str, source: str) -> bool:
    try:
        rolled(package(name), source)
    except Exception:
        return False
    return True


def test_constants_of_both_twins() -> None:
    found = mutants(package("toywalk"), file="__init__.py")
    lines = {line for each in found for line in each.source.splitlines()}
    assert {"GOAL = 5 + 1", "GOAL = 5 - 1", "GOAL_REWARD = 10.0 * 1.5", "LEFT_END = -5 + 1"} <= lines


def test_one_operation_on_tensors_is_not_made_wider() -> None:
    wide = {each.before for each in made("forager/fast") if each.operator == "another width of floats"}
    assert wide == {"state.energy - STEP_ENERGY + gain", "gain * GAIN_REWARD - STEP_COST"}
