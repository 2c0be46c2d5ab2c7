"""The Markdown of spec.md as headings, numbered rules and tables, each with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from simulacrum.errors import SpecError

_RULE = re.compile(r"\*\*(R[1-9][0-9]*)\*\*[:.]?\s*(.*)", re.DOTALL)
_NEARLY_RULE = re.compile(r"[*_(\[]*R[0-9]+\b")


@dataclass(frozen=True)
class Rule:
    """One numbered rule: id ("R7"), its text in one line, the level-2 heading above it, its line."""

    id: str
    text: str
    heading: str
    line: int


@dataclass(frozen=True)
class Row:
    """One row of a table: its cells by column, free of code and bold marks, and its line in the file."""

    cells: Mapping[str, str]
    line: int

    def __getitem__(self, column: str) -> str:
        return self.cells[column]


@dataclass(frozen=True)
class Table:
    """A table of the spec. A heading that says "None." has the table with its columns and no rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    line: int


class Reader:
    """Walks the tokens of markdown-it once and keeps headings, rules, and tables by heading."""

    def __init__(self, text: str, where: str) -> None:
        from markdown_it import MarkdownIt

        self.text = text
        self.lines: list[str] = text.split("\n")
        self.where = where
        self.tokens: list[Any] = list(MarkdownIt("commonmark").enable("table").parse(text))
        self.title = ""
        self.headings: dict[str, int] = {}
        self.rules: dict[str, Rule] = {}
        self.tables: dict[str, list[Table]] = {}
        self.none: set[str] = set()
        self.heading = ""
        self._walk()

    def fail(
        self, line: int, message: str, *, mend: str, expected: object = None, found: object = None
    ) -> NoReturn:
        raise SpecError(
            message, expected=expected, found=found, where=f"{self.where}, line {line}", next_step=mend
        )

    def _walk(self) -> None:
        items: list[int] = []  # lines of the list items we are in
        for index, token in enumerate(self.tokens):
            if token.type == "heading_open":
                self._heading(token, self.tokens[index + 1].content.strip())
            elif token.type == "list_item_open":
                items.append(token.map[0])
                self._item(token, self.tokens[index + 2].content if index + 2 < len(self.tokens) else "")
            elif token.type == "list_item_close":
                items.pop()
            elif token.type == "table_open":
                self._table(index)
            elif token.type == "paragraph_open":
                content = self.tokens[index + 1].content
                if content.strip() == "None.":
                    self.none.add(self.heading)
                if not items and _RULE.match(content):
                    self.fail(
                        token.map[0] + 1,
                        "a rule is a list item",
                        expected="- **R7** text",
                        found=content.split("\n")[0][:60],
                        mend="put `- ` before it",
                    )

    def _heading(self, token: Any, content: str) -> None:
        line = token.map[0] + 1
        if token.tag == "h1":
            if self.title:
                self.fail(
                    line,
                    "a second title",
                    expected="one level-1 heading",
                    found=content,
                    mend="use ## for it",
                )
            self.title = content
        elif token.tag == "h2":
            if content in self.headings:
                self.fail(
                    line,
                    f"the heading {content!r} occurs twice",
                    found=f"first in line {self.headings[content]}",
                    mend="merge the two sections",
                )
            self.headings[content] = line
            self.heading = content

    def _item(self, token: Any, content: str) -> None:
        first: int = token.map[0]
        end: int = token.map[1]
        match = _RULE.match(content)
        if match is None:
            if _NEARLY_RULE.match(content):
                self.fail(
                    first + 1,
                    "this looks like a rule but is not written as one",
                    expected="- **R7** text",
                    found=self.lines[first].strip()[:60],
                    mend="write the number alone in bold, then the text",
                )
            return
        name = match[1]
        source = " ".join(" ".join(self.lines[first:end]).split())
        words = source.partition(f"**{name}**")[2].lstrip(":. ").strip()
        if not words:
            self.fail(
                first + 1, f"{name} has no text", expected=f"- **{name}** text", mend="say what the rule is"
            )
        if name in self.rules:
            self.fail(
                first + 1,
                f"{name} is stated twice",
                found=f"first in line {self.rules[name].line}",
                mend="give one of them another number",
            )
        self.rules[name] = Rule(name, words, self.heading, first + 1)

    def _table(self, index: int) -> None:
        columns: list[str] = []
        rows: list[Row] = []
        cells: list[str] = []
        start = self.tokens[index].map[0] + 1
        line = start
        for position in range(index, len(self.tokens)):
            token = self.tokens[position]
            if token.type == "tr_open":
                cells, line = [], token.map[0] + 1
            elif token.type == "th_open":
                columns.append(_plain(self.tokens[position + 1].content).lower())
            elif token.type == "td_open":
                cells.append(_plain(self.tokens[position + 1].content))
            elif token.type == "tr_close" and cells:
                rows.append(Row(dict(zip(columns, cells, strict=False)), line))
            elif token.type == "table_close":
                break
        self.tables.setdefault(self.heading, []).append(Table(tuple(columns), tuple(rows), start))


def _plain(content: str) -> str:
    """A cell without code marks and bold."""
    return content.replace("`", "").replace("**", "").strip()
