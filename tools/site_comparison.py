"""The table of speeds on the page that compares tools, made of what was measured when the site is built.

    python tools/site_comparison.py        print the table

mkdocs calls this file (`hooks:` in mkdocs.yml). The line `<!-- speeds -->` of docs/comparison.md becomes the table; its
figures are those of docs/assets/environments/NAME-throughput.json, which `make bench-environments` writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).resolve().parent.parent / "docs" / "assets" / "environments"
PAGE, MARK = "comparison.md", "<!-- speeds -->"
SIZES = ("64", "8192")


def times(ratio: float) -> str:
    """A ratio as a person would say it: 0.4, 3.7, 12, 130."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def lines_of(name: str, part: dict[str, Any]) -> list[str]:
    """A line of the table for each other program that was measured beside an environment."""
    made = []
    for row in part["rows"]:
        if row["kind"] != "peer":
            continue
        ratios = [times(row["native_is"][size]) if size in row["native_is"] else "-" for size in SIZES]
        made.append(f"| [{name}](environments/{name}.md) | {row['name']} | {row['version']} | {' | '.join(ratios)} |")
    return made


def table(folder: Path = MEASURED) -> str:
    """The whole table, environments in the order of their names, with how busy the machine was."""
    parts = {
        path.name.removesuffix("-throughput.json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*-throughput.json"))
    }
    lines = ["| Environment | Beside | Version | N = 64 | N = 8,192 |", "|---|---|---|--:|--:|"]
    for name, part in parts.items():
        lines += lines_of(name, part)
    loads = [part["load"] for part in parts.values()]
    cores = max(part["machine"]["cores"] for part in parts.values())
    busy = f"Meanwhile {min(loads):.0f} to {max(loads):.0f} processes wanted the machine's {cores} cores."
    return "\n".join(lines) + f"\n\n{busy if max(loads) > cores else ''}".rstrip()


def on_page_markdown(markdown: str, page: Any, **given: Any) -> str:
    """Put the table in where the page asks for it."""
    return markdown.replace(MARK, table()) if page.file.src_uri == PAGE else markdown


if __name__ == "__main__":
    print(table())
