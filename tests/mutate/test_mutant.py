"""Mutants as a list: names that stay, texts that keep everything else, an order whose beginning is mixed."""

from __future__ import annotations

import ast

import pytest
from kit import package
from mutate.sample import made

from simulacrum.mutate.mutant import Mutant, mutants, spread
from simulacrum.mutate.sites import comments


def test_names_are_unique_and_the_same_again() -> None:
    first, again = mutants(package("glider")), mutants(package("glider"))
    assert [each.id for each in first] == [each.id for each in again]
    assert len({each.id for each in first}) == len(first)
    assert first == again


@pytest.mark.parametrize("source", ["forager/fast", "forager/reference", "toywalk/fast", "sample/fast"])
def test_everything_else_stays(source: str) -> None:
    for mutant in made(source)[::12]:
        ast.parse(mutant.source)
        assert mutant.source != mutant.original
        assert comments(mutant.source) == comments(mutant.original)
        old, new = mutant.original.splitlines(), mutant.source.splitlines()
        assert old[: mutant.line - 1] == new[: mutant.line - 1], mutant.diff
        touched = mutant.before.count("\n") + 1
        assert old[mutant.line - 1 + touched :] == new[len(new) - len(old) + mutant.line - 1 + touched :], mutant.diff


def test_no_two_say_the_same() -> None:
    texts = [ast.dump(ast.parse(each.source)) for each in made("toywalk/fast")]
    assert len(set(texts)) == len(texts)
    assert ast.dump(ast.parse(made("toywalk/fast")[0].original)) not in texts


def test_a_beginning_holds_many_kinds_and_lines() -> None:
    first = mutants(package("toywalk"))[:40]
    assert len({each.kind for each in first}) >= 20
    assert len({each.line for each in first}) >= 10


def test_kinds_can_be_chosen() -> None:
    assert {each.kind for each in mutants(package("toywalk"), kinds=["K06", "K17"])} == {"K06", "K17"}


def test_a_kind_without_a_place_gives_nothing() -> None:
    assert mutants(package("cartpole"), kinds=["K15"], file="reference.py") == []


def test_invariants_are_left_alone() -> None:
    marked = next(n for n, line in enumerate(made("toywalk/fast")[0].original.splitlines(), 1) if "@invariant" in line)
    assert all(each.line < marked for each in made("toywalk/fast"))


def test_diff() -> None:
    mutant = next(each for each in made("toywalk/fast") if each.operator == "a rule before its input")
    assert mutant.diff.splitlines()[:2] == ["--- a/fast.py", "+++ b/fast.py"]
    added = [line for line in mutant.diff.splitlines()[2:] if line.startswith("+")]
    assert added == ["+        at_goal = state.position == GOAL  # bool [N]"]


def test_spread_takes_kinds_by_turns() -> None:
    given = [Mutant(f"{n}", kind, f"op {n}", "fast.py", n, "", "", "") for kind in ("K01", "K02") for n in range(3)]
    assert [each.kind for each in spread(given)] == ["K01", "K02"] * 3
