"""What a rule is, how one is written down, and how it ends.

    @rule("step.reward", "each step gives one number a row as reward", "VectorEnv.step", "error")
    def reward(subject: Subject) -> str: ...

A rule returns what it saw (one line), raises `Broken` with the first offending row, field and value, or `NotJudged`
with the reason why it cannot say anything about this environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from simulacrum.conformance.subject import Subject
    from simulacrum.conformance.values import Difference

Severity = Literal["error", "warning"]
Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Rule:
    """One rule of the contract.

    name: stable, GROUP.NAME. claim: what a pass shows, one line. source: the part of Gymnasium's documentation that
    says so. severity: "error" where the documentation demands it or nothing can be trained without it, "warning" for
    a convention that Gymnasium's own environments follow and libraries rely on.
    """

    name: str
    claim: str
    source: str
    severity: Severity
    check: Callable[[Subject], str]


@dataclass(frozen=True)
class Result:
    """How one rule ended on one environment. `message` is what was seen, what is wrong, or why nothing was judged."""

    rule: str
    severity: str
    status: Status
    message: str = ""
    row: int | None = None
    step: int | None = None
    field: str | None = None
    found: str | None = None
    expected: str | None = None
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}

    def text(self) -> str:
        """One line for people."""
        names = ("step", "row", "field", "found", "expected")
        told = ", ".join(f"{name} {getattr(self, name)}" for name in names if getattr(self, name) is not None)
        return f"{self.message} ({told})" if told else self.message


class Broken(Exception):
    """The rule does not hold: what is wrong, and the first place where it shows."""

    def __init__(
        self,
        message: str,
        *,
        row: int | None = None,
        step: int | None = None,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place: dict[str, Any] = {
            "row": row, "step": step, "field": field, "found": found, "expected": expected
        }  # fmt: skip


class NotJudged(Exception):
    """The rule has nothing to judge here: the reason."""


RULES: dict[str, Rule] = {}


def rule(name: str, claim: str, source: str, severity: Severity) -> Callable[[Callable[[Subject], str]], Rule]:
    """Enter a function into the list of rules."""

    def enter(check: Callable[[Subject], str]) -> Rule:
        assert name not in RULES, f"two rules are called {name}"
        RULES[name] = Rule(name, claim, source, severity, check)
        return RULES[name]

    return enter


def demand_same(parted: Difference | None, message: str, *, row: int | None = None, step: int | None = None) -> None:
    """Raise `Broken` where a comparison found a difference."""
    if parted is not None:
        raise Broken(
            message, row=parted.row if row is None else row, step=step, field=parted.field or None,
            found=parted.found, expected=parted.expected,
        )  # fmt: skip
