"""What a reference answered is taken over by an equal one alone, and changes nothing of what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kit import package

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Outcome
from simulacrum.harness.small.answers import Answers
from simulacrum.harness.small.nodes import Scalar

SUB_CHECKS = ["small_model", "boundary_states", "boundary_pairs"]
RIGHT, WRONG = "at_goal = position == GOAL  # bool [N]", "at_goal = position > GOAL  # bool [N]"

Steps = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The states that the reference was stepped from."""
    states: list[Any] = []
    real = Scalar.step

    def step(self: Scalar, state: Any, *rest: Any) -> Any:
        states.append(state)
        return real(self, state, *rest)

    monkeypatch.setattr(Scalar, "step", step)
    return states


@pytest.mark.parametrize("sub_check", SUB_CHECKS)
def test_an_equal_reference_is_asked_once(sub_check: str, steps: Steps, changed: Changed, asked: list[Any]) -> None:
    answers = Answers()
    first = steps(sub_check, changed("toywalk"), answers=answers)
    assert first.status == "passed"
    assert asked
    asked.clear()
    again = steps(sub_check, changed("toywalk"), answers=answers)
    assert not asked
    assert again == first


@pytest.mark.parametrize("sub_check", SUB_CHECKS)
def test_a_wrong_twin_is_found_alike(sub_check: str, steps: Steps, changed: Changed, asked: list[Any]) -> None:
    answers = Answers()
    steps(sub_check, changed("toywalk"), answers=answers)
    wrong = changed("toywalk", ("fast.py", RIGHT, WRONG))
    asked.clear()
    known = steps(sub_check, wrong, answers=answers)
    assert not asked
    plain = steps(sub_check, wrong)
    assert known.status == plain.status == "failed"
    assert known.message == plain.message
    assert known.divergence is not None
    assert plain.divergence is not None
    assert known.divergence.difference == plain.divergence.difference


def test_another_reference_is_asked_itself(steps: Steps, changed: Changed) -> None:
    answers = Answers()
    assert steps("small_model", changed("toywalk"), answers=answers).status == "passed"
    wrong = changed("toywalk", ("reference.py", "terminated = position == GOAL", "terminated = position > GOAL"))
    assert steps("small_model", wrong, answers=answers).status == "failed"


def test_what_was_not_answered_whole_is_not_kept() -> None:
    book = Answers().of(package("counter"))

    def breaks() -> Iterator[int]:
        yield 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(book.all("raises", breaks))
    assert next(book.all("left", lambda: iter([1, 2]))) == 1
    assert list(book.all("raises", lambda: [3])) == [3]
    assert list(book.all("left", lambda: [4])) == [4]
    assert list(book.all("left", lambda: [5])) == [4]


def test_no_more_is_kept_than_there_is_room_for() -> None:
    answers = Answers(most=3)
    book = answers.of(package("counter"))
    assert book.one("a", lambda: 1) == 1
    assert list(book.all("b", lambda: [1, 2, 3])) == [1, 2, 3]
    assert list(book.all("b", lambda: [4])) == [4]
    assert answers.size == 2
