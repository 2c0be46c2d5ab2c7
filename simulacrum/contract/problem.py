"""One thing that does not hold together in a package, in the words that mend it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simulacrum.errors import ContractError


@dataclass(frozen=True)
class Problem:
    """`file` is relative to the package's folder, `line` None where no line can be named.

    `clause` is the rule, table cell or JSON path that is not kept ("R7", "State.position", "$.x-draws.slip").
    """

    file: str
    line: int | None
    clause: str
    message: str
    mend: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.clause}: {self.message}; {self.mend}"


def from_error(error: ContractError, folder: Path, file: str) -> Problem:
    """A ContractError, raised while reading `file` of the package, as a Problem."""
    where = str(error.where or "").replace(str(folder) + "/", "")
    name, _, tail = where.partition(", ")
    line, clause = None, tail or name or file
    if tail.startswith("line "):
        digits = tail.removeprefix("line ").split(",")[0]
        line = int(digits) if digits.isdigit() else None
    details = [
        f"{label} {value}"
        for label, value in (("expected", error.expected), ("found", error.found))
        if value is not None
    ]
    message = error.message + (f" ({'; '.join(details)})" if details else "")
    return Problem(file, line, clause.removeprefix("at "), message, error.next_step or "mend it")
