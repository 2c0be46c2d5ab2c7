"""Stated truths about every reachable state, named by the rule of the spec that promises them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK = "__invariant__"


@dataclass(frozen=True)
class Invariant:
    """One invariant of a twin: its words, its rule id ("R14") and the name of the method that computes it."""

    text: str
    rule: str
    method: str


def invariant(text: str, *, rule: str) -> Callable[[Method], Method]:
    """Mark a method `(self, state, ctx) -> bool` (reference) or `-> bool [N]` (batched) as an invariant.

    It returns True where the invariant holds. The battery calls it after every step and reset; training never
    does. Both twins mark the same names with the same rules.
    """

    def mark(method: Method) -> Method:
        setattr(method, _MARK, (text, rule))
        return method

    return mark


def invariants_of(twin: object) -> tuple[Invariant, ...]:
    """The invariants of a twin, ordered by method name. `twin` may be an instance or a class."""
    kind = twin if isinstance(twin, type) else type(twin)
    found: list[Invariant] = []
    for name in sorted(dir(kind)):
        mark: tuple[str, str] | None = getattr(getattr(kind, name, None), _MARK, None)
        if mark is not None:
            found.append(Invariant(text=mark[0], rule=mark[1], method=name))
    return tuple(found)
