"""The record that instrumented code writes while it runs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from simulacrum.engine.draws import NO_DRAW
from simulacrum.harness.coverage.instrument import BITS, DRAWN, HITS, OPERANDS, STEPPED, TRUTH
from simulacrum.twin.sometimes import sometimes_of

FEW = 64  # integers drawn from so many values or fewer have both of their ends looked for
CHOICES = 16  # and so many weights of a choice, each of them
Thunks = tuple[Callable[[], Any], ...]


class Seen:
    """What has been seen of `points` points, and of the draws.

    hits: 1 for each point that has been seen. drawn: each slot drawn so far, with its outcomes. possible: the outcomes
    that its arguments allowed: True and False of a bernoulli, "lowest" and "highest" of integers, each index of a
    choice. held: the methods marked `@sometimes` that have said True. other: the numbers of `|` and `&` whose operands
    were no truths, so that nothing is asked of them.
    """

    def __init__(self, points: int) -> None:
        self.hits = bytearray(points)
        self.drawn: dict[str, set[Any]] = {}
        self.possible: dict[str, set[Any]] = {}
        self.other: set[int] = set()
        self.held: set[str] = set()
        self.waiting: list[str] | None = None  # methods that see something and have not yet
        self.full: set[int] = set()  # of `and` and `or`: the numbers of those with nothing left to see

    @property
    def names(self) -> dict[str, Any]:
        """What instrumented code needs among its globals."""
        return {
            HITS: self.hits, TRUTH: self.truth, OPERANDS: self.operands, BITS: self.bits, DRAWN: self.draw,
            STEPPED: self.stepped,
        }  # fmt: skip

    def truth(self, number: int, value: Any) -> Any:
        """Note how a condition came out: `number` for true, the next one for false."""
        self.hits[number if value else number + 1] = 1
        return value

    def operands(self, number: int, word: str, value: Any, operands: Thunks) -> Any:
        """Note which operand of an `and` or `or` decided alone; `value` is the outcome, already known."""
        if number not in self.full:
            self._decide(number, word == "or", [_truth(operand) for operand in operands])
        return value

    def bits(self, number: int, word: str, *operands: Any) -> Any:
        """`a | b` or `a & b`, and which of them decided alone where all are truths."""
        # Integers come by the hundred in references that keep rows of bits, so they are sorted out first.
        if type(operands[0]) is bool and all(isinstance(operand, bool) for operand in operands):
            if number not in self.full:
                self._decide(number, word == "or", list(operands))
        elif number not in self.other:
            self.other.update(range(number, number + len(operands) + 1))
        if len(operands) == 2:
            return operands[0] | operands[1] if word == "or" else operands[0] & operands[1]
        return functools.reduce(operator.or_ if word == "or" else operator.and_, operands)

    def _decide(self, number: int, decisive: bool, truths: list[bool | None]) -> None:
        deciding = [place for place, truth in enumerate(truths) if truth is decisive]
        if len(deciding) <= 1:
            self.hits[number + (deciding[0] if deciding else len(truths))] = 1
            if all(self.hits[number : number + len(truths) + 1]):
                self.full.add(number)

    def stepped(self, given: tuple[Any, Any, Any, Any], outcome: Any) -> Any:
        """Ask the methods marked `@sometimes` that have not yet said True; `given` is (twin, state, action, ctx)."""
        twin, state, action, ctx = given
        if self.waiting is None:
            self.waiting = [one.method for one in sometimes_of(twin)]
        if self.waiting:
            quiet = ctx._replace(draw=NO_DRAW)
            now = [name for name in self.waiting if getattr(twin, name)(state, action, outcome, quiet)]
            self.held.update(now)
            self.waiting = [name for name in self.waiting if name not in self.held]
        return outcome

    def draw(self, method: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Draw, and note what came out of what could."""
        value = method(*given, **named)
        slot = str(given[0] if given else named.get("slot"))
        possible, drawn = self.possible.setdefault(slot, set()), self.drawn.setdefault(slot, set())
        note = _NOTES.get(getattr(method, "__name__", ""))
        if note is not None:
            arguments = {**dict(zip(_ARGUMENTS, given[1:], strict=False)), **named}
            for each in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
                note(arguments, each, possible, drawn)
        return value


_ARGUMENTS = ("first",)  # what stands after the slot: high, p or weights


def _truth(operand: Callable[[], Any]) -> bool | None:
    """How it comes out; None where it cannot be evaluated, which is what the operand before it guards against."""
    try:
        return bool(operand())
    except Exception:
        return None


def _bernoulli(arguments: Mapping[str, Any], value: Any, possible: set[Any], drawn: set[Any]) -> None:
    possible.update((True, False))
    drawn.add(bool(value))


def _integers(arguments: Mapping[str, Any], value: Any, possible: set[Any], drawn: set[Any]) -> None:
    low, high = int(arguments.get("low", 0)), int(arguments.get("first", arguments.get("high", 0)))
    if high - low > FEW:
        return
    possible.update(("lowest", "highest"))
    if value == low:
        drawn.add("lowest")
    if value == high - 1:
        drawn.add("highest")


def _choice(arguments: Mapping[str, Any], value: Any, possible: set[Any], drawn: set[Any]) -> None:
    weights = cast("Sequence[Any]", arguments.get("first", arguments.get("weights", ())))
    if len(weights) <= CHOICES:
        possible.update(index for index, weight in enumerate(weights) if float(weight) > 0)
        drawn.add(int(value))


_NOTES = {"bernoulli": _bernoulli, "integers": _integers, "choice": _choice}
