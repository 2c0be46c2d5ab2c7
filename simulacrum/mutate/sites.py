"""A parsed twin with what its expressions were in a run, and edits of its text that leave everything else in place."""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import PackageError
from simulacrum.mutate.seen import Fact, Facts, seen

Kind = TypeVar("Kind", bound=ast.AST)
NOTHING = Fact("unseen")
# The methods that the engine calls. Invariants are left alone: they judge what happens and change nothing of it.
ENTRIES = ("reset", "step", "observe", "info", "action_mask")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple, ast.Dict, ast.ListComp)


@dataclass(frozen=True, order=True)
class Piece:
    """New text for the bytes from `start` to `end` of a file."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Edit:
    """What an operator does at one site: the node it is about, the pieces of text it replaces, and why.

    `lift` is False where the effect is no value of the expression, so that no gate can be put around it.
    """

    site: ast.AST
    pieces: tuple[Piece, ...]
    note: str = ""
    lift: bool = True


class Twin:
    """`fast.py` or `reference.py` of a package: text, syntax tree, and the facts of its expressions.

    Raises:
        PackageError: the file is not Python.
        ContractError: the twin does not run.
    """

    def __init__(self, package: EnvPackage, file: str = "fast.py", text: str | None = None) -> None:
        self.package, self.schema, self.file = package, package.schema, file
        self.text = (package.folder / file).read_text("utf-8") if text is None else text
        try:
            self.tree = ast.parse(self.text)
        except SyntaxError as error:
            raise PackageError(
                f"{file} is not Python", found=error.msg, where=f"{file}, line {error.lineno}"
            ) from error
        self.data = self.text.encode()
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._facts: Facts = {} if file == "__init__.py" else seen(package, file, self.tree)

    # Nodes

    @functools.cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions whose results reach the engine: the entries, and what they call by name, in textual order."""
        every = {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)}
        reached, waiting = set[str](), [name for name in ENTRIES if name in every]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += [called for called in self.called(every[name]) if called in every]
        return {name: node for name, node in every.items() if name in reached}

    def called(self, node: ast.AST) -> dict[str, list[ast.Call]]:
        """The calls of `self.name(...)` and `name(...)` inside a node, by name."""
        calls: dict[str, list[ast.Call]] = {}
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            func = call.func
            own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
            if isinstance(func, ast.Name) or own:
                calls.setdefault(last_name(func), []).append(call)
        return calls

    @functools.cached_property
    def callers(self) -> dict[str, list[tuple[ast.FunctionDef, ast.Call]]]:
        """The calls of functions by their names in the whole file, each with the function that it stands in."""
        found: dict[str, list[tuple[ast.FunctionDef, ast.Call]]] = {}
        for node in (each for each in ast.walk(self.tree) if isinstance(each, ast.FunctionDef)):
            for name, calls in self.called(node).items():
                found.setdefault(name, []).extend((node, call) for call in calls)
        return found

    def nodes(self, kind: type[Kind], *functions: str) -> Iterator[Kind]:
        """The nodes of a type in the bodies of the named functions, or of all that matter, in textual order."""
        for name, function in self.functions.items():
            if not functions or name in functions:
                found = [
                    node for statement in function.body for node in ast.walk(statement) if isinstance(node, kind)
                ]
                # Many nodes begin at one place: the outer one first, as `ast.walk` gives them.
                yield from sorted(found, key=lambda node: self.span(node)[0])

    def reads(self, *functions: str) -> Iterator[ast.expr]:
        """Names and attributes that are read as values: not the `a.b` of `a.b.c`, nor what only lends its form."""
        for node in self.nodes(ast.expr, *functions):
            if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
                continue
            parent = self.parent(node)
            called = last_name(parent.func) if isinstance(parent, ast.Call) and parent.args[:1] == [node] else ""
            whole = not isinstance(parent, ast.Attribute) or self.fact(node).kind == "tensor"
            if whole and not called.endswith("_like"):
                yield node

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that hold this one, the nearest first."""
        while (parent := self._parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node."""
        return next(each for each in (node, *self.above(node)) if isinstance(each, ast.stmt))

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        return next((each for each in self.above(node) if isinstance(each, ast.FunctionDef)), None)

    def outer(self, edit: Edit) -> tuple[ast.AST, ...]:
        """The functions that an edit touches, or the whole file if it goes beyond them."""
        spans = {node: self.span(node) for node in self.functions.values()}
        homes: list[ast.AST] = []
        for piece in edit.pieces:
            home = next((n for n, (a, b) in spans.items() if a <= piece.start and piece.end <= b), self.tree)
            homes += [] if home in homes else [home]
        return (self.tree,) if self.tree in homes else tuple(sorted(homes, key=self.span))

    def argument(self, function: str, position: int) -> str:
        """The name of a method's argument, `self` not counted: of `step`, 0 is the state and 2 the context."""
        node = self.functions.get(function)
        names = [argument.arg for argument in node.args.args[1:]] if node is not None else []
        return names[position] if position < len(names) else ""

    def fact(self, node: ast.AST | None) -> Fact:
        """What an expression was in the run; kind "unseen" where it was never evaluated."""
        return self._facts.get(cast(Any, node).index, NOTHING) if hasattr(node, "index") else NOTHING

    # Text

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends in the file's bytes."""
        at = cast(Any, node)
        return (
            self._starts[at.lineno - 1] + at.col_offset,
            self._starts[at.end_lineno - 1] + at.end_col_offset,
        )

    def raw(self, node: ast.AST) -> str:
        """The text of a node as it stands in the file."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def src(self, node: ast.AST) -> str:
        """The same, with parentheses where an operator beside it could take it apart."""
        return atomic(self.raw(node))

    def put(self, node: ast.AST, text: str) -> Piece:
        """`text` in a node's place, in parentheses where it needs them."""
        parent = self._parents.get(node)
        open_place = isinstance(parent, (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp))
        open_place = open_place or (isinstance(parent, ast.Subscript) and parent.value is node)
        open_place = open_place or isinstance(parent, (ast.Starred, ast.comprehension, ast.GeneratorExp))
        start, end = self.span(node)
        return Piece(start, end, atomic(text) if open_place or "\n" in text else text)

    def replaced(self, node: ast.AST, text: str, note: str = "", *, lift: bool = True) -> Edit:
        """The edit that puts `text` in a node's place."""
        return Edit(node, (self.put(node, text),), note, lift)

    def before(self, statement: ast.stmt, text: str) -> Piece:
        """`text` as a statement of its own in front of another, on its line."""
        start, _ = self.span(statement)
        return Piece(start, start, f"{text}; ")


def comments(text: str) -> list[str]:
    """The comments of a file, in order."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def apply(data: bytes, pieces: Sequence[Piece], start: int = 0, end: int | None = None) -> str:
    """The text of `data[start:end]` with the pieces in it. Raises ValueError where pieces overlap."""
    out: list[bytes] = []
    at = start
    for piece in sorted(pieces):
        if piece.start < at:
            raise ValueError(f"pieces overlap at byte {piece.start}")
        out += [data[at : piece.start], piece.text.encode()]
        at = piece.end
    out.append(data[at:end])
    return b"".join(out).decode()


def atomic(text: str) -> str:
    """The text of an expression, in parentheses unless it binds as tightly as a name."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return f"({text})"
    negative = isinstance(node, ast.Constant) and text.startswith("-")
    whole = isinstance(node, _ATOMS) or (isinstance(node, ast.Constant) and not negative)
    if isinstance(node, (ast.Tuple,)) and not text.startswith("("):
        whole = False
    return text if whole and not ("\n" in text and isinstance(node, ast.Attribute)) else f"({text})"


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c` and of `c`; "" for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST, context: type[ast.expr_context] = ast.Load) -> set[str]:
    """The plain names that are read (or, with `ast.Store`, written) in a node."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}
