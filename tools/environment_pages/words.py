"""Small pieces of Markdown and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[str]], figures: bool = False) -> str:
    """A Markdown table; with `figures` all columns but the first are aligned to the right."""
    line = "|---" + ("|--:" if figures else "|---") * (len(head) - 1) + "|"
    return "\n".join(["| " + " | ".join(head) + " |", line, *("| " + " | ".join(row) + " |" for row in rows)])


def short(value: float) -> str:
    """A rate in three digits: 812, 74.3 k, 1.25 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def times(value: float) -> str:
    """How many times as fast: 1,234 or 56 or 7.8."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def number(value: Any) -> str:
    """A number without zeros that say nothing, large integers as powers of 2."""
    if isinstance(value, int) and abs(value) >= 2**53:
        return f"{'-' if value < 0 else ''}2^{abs(value).bit_length() - (value < 0)}{'' if value < 0 else ' - 1'}"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"


def between(low: Any, high: Any) -> str:
    """Two bounds, as the schema has them: numbers, nested tuples of them, None for no bound."""
    lows, highs = _flat(low), _flat(high)
    least = "-inf" if None in lows else number(min(lows))
    most = "inf" if None in highs else number(max(highs))
    return least if least == most else f"{least} to {most}"


def _flat(value: Any) -> list[Any]:
    return [item for part in value for item in _flat(part)] if isinstance(value, tuple) else [value]


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """What is what, as a table of HTML without a heading; the second parts are HTML."""
    lines = "".join(f"<tr><th>{escaped(name)}</th><td>{told}</td></tr>" for name, told in rows)
    return f'<table class="env-glance"><tbody>{lines}</tbody></table>'


def code(text: str) -> str:
    """Code for HTML."""
    return f"<code>{escaped(text)}</code>"


def escaped(text: str) -> str:
    """Text for HTML."""
    return html.escape(text, quote=True)


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def tiles(facts: Sequence[tuple[str, str]]) -> str:
    """A row of figures, each large with a line of words below it; nothing where there are none."""
    if not facts:
        return ""
    boxes = [f"<div><strong>{escaped(large)}</strong><span>{escaped(words)}</span></div>" for large, words in facts]
    return f'<div class="env-tiles">{"".join(boxes)}</div>'
