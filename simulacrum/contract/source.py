"""What a Python file says, read from its syntax tree: nothing is run, so a broken twin can be judged."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simulacrum.contract.fields import DISTRIBUTIONS
from simulacrum.contract.node import read_text
from simulacrum.errors import PackageError

_TAG = re.compile(r"\bR([1-9][0-9]*)\b")


@dataclass(frozen=True)
class Import:
    """One imported name: `from .a import b` has level 1, module "a", name "b"; `import a.b` no name."""

    module: str
    name: str | None
    level: int
    line: int
    typing_only: bool


@dataclass(frozen=True)
class Mark:
    """An `@invariant("text", rule="R9")` or `@sometimes` on a method; text and rule are None where no literals."""

    method: str
    text: str | None
    rule: str | None
    line: int


@dataclass(frozen=True)
class DrawCall:
    """A call such as `ctx.draw.uniform("slot")`; the slot is None where it is no literal."""

    distribution: str
    slot: str | None
    line: int


@dataclass(frozen=True)
class Source:
    """A parsed Python file."""

    path: Path
    tree: ast.Module
    text: str

    def imports(self) -> Iterator[Import]:
        """Every import statement, also inside functions."""
        guarded = {
            id(inner) for node in ast.walk(self.tree) if _is_typing_guard(node) for inner in _body(node)
        }
        for node in ast.walk(self.tree):
            hidden = id(node) in guarded
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(alias.name, None, 0, node.lineno, hidden)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield Import(node.module or "", alias.name, node.level, node.lineno, hidden)

    def tags(self) -> dict[str, int]:
        """The rules named in comments and docstrings ("R7"), each with the first line that names it."""
        found: dict[str, int] = {}
        for line, words in sorted([*self.comments(), *self._docstrings()]):
            for offset, part in enumerate(words.split("\n")):
                for match in _TAG.finditer(part):
                    found.setdefault(match[0], line + offset)
        return found

    def classes(self, base: str) -> list[ast.ClassDef]:
        """The classes that name `base` (possibly dotted) among their bases."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef) and any(_last_name(parent) == base for parent in node.bases)
        ]

    def invariants(self) -> list[Mark]:
        """The methods marked as invariants, in the order of the file."""
        return self.marks("invariant")

    def marks(self, name: str) -> list[Mark]:
        """The methods marked by the decorator `name` ("invariant", "sometimes"), in the order of the file."""
        functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        return [
            Mark(node.name, _argument(call, 0, "text"), _argument(call, 1, "rule"), node.lineno)
            for node in sorted(functions, key=lambda node: node.lineno)
            for call in node.decorator_list
            if isinstance(call, ast.Call) and _last_name(call.func) == name
        ]

    def draw_calls(self) -> list[DrawCall]:
        """The calls of a distribution on something named `draw`."""
        return [
            DrawCall(node.func.attr, _argument(node, 0, "slot"), node.lineno)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in DISTRIBUTIONS
            and _last_name(node.func.value) == "draw"
        ]

    def texts(self) -> set[str]:
        """Every text literal of the file."""
        values = (node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant))
        return {value for value in values if isinstance(value, str)}

    def calls(self, names: set[str]) -> list[tuple[str, int]]:
        """The calls of functions or methods with one of these names, with their lines."""
        return [
            (name, node.lineno)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and (name := _last_name(node.func)) in names
        ]

    def comments(self) -> Iterator[tuple[int, str]]:
        """Every comment with its line."""
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string

    def _docstrings(self) -> Iterator[tuple[int, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body:
                first = node.body[0]
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    value = first.value.value
                    if isinstance(value, str):
                        yield first.lineno, value


def rule_names(text: str) -> list[str]:
    """The rules that a text mentions, in order: ["R7", "R2"]."""
    return [match[0] for match in _TAG.finditer(text)]


def read_source(path: Path) -> Source:
    """The parsed file. Raises PackageError: missing, unreadable, not UTF-8, or not Python (line named)."""
    text = read_text(path, PackageError)
    try:
        return Source(path, ast.parse(text, str(path)), text)
    except SyntaxError as error:
        raise PackageError(
            f"{path.name} is not Python: {error.msg}",
            found=(error.text or "").strip(),
            where=f"{path}, line {error.lineno}",
            next_step="mend the syntax",
        ) from None
    except (ValueError, RecursionError) as error:  # NUL bytes; nesting without end
        raise PackageError(
            f"{path.name} is not Python: {error}", where=path, next_step="mend the file"
        ) from None


def _is_typing_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"


def _body(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.If)
    for statement in node.body:
        yield from ast.walk(statement)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _argument(call: ast.Call, position: int, keyword: str) -> str | None:
    node = call.args[position] if len(call.args) > position else None
    for given in call.keywords:
        if given.arg == keyword:
            node = given.value
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None
