"""Count what the project tests itself with: `python tools/how_we_test.py`, and `--write` to put it into the page.

Counted is what stands in the files: functions, not the cases that pytest makes of them. Rows are (what, count, where).
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import run_page

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-we-test.md"
BEGIN, END = "<!-- counts: python tools/how_we_test.py --write -->", "<!-- end of counts -->"
Row = tuple[str, int, str]


def test_functions(folder: Path) -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Each function that pytest takes for a test, with its file."""
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                yield path, node


def is_marked(function: ast.FunctionDef, mark: str) -> bool:
    """Whether a decorator names the mark."""
    return any(f"pytest.mark.{mark}" in ast.unparse(one) for one in function.decorator_list)


def counted() -> list[Row]:
    """All rows, in the order of the page."""
    return [*_tests(), *_faults(), *_outside(), *_pages()]


def _tests() -> Iterator[Row]:
    found = list(test_functions(ROOT / "tests"))
    rooms = [path for path in (ROOT / "simulacrum").iterdir() if (path / "__init__.py").is_file()]
    yield "tests, as functions", len(found), "`tests/`"
    yield "files that they stand in", len({path for path, _ in found}), "`tests/`"
    yield (
        "of these tests, properties of drawn examples",
        sum("given" in ast.unparse(one) for _, node in found for one in node.decorator_list),
        "Hypothesis",
    )
    tested = sum((ROOT / "tests" / room.name).is_dir() for room in rooms)
    yield "of the rooms that are folders, those with a folder of tests", tested, "`tests/ROOM/`"
    yield "rooms that are folders", len(rooms), "`simulacrum/`"


def _faults() -> Iterator[Row]:
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from conformance.faults import FAULTS
    from mutants import outside, table

    from simulacrum.harness.canaries.faults import CANARIES
    from simulacrum.mutate.operators import OPERATORS, REWRITES
    from simulacrum.trace.kinds import KINDS

    mutants = [*table.TWINS, *table.OTHERS, *outside.OUTSIDE]
    yield "canaries: faults planted in every full validation", len(CANARIES), "`simulacrum/harness/canaries/`"
    yield "wrong environments, each with the checks that must catch it", len(mutants), "`tests/mutants/`"
    yield "faults of the engine, the same", len(table.FRAMEWORK), "`tests/mutants/`"
    yield "rewrites that change nothing and must pass", len(table.HARMLESS), "`tests/mutants/`"
    yield "kinds of fault that `simulacrum mutate` plants", len(KINDS), "`simulacrum/trace/kinds.py`"
    yield "operators that plant them", len(OPERATORS), "`simulacrum/mutate/operators/`"
    yield "rewrites that it makes, none of them a fault", len(REWRITES), "`simulacrum/mutate/`"
    yield "wrong vector environments, each for one rule of the contract", len(FAULTS), "`tests/conformance/faults/`"


def _outside() -> Iterator[Row]:
    schemas = list((ROOT / "envs").glob("*/schema.json"))
    driven = [path for path in schemas if '"x-outside"' in path.read_text(encoding="utf-8")]
    ports = json.loads((ROOT / "docs" / "assets" / "ports.json").read_text(encoding="utf-8"))
    yield "environments", len(schemas), "`envs/`"
    yield "of them, those whose reference is somebody else's program", len(driven), "`x-outside` in `schema.json`"
    yield "environments of ports, compared with their originals step by step", len(ports["results"]), "`tests/ports/`"
    libraries = re.search(r"^LIBS \?= (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    count = len(libraries[1].split()) if libraries else 0
    yield "libraries, each tested in an environment of its own", count, "`make test-libraries`"
    yield "tests in a browser", len(list(test_functions(ROOT / "tests" / "browser"))), "`make test-browser`"


def _pages() -> Iterator[Row]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [block for page in pages for block in run_page.parse(page)]
    code, printed = ([one for one in blocks if (one.language == "text") is text] for text in (False, True))
    yield "pages", len(pages), "`README.md`, `docs/`"
    yield "blocks of code in them that run as tests", sum(one.reason is None for one in code), "`tools/run_page.py`"
    yield "blocks that are left out, each with its reason", sum(one.reason is not None for one in code), "the same"
    yield "outputs that a page shows and that must have been printed", len(printed), "the same"


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = ["| What | Count | Where |", "|---|--:|---|"]
    return "\n".join([*lines, *(f"| {what} | {count:,} | {where} |" for what, count, where in rows)])


def shown(page: Path = PAGE) -> list[Row]:
    """The rows that the page has.

    Raises:
        SystemExit: the page has no place for them.
    """
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{page} has no lines {BEGIN} and {END} for the counts to stand between")
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| (.+?) \|$", text.split(BEGIN)[1].split(END)[0], re.MULTILINE)
    return [(what, int(count.replace(",", "")), where) for what, count, where in rows]


def write(rows: list[Row], page: Path = PAGE) -> None:
    """Put the rows into the page."""
    shown(page)
    text = page.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{after}", encoding="utf-8")


def main(words: list[str] | None = None) -> int:
    """Print the table, or write it; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/how-we-test.md")
    args = parser.parse_args(words)
    rows = counted()
    if args.write:
        write(rows)
    else:
        print(table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
