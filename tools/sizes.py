"""Print lines per file and the longest functions, and mark what is over the house's limits.

The limits are a habit, not a gate: the list shows where reading gets hard. Needs only the standard library.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("simulacrum", "envs", "training", "tools", "tests")
FILE_LIMIT = 250
FUNCTION_LIMIT = 40
LONGEST_SHOWN = 15


def functions(tree: ast.AST) -> Iterator[tuple[str, int, int]]:
    """Yield (name, first line, lines) of each function. Its docstring counts: it is read too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def measure(folder: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return (lines, file) of each Python file below a folder, and (lines, place) of each function."""
    files: list[tuple[int, str]] = []
    found: list[tuple[int, str]] = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        files.append((text.count("\n"), name))
        found.extend((lines, f"{name}:{line} {func}") for func, line, lines in functions(ast.parse(text)))
    return files, found


def mark(lines: int, limit: int) -> str:
    return f"  over {limit}" if lines > limit else ""


def main() -> int:
    longest: list[tuple[int, str]] = []
    for folder in FOLDERS:
        files, found = measure(folder)
        longest.extend(found)
        print(f"{folder}/: {len(files)} files, {sum(lines for lines, _ in files)} lines")
        for lines, name in sorted(files, reverse=True):
            print(f"{lines:6} {name}{mark(lines, FILE_LIMIT)}")
    over = sum(lines > FUNCTION_LIMIT for lines, _ in longest)
    print(f"longest functions ({len(longest)} in all, {over} over {FUNCTION_LIMIT} lines):")
    for lines, place in sorted(longest, reverse=True)[:LONGEST_SHOWN]:
        print(f"{lines:6} {place}{mark(lines, FUNCTION_LIMIT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
