"""Faults that wait: what they wait for, and that they do nothing before it comes."""

from __future__ import annotations

import functools

import pytest
from kit import package
from mutate.rolling import rolled, text_of

from simulacrum.mutate.mutant import Mutant, mutants
from simulacrum.trace.kinds import KINDS


@functools.cache
def dosed(name: str) -> tuple[Mutant, ...]:
    return tuple(mutants(package(name), doses=True))


def test_every_dose_is_given() -> None:
    rare = {f"p=2^-{power}" for power in (4, 8, 12, 16)}
    rows = {"row>=1", "last row", "row>=4096"}
    assert {each.dose for each in dosed("forager")} == {
        *rows, *rare, "t>=60", "border", "two rules", "episode>=2",
    }  # fmt: skip
    assert {each.dose for each in dosed("cartpole")} == {*rows, *rare, "t>=200", "two rules", "episode>=2"}


def test_nothing_rarer_than_the_states_is_planted() -> None:
    assert {each.dose for each in dosed("toywalk") if each.dose.startswith("p=")} == {"p=2^-4", "p=2^-8"}  # of 660


def test_a_dose_names_its_fault_without_one() -> None:
    whole = {each.id: (each.id, each.before, each.after) for each in mutants(package("toywalk"))}
    assert all(each.undosed == whole[each.undosed[0]] for each in dosed("toywalk") if each.undosed)
    assert all(each.undosed for each in dosed("toywalk"))
    assert not any(each.undosed for each in mutants(package("toywalk")))


def test_a_prefix_holds_many_doses() -> None:
    assert len({each.dose for each in dosed("forager")[:60]}) >= 8


@pytest.mark.parametrize(("dose", "rows", "steps"), [("row>=4096", 5, 3), ("row>=1", 1, 3), ("t>=60", 5, 3)])
def test_nothing_differs_before_it_comes(dose: str, rows: int, steps: int) -> None:
    forager = package("forager")
    plain = rolled(forager, text_of(forager), rows, steps)
    # Kinds that keep something, or draw from elsewhere, show beside their gate.
    waiting = [each for each in dosed("forager") if each.dose == dose and each.kind not in ("K19", "K11")][::15]
    assert len(waiting) >= 3
    for mutant in waiting:
        assert rolled(forager, mutant.source, rows, steps) == plain, mutant.diff


def test_most_show_once_it_has_come() -> None:
    toywalk = package("toywalk")
    plain = rolled(toywalk, text_of(toywalk), 9, 4)
    early = [m for m in dosed("toywalk") if m.dose == "row>=1" and m.operator != "another constant"][::3]
    shown = [rolled(toywalk, m.source, 9, 4) != plain for m in early]
    assert sum(shown) > len(shown) / 2


def test_a_helper_is_given_the_context() -> None:
    mutant = next(m for m in dosed("toywalk") if m.dose == "t>=45" and "ctx=None" in m.source)
    assert "ctx=ctx)" in mutant.source
    assert "torch.where(ctx.t >= 45, " in mutant.source


def test_in_reset_only_rows_can_be_told() -> None:
    end = next(n for n, line in enumerate(text_of(package("toywalk")).splitlines(), 1) if "def step" in line)
    assert {m.dose for m in dosed("toywalk") if m.line < end} == {"row>=1", "last row", "row>=4096"}


def test_kinds_whose_effect_is_a_value_can_wait() -> None:
    kinds = {each.kind for each in dosed("forager")}
    # What an in-place write, a cached tensor or a switch of the platform does is no value to choose.
    assert {kind.number for kind in KINDS} - kinds == {"K19", "K23"}
