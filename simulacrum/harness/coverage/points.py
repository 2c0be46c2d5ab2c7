"""What is to be seen of a twin's code: statements, outcomes of its conditions, operands that decide alone.

A point is one such thing, and has a number: its place in the record of what has been seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from simulacrum.contract.source import Source

NEVER = "never:"  # `# never: why` declares that what its statement still lacks cannot come up


@dataclass(frozen=True)
class Point:
    """One thing to be seen.

    number: its place in the record. line: where it stands. what: what is missing while it has not been seen, in words.
    leads: of the outcome of an `if`, the first line of the block that it leads to; 0 where there is none.
    """

    number: int
    line: int
    what: str
    leads: int = 0

    @property
    def is_statement(self) -> bool:
        """Whether it is a statement, not an outcome of something in one."""
        return self.what == RAN


RAN = "never ran"


@dataclass
class Block:
    """Consecutive statements that run one after the other: the lines on which each begins."""

    lines: list[int] = field(default_factory=list[int])


@dataclass
class Map:
    """All points of one twin.

    statements: the lines of each statement (of a compound one, those of its head), by its first line.
    blocks: the blocks that they stand in. functions: the lines of each function that is watched, by its name.
    slots: where each draw slot is drawn, as far as its name is a literal.
    """

    points: list[Point] = field(default_factory=list[Point])
    statements: dict[int, range] = field(default_factory=dict[int, range])
    blocks: list[Block] = field(default_factory=list[Block])
    functions: dict[str, range] = field(default_factory=dict[str, range])
    slots: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, line: int, what: str, leads: int = 0) -> int:
        """The number of a new point."""
        self.points.append(Point(len(self.points), line, what, leads))
        return len(self.points) - 1

    def place(self, line: int) -> range | None:
        """The lines of the innermost statement at a comment, or of the next one below it."""
        around = [lines for lines in self.statements.values() if line in lines]
        if around:
            return min(around, key=len)
        below = [lines for lines in self.statements.values() if lines.start > line]
        return min(below, key=lambda lines: lines.start, default=None)

    def function_at(self, line: int) -> str | None:
        """The name of the innermost watched function around a line."""
        around = [(len(lines), name) for name, lines in self.functions.items() if line in lines]
        return min(around)[1] if around else None


def lines_of(node: ast.stmt) -> range:
    """The lines of a simple statement; of a compound one, those of its head."""
    body: list[ast.stmt] | None = getattr(node, "body", None)
    last = node.end_lineno or node.lineno
    return range(node.lineno, max(node.lineno + 1, min(last + 1, body[0].lineno) if body else last + 1))


def declared(source: Source, points: Map) -> dict[int, str]:
    """The lines of statements that the author says never to reach in full, each with the reason.

    A comment `# never: why` speaks for the statement that it stands on, or for the next one below. At the head of a
    block it speaks for the whole block.
    """
    found: dict[int, str] = {}
    for line, text in source.comments():
        words = text.lstrip("# ")
        place = points.place(line) if words.startswith(NEVER) and words[len(NEVER) :].strip() else None
        if place is not None:
            found[place.start] = words[len(NEVER) :].strip()
    for block in points.blocks:
        if block.lines and block.lines[0] in found:
            for line in block.lines:
                found.setdefault(line, found[block.lines[0]])
    return found


def excused(point: Point, lines: Iterable[int]) -> bool:
    """Whether a declaration speaks for the point: for its own statement, or for the block that it leads to."""
    return point.line in lines or (point.leads > 0 and point.leads in lines)
