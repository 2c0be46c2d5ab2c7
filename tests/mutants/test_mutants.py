"""Each planted fault is caught by exactly the checks it names, and no rewrite that changes nothing by any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mutants.judge import EAGER_CHECKS, caught, statuses, statuses_under
from mutants.mutant import Mutant, copy_env, copy_framework
from mutants.outside import OUTSIDE
from mutants.table import COMPILED, FRAMEWORK, HARMLESS, OTHERS, TWINS
from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.engine.forms import cpp_compiler

# One fault in a twin for every run of the tests, one in the framework and one rewrite for every change. The rest takes
# a quarter of an hour; that each check can fail is shown by the canaries of every full validation too.
QUICK = ("K01 rewards broadcast over the batch",)
EVERY_CHANGE = ("K08 the final observation is the next one", "truncation said in so many words")


def cases(*groups: Sequence[Mutant]) -> list[Any]:
    """The mutants as parameters, marked `long` but for the quick ones, and `nightly` unless they run every change."""
    return [
        pytest.param(mutant, id=mutant.name.replace(" ", "-"), marks=_marks(mutant))
        for group in groups
        for mutant in group
    ]


def _marks(mutant: Mutant) -> list[pytest.MarkDecorator]:
    if mutant.name in QUICK:
        return []
    return [pytest.mark.long, *([] if mutant.name in EVERY_CHANGE else [pytest.mark.nightly])]


@pytest.mark.parametrize("mutant", cases(TWINS, OTHERS, OUTSIDE))
def test_fault_in_an_environment(mutant: Mutant, tmp_path: Path) -> None:
    ended = statuses(copy_env(mutant.env, tmp_path, mutant.edits), tmp_path / "failures")
    assert caught(ended) == mutant.caught_by, ended


@pytest.mark.parametrize("mutant", cases(FRAMEWORK))
def test_fault_in_the_framework(mutant: Mutant, tmp_path: Path) -> None:
    framework = copy_framework(tmp_path / "framework", mutant.edits)
    ended = statuses_under(framework, copy_env(mutant.env, tmp_path), tmp_path / "failures")
    assert caught(ended) == mutant.caught_by, ended


@pytest.mark.parametrize("mutant", cases(HARMLESS))
def test_rewrite_that_changes_nothing(mutant: Mutant, tmp_path: Path) -> None:
    ended = statuses(copy_env(mutant.env, tmp_path, mutant.edits), tmp_path / "failures")
    assert caught(ended) == frozenset(), ended


@pytest.mark.skipif(cpp_compiler() is None, reason="no C++ compiler here")
@pytest.mark.parametrize("mutant", cases(COMPILED))
def test_fault_of_the_compiled_form_alone(mutant: Mutant, tmp_path: Path) -> None:
    folder = copy_env(mutant.env, tmp_path, mutant.edits)
    ended = statuses(folder, tmp_path / "failures", CHECK_NAMES, ("eager", "inductor"))
    assert caught(ended) == mutant.caught_by, ended


def test_every_check_has_a_fault_that_it_catches() -> None:
    for check in EAGER_CHECKS:
        assert any(check in mutant.caught_by for mutant in [*TWINS, *OTHERS, *FRAMEWORK]), check


def test_the_quick_ones_are_in_the_table() -> None:
    assert {*QUICK, *EVERY_CHANGE} <= {mutant.name for mutant in [*TWINS, *OTHERS, *FRAMEWORK, *HARMLESS]}


def test_every_kind_of_fault_is_planted() -> None:
    names = [mutant.name for mutant in [*TWINS, *OTHERS, *FRAMEWORK, *COMPILED]]
    missing = [kind for kind in (f"K{number:02}" for number in range(1, 25)) if not any(kind in n for n in names)]
    assert missing == []
