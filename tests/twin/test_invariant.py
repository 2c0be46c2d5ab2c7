"""Invariants are marks on methods."""

from __future__ import annotations

from typing import Any

from kit import package

from simulacrum.twin.invariant import Invariant, invariant, invariants_of


class Base:
    @invariant("b holds", rule="R2")
    def b(self, state: Any, ctx: Any) -> bool:
        return True

    def plain(self) -> None: ...


class Child(Base):
    @invariant("a holds", rule="R1")
    def a(self, state: Any, ctx: Any) -> bool:
        return state > 0


def test_they_are_listed_by_name_with_inherited_ones() -> None:
    wanted = (Invariant("a holds", "R1", "a"), Invariant("b holds", "R2", "b"))
    assert invariants_of(Child) == invariants_of(Child()) == wanted
    assert Child().a(1, None) is True
    assert Child().a(0, None) is False


def test_both_twins_mark_the_same_ones() -> None:
    for name in ("counter", "glider", "dials", "canvas", "rivals", "toywalk", "forager"):
        ours, theirs = invariants_of(package(name).reference()), invariants_of(package(name).fast())
        assert [(each.method, each.rule) for each in ours] == [(each.method, each.rule) for each in theirs]
        assert ours
