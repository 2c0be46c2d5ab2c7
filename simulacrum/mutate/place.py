"""What a changed line is about: the rules tagged on it or where its function is called, and the fields it names."""

from __future__ import annotations

import ast
import re

from simulacrum.contract.package import EnvPackage
from simulacrum.mutate.mutant import Mutant

TAG = re.compile(r"\bR\d+\b")


def spoken_of(mutant: Mutant, package: EnvPackage) -> tuple[frozenset[str], frozenset[str]]:
    """(rules, fields) of the line that a mutant changes, read from the file as it was.

    A line's rules are those tagged on the statement it belongs to; where there is none, those of its function: tagged
    in it, or on the lines that call it. Its fields are the schema's names that the statement spells.
    """
    text = mutant.original or (package.folder / mutant.file).read_text("utf-8")
    lines = text.splitlines()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return frozenset(), frozenset()
    first, last = _statement(tree, mutant.line)
    spelled = "\n".join(lines[first - 1 : last])
    rules = set(TAG.findall(spelled)) or _of_function(tree, lines, mutant.line)
    schema = package.schema
    known = {*schema.state.fields, *schema.info.fields, "reward", "terminated", "truncated", "observation"}
    return frozenset(rules), frozenset(known & set(re.findall(r"\w+", spelled)))


def _statement(tree: ast.Module, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement that holds a line and no other statement."""
    best = (line, line)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            last = node.end_lineno or node.lineno
            if node.lineno <= line <= last:
                best = (node.lineno, last)
    return best


def _of_function(tree: ast.Module, lines: list[str], line: int) -> set[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    holding = [node for node in functions if _first(node) <= line <= (node.end_lineno or node.lineno)]
    if not holding:
        return set()
    function = max(holding, key=lambda node: node.lineno)
    rules = set(TAG.findall("\n".join(lines[_first(function) - 1 : function.end_lineno])))
    call = re.compile(rf"\b{re.escape(function.name)}\(")
    callers = [text for number, text in enumerate(lines, start=1) if call.search(text) and number != function.lineno]
    return rules | {rule for text in callers for rule in TAG.findall(text)}


def _first(function: ast.FunctionDef) -> int:
    """The first line of a function, decorators included: an invariant's rule stands there."""
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])
