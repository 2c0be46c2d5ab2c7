"""A twin read for its places: facts, spans, and texts put in without taking anything else apart."""

from __future__ import annotations

import ast

import pytest
from kit import package
from mutate.sample import FAST

from simulacrum.errors import PackageError
from simulacrum.mutate.seen import VARIED
from simulacrum.mutate.sites import Piece, Twin, apply, atomic, comments


@pytest.fixture(scope="module")
def sample() -> Twin:
    return Twin(package("counter"), "fast.py", FAST)


def node(twin: Twin, text: str) -> ast.expr:
    """The first expression of that text that is read."""
    read = (each for each in twin.nodes(ast.expr) if not isinstance(getattr(each, "ctx", None), ast.Store))
    return next(each for each in read if twin.raw(each) == text)


def test_facts(sample: Twin) -> None:
    pair, several = sample.fact(node(sample, "pair")), sample.fact(node(sample, "several > 0"))
    assert (pair.kind, pair.dtype, pair.shape, pair.rows) == ("tensor", "int32", (2,), True)
    assert several.is_bool
    assert several.rows
    assert sample.fact(node(sample, "MARKS")).low == 65536
    assert sample.fact(node(sample, "(state.count - 3) // 2")).low < 0


def test_facts_that_vary() -> None:
    forager = Twin(package("forager"))
    assert sample_shape(forager, "kind == 1") == VARIED
    assert forager.fact(node(forager, "[state.alive[:, k] & ~eaten[k] for k in range(BERRIES)]")).length == 6


def sample_shape(twin: Twin, text: str) -> tuple[int, ...]:
    return twin.fact(node(twin, text)).shape


def test_what_invariants_alone_call_is_left_alone(sample: Twin) -> None:
    assert list(sample.functions) == ["reset", "step", "observe", "info", "action_mask"]
    assert "on_the_line" not in Twin(package("toywalk")).functions


def test_put_adds_brackets_where_they_are_needed(sample: Twin) -> None:
    inner = node(sample, "state.count - 3")
    assert sample.put(inner, "a + b").text == "(a + b)"
    assert sample.put(node(sample, "state.count + 1"), "a + b").text == "a + b"
    assert sample.put(inner, "f(a)").text == "f(a)"


@pytest.mark.parametrize(
    ("text", "whole"),
    [("a.b", "a.b"), ("a + b", "(a + b)"), ("-1", "(-1)"), ("a, b", "(a, b)"), ("~x", "(~x)"), ("x[0]", "x[0]")],
)
def test_atomic(text: str, whole: str) -> None:
    assert atomic(text) == whole


def test_pieces() -> None:
    assert apply(b"one two three", [Piece(8, 13, "drei"), Piece(0, 3, "eins")]) == "eins two drei"
    with pytest.raises(ValueError, match="overlap"):
        apply(b"one two", [Piece(0, 3, "a"), Piece(2, 5, "b")])


def test_comments_of_a_text() -> None:
    assert comments("x = '# no'  # yes\n") == ["# yes"]


def test_a_text_that_is_not_python() -> None:
    with pytest.raises(PackageError, match="not Python"):
        Twin(package("counter"), "fast.py", "def (")


def test_what_is_not_ascii_keeps_its_place() -> None:
    twin = Twin(package("counter"), "fast.py", FAST.replace("# R4", "# R4: größer"))
    assert twin.raw(node(twin, "count == ctx.params.goal")) == "count == ctx.params.goal"
