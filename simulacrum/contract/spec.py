"""spec.md, parsed: numbered rules under the required headings, and the tables that the schema repeats."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulacrum.contract.markdown import Reader, Row, Rule, Table
from simulacrum.contract.node import read_text, suggestion
from simulacrum.errors import SpecError

HEADINGS = (
    "Purpose",
    "Constants",
    "State",
    "Parameters",
    "Draws",
    "Actions",
    "Episode start",
    "Step",
    "Observation",
    "Reward",
    "Episode end",
    "Invariants",
)
_FIELD_COLUMNS = ("field", "dtype", "shape", "low", "high", "meaning")
# The tables that must stand under a heading (or the one word "None."), by their columns.
TABLES: dict[str, tuple[str, ...]] = {
    "Constants": ("name", "value", "meaning"),
    "State": _FIELD_COLUMNS,
    "Parameters": ("name", "dtype", "default", "low", "high", "meaning"),
    "Draws": ("slot", "phase", "distribution", "dtype", "count", "rule"),
}
# Under these a table with the columns of State is optional, and compared where it stands.
FIELD_TABLES = ("State", "Actions", "Observation", "Reward")
# The one constant that the schema owns (as x-max-episode-steps); either spelling.
TIME_LIMIT_NAMES = ("max_episode_steps", "MAX_EPISODE_STEPS")

_LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|TBD)\b")


@dataclass(frozen=True)
class Spec:
    """A parsed spec.md. `headings` gives the line of each level-2 heading, `tables` the tables below it."""

    title: str
    headings: Mapping[str, int]
    rules: Mapping[str, Rule]
    constants: Mapping[str, Any]
    tables: Mapping[str, tuple[Table, ...]]
    text: str = field(repr=False, default="")
    path: str = "spec.md"

    def table(self, heading: str) -> Table:
        """The required table under "Constants", "State", "Parameters" or "Draws"."""
        return next(table for table in self.tables[heading] if table.columns == TABLES[heading])

    def rules_under(self, heading: str) -> tuple[Rule, ...]:
        """The rules under a level-2 heading, in the order of the file."""
        return tuple(rule for rule in self.rules.values() if rule.heading == heading)


def load_spec(path: str | Path) -> Spec:
    """The Spec in a file. Raises SpecError, which names file and line, as `parse_spec` does."""
    return parse_spec(read_text(Path(path), SpecError), str(path))


def parse_spec(text: str, where: str) -> Spec:
    """The Spec in a text; `where` names its source in messages.

    Raises:
        SpecError: a heading is missing or doubled, a table has other columns, a rule number is missing,
            doubled or not written as `- **R7** text`, or a TODO, FIXME, XXX or TBD is left.
    """
    page = Reader(text, where)
    _check_headings(page)
    _check_leftovers(page)
    _check_rules(page)
    return Spec(
        title=page.title,
        headings=page.headings,
        rules=dict(sorted(page.rules.items(), key=lambda item: int(item[0][1:]))),
        constants=_constants(page),
        tables=_required_tables(page),
        text=text,
        path=where,
    )


def _check_headings(page: Reader) -> None:
    if not page.title:
        page.fail(1, "the spec has no title", expected="# NAME in the first line", mend="write one")
    missing = [name for name in HEADINGS if name not in page.headings]
    if missing:
        surplus = [name for name in page.headings if name not in HEADINGS]
        near = next((hint for name in missing if (hint := suggestion(name, surplus))), None)
        page.fail(
            len(page.lines),
            f"missing heading: {', '.join(missing)}",
            expected="## " + ", ## ".join(HEADINGS),
            found=", ".join(page.headings) or "none",
            mend=f"add `## {missing[0]}`" + (f" ({near})" if near else ""),
        )


def _check_leftovers(page: Reader) -> None:
    marks = [
        (number, match[1])
        for number, line in enumerate(page.lines, 1)
        for match in [_LEFTOVER.search(line)]
        if match
    ]
    if marks:
        places = ", ".join(f"{word} in line {number}" for number, word in marks)
        page.fail(
            marks[0][0],
            f"the spec is unfinished: {places}",
            mend="decide what is open and remove the mark",
        )


def _check_rules(page: Reader) -> None:
    if not page.rules:
        page.fail(1, "the spec states no rule", expected="- **R1** text", mend="number the rules")
    numbers = sorted(int(name[1:]) for name in page.rules)
    gaps = sorted(set(range(1, numbers[-1] + 1)) - set(numbers))
    if gaps:
        missing = ", ".join(f"R{number}" for number in gaps[:5])
        after = next(number for number in numbers if number > gaps[0])
        page.fail(
            page.rules[f"R{after}"].line,
            f"rule numbers have a gap: {missing}",
            expected=f"R1 to R{numbers[-1]} without gaps",
            found=f"{len(numbers)} rules",
            mend="renumber the rules",
        )


def _required_tables(page: Reader) -> dict[str, tuple[Table, ...]]:
    for heading, columns in TABLES.items():
        found = page.tables.setdefault(heading, [])
        line = page.headings[heading]
        same_start = [table for table in found if table.columns[:1] == columns[:1]]
        for table in same_start:
            if table.columns != columns:
                page.fail(
                    table.line,
                    f"the table under {heading} has other columns",
                    expected=" | ".join(columns),
                    found=" | ".join(table.columns),
                    mend="name the columns as expected, in that order",
                )
        if len(same_start) > 1:
            page.fail(same_start[1].line, f"{heading} has two such tables", mend="merge them")
        if same_start and heading in page.none:
            page.fail(line, f"{heading} says None. and has a table", mend="remove one of the two")
        if not same_start:
            if heading not in page.none:
                page.fail(
                    line,
                    f"{heading} has no table",
                    expected=" | ".join(columns),
                    mend='add the table, or the one word "None."',
                )
            found.append(Table(columns, (), line))
    return {heading: tuple(tables) for heading, tables in page.tables.items()}


def _constants(page: Reader) -> dict[str, Any]:
    values: dict[str, Any] = {}
    tables = [table for table in page.tables.get("Constants", []) if table.columns == TABLES["Constants"]]
    for row in (row for table in tables for row in table.rows):
        name = row["name"]
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and name not in TIME_LIMIT_NAMES:
            page.fail(
                row.line,
                f"{name!r} is no name of a constant",
                expected="UPPER_CASE, as in __init__.py",
                found=name,
                mend="rename it",
            )
        if name in values:
            page.fail(row.line, f"the constant {name} is listed twice", mend="remove one of the rows")
        values[name] = _literal(page, row)
    return values


def _literal(page: Reader, row: Row) -> Any:
    try:
        return ast.literal_eval(row["value"])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        page.fail(
            row.line,
            f"the value of {row['name']} is not a literal",
            expected="a number, text or tuple of them",
            found=row["value"] or "nothing",
            mend="write the value itpage, as Python would",
        )
