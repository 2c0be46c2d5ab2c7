"""Reading a `fast.py` for operations whose bits are not promised: `lint_fast(path)`.

The list of operations is data (`ops.json`, measured by tests/benchmarks/portable_ops.py). An operation
that is not on it is a finding. A line that ends in `# portable: reason` waives its findings, which are
still reported with the reason.

The file is read, not run, so dtypes and shapes are unknown. What that leaves unseen is listed in
docs/portable-numbers.md; the differential and batch-independence checks stand behind it.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from simulacrum.errors import PackageError

_WAIVER = re.compile(r"#\s*portable:\s*(\S.*)$")


@dataclass(frozen=True, order=True)
class Finding:
    """One operation at a line and column (both from 1); `waived` is the reason given on the line, or None."""

    file: str
    line: int
    column: int
    operation: str
    reason: str
    instead: str
    waived: str | None = None

    def __str__(self) -> str:
        end = f" (waived: {self.waived})" if self.waived else f"; instead: {self.instead}"
        return f"{self.file}:{self.line}:{self.column}: {self.operation}: {self.reason}{end}"


@dataclass(frozen=True)
class Operation:
    """One row of ops.json. `needs` are conditions on a call, as `lint_calls` reads them."""

    name: str
    portable: bool
    needs: tuple[str, ...]
    reason: str
    instead: str


@dataclass(frozen=True)
class Operations:
    """ops.json, by spelling (`+`, `clamp`) and by name (`in-place`)."""

    allowed: Mapping[str, Operation]
    refused: Mapping[str, Operation]
    named: Mapping[str, Operation]


@lru_cache(maxsize=1)
def operations() -> Operations:
    """The measured list. Of two rows with one spelling, portable and not, the portable one's needs decide."""
    raw = json.loads(Path(__file__).with_name("ops.json").read_text(encoding="utf-8"))
    allowed: dict[str, Operation] = {}
    refused: dict[str, Operation] = {}
    named: dict[str, Operation] = {}
    for entry in cast("list[dict[str, Any]]", raw["operations"]):
        portable = entry["verdict"] == "portable"
        operation = Operation(
            entry["name"],
            portable,
            tuple(entry.get("needs", ())),
            entry.get("reason", ""),
            entry.get("instead", ""),
        )
        named[operation.name] = operation
        for spelling in cast("list[str]", entry["spelled"]):
            (allowed if portable else refused).setdefault(spelling, operation)
    return Operations(allowed, refused, named)


def lint_fast(path: str | Path, linted: Collection[str] = ()) -> list[Finding]:
    """All findings of a file in order, waived ones included; PackageError where it is not readable Python.

    `linted` names modules that are read like this file, and so may be imported by it.
    """
    from simulacrum.portable.lint_visitor import Visitor

    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text, filename=str(file))
    except (OSError, SyntaxError, ValueError) as error:
        raise PackageError(
            "the batched twin cannot be read",
            expected="a readable Python file",
            found=str(error),
            where=str(file),
            next_step="mend the file, then validate again",
        ) from error
    visitor = Visitor(operations(), linted)
    visitor.visit(tree)
    waivers = _waivers(text)
    findings: set[Finding] = set()
    for node, operation, reason, instead in visitor.found:
        line: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", None) or line
        waived = next((waivers[n] for n in range(line, last + 1) if n in waivers), None)
        column: int = getattr(node, "col_offset", 0) + 1
        findings.add(Finding(str(file), line, column, operation, reason, instead, waived))
    return sorted(findings, key=lambda f: (f.line, f.column, f.operation))


def _waivers(text: str) -> dict[int, str]:
    """Line -> reason, from comments only (a `#` inside a string is none)."""
    result: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and (match := _WAIVER.search(token.string)):
            result[token.start[0]] = match.group(1).strip()
    return result
