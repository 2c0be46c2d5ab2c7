"""The list of operators: each has a kind of fault, a name, and a function that yields edits of a twin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulacrum.mutate.sites import Edit, Twin

Find = Callable[[Twin], Iterator[Edit]]
FAST, REFERENCE, BOTH = ("fast.py",), ("reference.py",), ("fast.py", "reference.py")


@dataclass(frozen=True)
class Operator:
    """kind: "K06", or "same" for a rewrite. name: what it does, in a few words. files: the twins it can read."""

    kind: str
    name: str
    files: tuple[str, ...]
    find: Find


OPERATORS: list[Operator] = []
REWRITES: list[Operator] = []


def operator(kind: str, name: str, files: tuple[str, ...] = FAST) -> Callable[[Find], Find]:
    """Enters a function into the list; the same function may be entered under several kinds."""

    def enter(find: Find) -> Find:
        (REWRITES if kind == "same" else OPERATORS).append(Operator(kind, name, files, find))
        return find

    return enter
