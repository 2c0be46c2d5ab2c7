"""Questions to a syntax tree: what a call is named, what a function gives back, what an assignment binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

STACKS = ("stack", "tensor")  # make one tensor of a list, an item a column


def name_of(node: ast.expr) -> str:
    """The last name of a name or of a dotted one; "" for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def calls_of(function: ast.FunctionDef, names: tuple[str, ...]) -> Iterator[ast.Call]:
    """The calls of anything with one of these names inside a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and name_of(node.func) in names:
            yield node


def returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function gives back: the expression of each `return`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def condition(node: ast.AST) -> ast.expr | None:
    """What a compound statement depends on: the test of an `if` or `while`, what a `for` goes over."""
    if isinstance(node, (ast.If, ast.While)):
        return node.test
    return node.iter if isinstance(node, ast.For) else None


def binds(target: ast.expr, name: str) -> bool:
    """Whether an assignment to the target gives the name a value (`x`, `(x, y)`, `x[0]`, but not `y[x]`)."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(binds(item, name) for item in target.elts)
    if isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        return binds(target.value, name)
    return isinstance(target, ast.Name) and target.id == name


def narrowed(node: ast.stmt | ast.NamedExpr, name: str) -> ast.AST:
    """`b` of `x, y = a, b` for the name `y`, where that can be told apart; else the whole statement."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, two in zip(target.elts, value.elts, strict=True):
                if binds(one, name):
                    return two
    return node


def under_key(node: ast.expr, key: str) -> Iterator[ast.expr]:
    """The values that a returned expression has under a key: of a dict display, or of a call with keywords."""
    for part in ast.walk(node):
        if isinstance(part, ast.Dict):
            for name, value in zip(part.keys, part.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    yield value
        elif isinstance(part, ast.Call):
            yield from (word.value for word in part.keywords if word.arg == key)


def item_at(node: ast.expr, index: tuple[int, ...]) -> Iterator[ast.expr]:
    """The item of a display (or of one that is stacked along the last axis) at an index, where that is plain to see."""
    if isinstance(node, ast.Call) and node.args and name_of(node.func) in STACKS:
        node = node.args[0]
    items = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
    if len(index) == 1 and index[0] < len(items):
        before = items[: index[0] + 1]
        if not any(isinstance(item, ast.Starred) for item in before):
            yield before[-1]


def line_of_part(tree: ast.Module, line: int, path: str) -> int:
    """The line of one part of what a `return` that begins on `line` gives back: path "state.x" names a keyword, or the
    key of a dict. The line itself where the part is not written there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.lineno == line and node.value is not None:
            for part in under_key(node.value, path.rpartition(".")[2]):
                return part.lineno
    return line
