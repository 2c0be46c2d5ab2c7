from __future__ import annotations

import pytest

from simulacrum.harness.shrink.ddmin import fewest


@pytest.mark.parametrize("needed", [set(), {0}, {7}, {2, 5}, {0, 3, 9}, set(range(10))])
def test_what_is_needed_is_left(needed: set[int]) -> None:
    asked: list[list[int]] = []

    def holds(kept: list[int]) -> bool:
        asked.append(kept)
        return needed <= set(kept)

    assert fewest(list(range(10)), holds) == sorted(needed)
    assert len(asked) < 200


def test_a_question_that_is_not_answered_any_more_ends_it() -> None:
    assert fewest([1, 2, 3], lambda kept: False) == [1, 2, 3]
    assert fewest([], lambda kept: True) == []
