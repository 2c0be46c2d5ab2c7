"""A twin with one fault planted in it, and the two lists of them that a package gives rise to."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from simulacrum.contract.package import EnvPackage


@dataclass(frozen=True)
class Mutant:
    """One file of a package with one change in it.

    id: a short hash of file, operator, site and dose, the same in every run. kind: "K01" to "K24", or "same" for a
    rewrite that changes nothing. operator: its short name. file: "fast.py", "reference.py" or "__init__.py".
    line: where the change begins. before, after: the fragment as it was and as it is. source: the whole changed file.
    dose: "" where the fault is always there, or what it waits for ("t>=200", "row>=1", "p=2^-4", ...).
    note: what the change means, where the fragments do not say it.
    """

    id: str
    kind: str
    operator: str
    file: str
    line: int
    before: str
    after: str
    source: str
    dose: str = ""
    note: str = ""
    original: str = ""

    @property
    def diff(self) -> str:
        """The change as a unified diff with three lines around it."""
        old, new = self.original.splitlines(keepends=True), self.source.splitlines(keepends=True)
        return "".join(difflib.unified_diff(old, new, f"a/{self.file}", f"b/{self.file}"))


def mutants(
    package: EnvPackage, *, file: str = "fast.py", kinds: Sequence[str] | None = None, doses: bool = False
) -> list[Mutant]:
    """The faults that the operators can plant in a file, in an order whose beginning is spread over kinds and lines.

    kinds: only these ("K06", ...). doses: each fault that can be made to wait, in its rarer forms, instead of the
    undosed ones.
    """
    return []


def rewrites(package: EnvPackage) -> list[Mutant]:
    """Rewrites of fast.py that change no bit of what it computes: the battery must let each of them through."""
    return []


def short_id(*parts: str) -> str:
    """Eight hex digits that stand for these words, the same in every run and on every machine."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
