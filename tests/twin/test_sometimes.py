from __future__ import annotations

from typing import Any

from kit import package

from simulacrum.twin.sometimes import Sometimes, sometimes, sometimes_of


class Twin:
    @sometimes("it rains", rule="R3")
    def rains(self, state: Any, action: Any, outcome: Any, ctx: Any) -> bool:
        return bool(state)

    def plain(self) -> None: ...


def test_methods_are_listed_with_their_words_and_stay_what_they_are() -> None:
    assert sometimes_of(Twin) == (Sometimes("it rains", "R3", "rains"),) == sometimes_of(Twin())
    assert Twin().rains(1, None, None, None)


def test_shipped_environments_have_some() -> None:
    for name in ("toywalk", "forager"):
        assert len(sometimes_of(package(name).twin_class("reference"))) >= 2
