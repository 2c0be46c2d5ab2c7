"""Things that must happen at least once in a full run of the battery, or it has shown nothing about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK = "__sometimes__"


@dataclass(frozen=True)
class Sometimes:
    """One such thing: its words, the rule that it is about ("R9") and the name of the method that sees it."""

    text: str
    rule: str
    method: str


def sometimes(text: str, *, rule: str) -> Callable[[Method], Method]:
    """Mark a method `(self, state, action, outcome, ctx) -> bool` of the reference as something to be seen.

    `state` is the one before the step, `outcome` the `Transition` that the step gave, `ctx` the step's (its `t` counts
    the steps before this one; it does not draw). The battery asks after each step of the runs that compare the twins
    until the method has said True once; training never does. Only the reference has such methods.
    """

    def mark(method: Method) -> Method:
        setattr(method, _MARK, (text, rule))
        return method

    return mark


def sometimes_of(twin: object) -> tuple[Sometimes, ...]:
    """What a twin wants to be seen, ordered by method name. `twin` may be an instance or a class."""
    kind = twin if isinstance(twin, type) else type(twin)
    found: list[Sometimes] = []
    for name in sorted(dir(kind)):
        mark: tuple[str, str] | None = getattr(getattr(kind, name, None), _MARK, None)
        if mark is not None:
            found.append(Sometimes(text=mark[0], rule=mark[1], method=name))
    return tuple(found)
