"""Evidence for people: facts a line, equal objects as a table."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from simulacrum.cli.evidence import FIRST, LAST, show_evidence


def shown(evidence: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=100)
    show_evidence(console, evidence)
    return console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO from above


def test_facts_are_lines_and_lists_of_equal_objects_tables_with_sums() -> None:
    text = shown({"depths": [{"depth": 0, "states": 1200}, {"depth": 1, "states": 34}], "seconds": {"eager": 1.5}})
    assert text.startswith('  seconds: {"eager": 1.5}')
    assert "1,200" in text
    assert "1,234" in text


def test_a_long_table_has_its_first_and_last_rows() -> None:
    text = shown({"depths": [{"depth": n, "states": 1000 + n} for n in range(50)]})
    assert "1,009" in text
    assert "1,049" in text
    assert "1,020" not in text
    assert "..." in text
    short = shown({"depths": [{"depth": n, "states": 1000 + n} for n in range(FIRST + LAST + 1)]})
    assert "..." not in short


def test_what_is_no_table_stays_a_line() -> None:
    assert shown({"rules": ["R1", "R2"], "mixed": [{"a": 1}, {"b": 2}], "empty": []}).count("\n") == 3
