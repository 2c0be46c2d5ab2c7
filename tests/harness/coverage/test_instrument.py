"""Instrumented code computes what the code computed, and records what it came by."""

from __future__ import annotations

import ast
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from simulacrum.harness.coverage.instrument import instrumented, is_plain
from simulacrum.harness.coverage.watch import Watched

SOURCE = '''
def kinds(n):
    """Its words."""
    total = 0
    for i in range(n):
        if i == 3:
            break
        total += i if i % 2 else -i
    while total > 5:
        total -= 1
    return total

def ends(low, high, x):
    return x < low or x > high

def joined(a, b, c):
    return a | b | c

def guarded(values, i):
    return i < len(values) and values[i] == 3

def shape(kind):
    match kind:
        case 1:
            return "one"
        case 2:
            return "two"
    return "many"

def caught(value):
    try:
        return int(value)
    except ValueError:
        return [part for part in value if part != "x"]

def drawn(ctx):
    return ctx.draw.bernoulli("slip", 0.5)

class Twin:
    def step(self, state, action, ctx):
        state = state + action
        return state, 1.0, False

    def __init__(self):
        self.untouched = True
'''


@pytest.fixture
def module() -> ModuleType:
    made = ModuleType("made")
    made.__file__ = "made.py"
    exec(compile(SOURCE, "made.py", "exec"), made.__dict__)
    return made


@pytest.fixture
def watched() -> Watched:
    return Watched(ast.parse(SOURCE), conditions=True)


def lacking(watched: Watched) -> list[str]:
    return [point.what for point in watched.map.points if not watched.seen.hits[point.number]]


CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("kinds", (0,)), ("kinds", (2,)), ("kinds", (9,)), ("ends", (0, 5, 7)), ("ends", (0, 5, -1)), ("ends", (0, 5, 3)),
    ("joined", (True, False, False)), ("joined", (5, 2, 8)), ("guarded", ([1, 3], 1)), ("guarded", ([1, 3], 9)),
    ("shape", (1,)), ("shape", (3,)), ("caught", ("12",)), ("caught", ("yxz",)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), CALLS)
def test_values_are_what_they_were(module: ModuleType, watched: Watched, name: str, given: tuple[Any, ...]) -> None:
    function = getattr(module, name)
    plain = function(*given)
    with watched.watching(module):
        assert getattr(module, name) is function
        assert function(*given) == plain
    assert function(*given) == plain


def test_nothing_is_recorded_outside(module: ModuleType, watched: Watched) -> None:
    code = module.kinds.__code__
    with watched.watching(module):
        assert module.kinds.__code__ is not code
    assert module.kinds.__code__ is code
    module.kinds(9)
    assert not any(watched.seen.hits)


def test_an_error_puts_the_code_back(module: ModuleType, watched: Watched) -> None:
    code = module.kinds.__code__
    with pytest.raises(TypeError), watched.watching(module):
        module.kinds("no number")
    assert module.kinds.__code__ is code


def test_each_outcome_is_a_point_of_its_own(module: ModuleType, watched: Watched) -> None:
    with watched.watching(module):
        module.kinds(2)
    left = lacking(watched)
    assert "`i == 3` was never true" in left
    assert "`i % 2` was never true" not in left
    assert "`total > 5` was never true" in left
    with watched.watching(module), watched.watching(module):  # nested: once
        module.kinds(9)
    left = lacking(watched)
    assert "`i == 3` was never true" not in left
    assert "the loop never came to its end" not in left


def test_an_operand_is_seen_once_it_decides_alone(module: ModuleType, watched: Watched) -> None:
    with watched.watching(module):
        module.ends(5, 0, 3)  # both true: neither decides alone
        assert "`x < low` was never true while the rest of its `or` was false" in lacking(watched)
        module.ends(0, 5, 7)
        module.ends(0, 5, -1)
        assert any(what.startswith("the `or` from `x < low`") for what in lacking(watched))
        module.ends(0, 5, 2)
    assert not [what for what in lacking(watched) if "low" in what or "high" in what]


def test_operands_of_bits_are_asked_for_where_they_are_truths(module: ModuleType, watched: Watched) -> None:
    with watched.watching(module):
        module.joined(True, False, False)
        module.joined(False, False, True)
    assert "`b` was never true while the rest of its `or` was false" in lacking(watched)
    assert "`a` was never true while the rest of its `or` was false" not in lacking(watched)
    with watched.watching(module):
        module.joined(1, 2, 4)
    assert len(watched.seen.other) == 4  # they join numbers, so nothing is asked of them


def test_a_guard_decides_where_what_it_guards_cannot_be_evaluated(module: ModuleType, watched: Watched) -> None:
    with watched.watching(module):
        module.guarded([1, 3], 9)
    assert not [what for what in lacking(watched) if what.startswith("`i < len(values)`")]


def test_outcomes_of_draws_are_noted(module: ModuleType, watched: Watched) -> None:
    def bernoulli(slot: str, p: float) -> bool:
        return True

    with watched.watching(module):
        module.drawn(SimpleNamespace(draw=SimpleNamespace(bernoulli=bernoulli)))
    assert watched.seen.drawn == {"slip": {True}}
    assert watched.seen.possible == {"slip": {True, False}}
    assert "slip" in watched.map.slots


def test_a_step_gives_what_it_was_given_to_those_who_watch(module: ModuleType, watched: Watched) -> None:
    seen: list[Any] = []
    # In the place of the method: it keeps what it is given.
    watched.seen.stepped = lambda given, outcome: seen.append((given, outcome)) or outcome  # type: ignore[method-assign]
    twin = module.Twin()
    with watched.watching(module):
        assert twin.step(3, 4, None) == (7, 1.0, False)
    assert seen == [((twin, 3, 4, None), (7, 1.0, False))]  # the state from before, though the name was used again


def test_what_is_plain() -> None:
    def plain(text: str) -> bool:
        return is_plain(ast.parse(text, mode="eval").body)

    assert plain("not any(alive) and energy <= 0.0")
    assert plain("state.x[k] == -x + 1")
    assert not plain("self._dead(state)")
    assert not plain("(n := 3) > 2")
    assert not plain("ctx.draw.bernoulli('slip', 0.5)")


def test_statements_alone_without_conditions() -> None:
    _, points = instrumented(ast.parse(SOURCE), conditions=False)
    assert all(point.is_statement for point in points.points if point.what != "the loop never came to its end")
