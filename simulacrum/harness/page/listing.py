"""The source of a twin as a page shows it: whole functions, coloured, with marked lines and what they computed."""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulacrum.contract.source import Source
from simulacrum.harness.explain.line_watcher import RanLine
from simulacrum.harness.explain.written import SourceLine

FAR = 4  # functions are shown that hold a line no further than this from where the value is handed over
LONG = 70  # characters of a value

Part = tuple[str, str]  # class ("k", "s", "c", "n" or "") and text


@dataclass(frozen=True)
class ListedLine:
    """One line: its parts, how near it is to the value (None: not part of it), whether it ran, what it computed."""

    line: int
    parts: tuple[Part, ...]
    distance: int | None
    ran: bool
    rules: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    first: bool = False  # where the first value that differs was computed

    @property
    def marked(self) -> bool:
        return self.distance is not None


@dataclass(frozen=True)
class Listing:
    """The functions of one twin that have a part in the value, in the file's order."""

    file: str
    functions: tuple[tuple[ListedLine, ...], ...]


def listing(source: Source, lines: tuple[SourceLine, ...], ran: tuple[RanLine, ...], first: int | None) -> Listing:
    """The functions around `lines`. ran: what ran, with its values. first: the line of the first differing value."""
    near = {line.line: line for line in lines if line.distance is None or line.distance <= FAR}
    told = {line.line: line for line in lines}
    values = {line.line: line.values for line in ran}
    parts = coloured(source.text)
    nodes = sorted(_functions(source.tree), key=lambda node: node.lineno)
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes]
    loose = [line for line in near.values() if not any(line.line in span for span in spans)]
    functions: list[tuple[ListedLine, ...]] = []
    if loose:  # constants at the top of the file
        functions.append(
            tuple(ListedLine(one.line, parts.get(one.line, ()), one.distance, True, one.rules, ()) for one in loose)
        )
    for node, span in zip(nodes, spans, strict=True):
        if any(line in near for line in span):
            ran_at_all = any(line in values for line in span)
            head = range(node.lineno, node.body[0].lineno)  # no event is told of a `def`
            functions.append(tuple(
                ListedLine(
                    line, parts.get(line, ()), told[line].distance if line in told else None,
                    line in values or (ran_at_all and line in head),
                    told[line].rules if line in told else (), _spelled(values.get(line, {})), line == first,
                )
                for line in span
            ))  # fmt: skip
    return Listing(source.path.name, tuple(functions))


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Functions of the file and methods of its classes, not those inside functions."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    return [node for body in bodies for node in body if isinstance(node, ast.FunctionDef)]


def _spelled(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, brief(value)) for name, value in values.items())


def brief(value: Any) -> str:
    """A value as short text."""
    text = repr(value)
    return text if len(text) <= LONG else text[: LONG - 3] + "..."


def coloured(text: str) -> dict[int, tuple[Part, ...]]:
    """The parts of each line by kind: "k" keywords, "s" texts, "c" comments, "n" numbers, "" everything else."""
    lines = text.split("\n")
    marks: dict[int, list[tuple[int, int, str]]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = _kind(token)
        if not kind:
            continue
        (first, left), (last, right) = token.start, token.end
        for line in range(first, last + 1):
            begin, stop = left if line == first else 0, right if line == last else len(lines[line - 1])
            marks.setdefault(line, []).append((begin, stop, kind))
    return {number: tuple(_cut(line, marks.get(number, []))) for number, line in enumerate(lines, 1)}


def _kind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "k" if keyword.iskeyword(token.string) else ""
    if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
        return "s"
    return {tokenize.COMMENT: "c", tokenize.NUMBER: "n"}.get(token.type, "")


def _cut(line: str, marks: list[tuple[int, int, str]]) -> list[Part]:
    found: list[Part] = []
    at = 0
    for begin, stop, kind in sorted(marks):
        if begin > at:
            found.append(("", line[at:begin]))
        found.append((kind, line[max(begin, at) : stop]))
        at = max(at, stop)
    return [part for part in [*found, ("", line[at:])] if part[1]]
