"""What a check counted, for people: a line a fact, and a table for what is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

FIRST, LAST = 10, 3  # rows shown of a long table


def show_evidence(console: Console, evidence: Mapping[str, Any]) -> None:
    """Print evidence, tables after the lines."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for key, value in evidence.items():
        if _is_table(value):
            tables[key] = value
            continue
        text = json.dumps(value, default=str, ensure_ascii=False)
        console.print(Text.assemble((f"  {key}: ", "dim"), text), soft_wrap=True)
    for key, rows in tables.items():
        console.print(table_of(key, rows))


def _is_table(value: Any) -> bool:
    """Whether it is a list of objects that all have the same names, with numbers or short texts in them."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        return False
    rows = cast("list[dict[str, Any]]", value)
    plain = all(isinstance(cell, (int, float, str)) for row in rows for cell in row.values())
    return plain and all(row.keys() == rows[0].keys() for row in rows)


def table_of(title: str, rows: list[dict[str, Any]]) -> Table:
    """The rows as a table with a line of sums below; of a long one the first and last rows."""
    table = Table(title=Text(f"  {title}", style="dim"), title_justify="left", show_footer=len(rows) > 1)
    names = list(rows[0])
    for number, name in enumerate(names):
        numbers = [row[name] for row in rows if not isinstance(row[name], str)]
        total = f"{sum(numbers):,}" if number and len(numbers) == len(rows) else "all" if not number else ""
        table.add_column(name, footer=total, justify="right" if numbers else "left")
    for place, row in enumerate(rows):
        if len(rows) > FIRST + LAST + 1 and FIRST <= place < len(rows) - LAST:
            if place == FIRST:
                table.add_row(*["..." for _ in names], style="dim")
            continue
        table.add_row(*[cell if isinstance(cell, str) else f"{cell:,}" for cell in row.values()])
    return table
