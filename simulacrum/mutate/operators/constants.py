"""K20: numbers and named constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import is_shaping
from simulacrum.mutate.operators.registry import BOTH, operator
from simulacrum.mutate.sites import Edit, Twin


@operator("K20", "a number one off", BOTH)
def one_off(twin: Twin) -> Iterator[Edit]:
    """An integer, by name or as it stands, plus or minus one."""
    for node in _numbers(twin):
        if twin.fact(node).kind == "int":
            yield twin.replaced(node, f"{twin.raw(node)} + 1")
            yield twin.replaced(node, f"{twin.raw(node)} - 1")


@operator("K20", "another number", BOTH)
def other_number(twin: Twin) -> Iterator[Edit]:
    """A float, by name or as it stands: with the other sign, and one and a half times as large; 0.0 -> 1.0."""
    for node in _numbers(twin):
        fact = twin.fact(node)
        if fact.kind == "float":
            others = ("1.0",) if fact.low == fact.high == 0.0 else (f"-{twin.src(node)}", f"{twin.src(node)} * 1.5")
            for text in others:
                yield twin.replaced(node, text)


def _numbers(twin: Twin) -> Iterator[ast.expr]:
    for node in twin.nodes(ast.expr):
        plain = isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())
        negative = isinstance(twin.parent(node), ast.UnaryOp)
        if plain and not negative and not is_shaping(twin, node) and twin.fact(node).kind in ("int", "float"):
            yield node


@operator("K20", "another constant", BOTH)
def other_constant(twin: Twin) -> Iterator[Edit]:
    """A named constant -> the next one of its type with another value."""
    used: dict[str, tuple[str, float]] = {}
    for node in twin.nodes(ast.Name):
        fact = twin.fact(node)
        if node.id.isupper() and fact.kind in ("int", "float") and fact.low is not None:
            used[node.id] = (fact.kind, fact.low)
    names = sorted(used)
    for node in _numbers(twin):
        if isinstance(node, ast.Name) and node.id in used:
            kind, value = used[node.id]
            at = names.index(node.id)
            others = [name for name in [*names[at + 1 :], *names[:at]] if used[name][0] == kind]
            other = next((name for name in others if used[name][1] != value), None)
            if other is not None:
                yield twin.replaced(node, other)


@operator("K20", "a constant of both twins", ("__init__.py",))
def shared(twin: Twin) -> Iterator[Edit]:
    """A number that both twins import: one more or less, half as much again. No twin can catch it beside the other."""
    for statement in twin.tree.body:
        value = statement.value if isinstance(statement, ast.Assign) else None
        number = value.operand if isinstance(value, ast.UnaryOp) else value
        if value is None or not isinstance(number, ast.Constant) or isinstance(number.value, bool):
            continue
        if not isinstance(number.value, (int, float)):
            continue
        whole = isinstance(number.value, int)
        for text in (f"{twin.raw(value)} + 1", f"{twin.raw(value)} - 1") if whole else (f"{twin.raw(value)} * 1.5",):
            yield twin.replaced(value, text, "both twins read it")
