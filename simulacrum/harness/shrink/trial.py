"""One case tried: is it still the failure that is being made smaller? Counted, and within a budget."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import SimulacrumError
from simulacrum.harness.casework import Casework, Found
from simulacrum.trace.case import Case, Line
from simulacrum.trace.difference import Difference
from simulacrum.trace.jsonio import BadValue
from simulacrum.trace.values import read_group


@dataclass
class Trial:
    """Runs cases and says which still show `wanted`: the same kind and field, blamed first.

    most, seconds: how many cases are run at most, and for how long (of this process's own time, so that a busy machine
    finds no less); after that nothing is interesting any more. The
    number is what normally ends it, so that a failure is shrunk the same way everywhere.
    """

    package: EnvPackage
    wanted: Difference
    most: int
    seconds: float
    say: Callable[[int], None] = lambda _: None
    count: int = 0
    best: tuple[Case, Found] | None = None
    seen: dict[str, Found | None] = field(default_factory=dict[str, "Found | None"])

    def __post_init__(self) -> None:
        self.until = time.process_time() + self.seconds
        stated = self.wanted.kind == "invariant" or self.wanted.reference.bits is None
        # A state that was put there, and what belongs to a step, cannot differ before the first step.
        shown = self.wanted.kind.partition(".")[0] in ("observation", "info", "action_mask")
        self.work = Casework(self.package, stated=stated, shown=shown)

    @property
    def spent(self) -> bool:
        """Whether nothing more may be tried."""
        return self.count >= self.most or time.process_time() > self.until

    def look(self, case: Case) -> Found | None:
        """What the case shows, if that is what is wanted. A case that cannot be run shows nothing."""
        key = repr(case)
        if key not in self.seen:
            if self.spent:
                return None
            self.count += 1
            self.say(self.count)
            self.seen[key] = self._run(case)
        return self.seen[key]

    def _run(self, case: Case) -> Found | None:
        with contextlib.suppress(Exception):  # whatever a twin does on the way: then it is another failure
            return next((found for found in self.work.each_step(case) if self.shows(case, found)), None)
        return None

    def shows(self, case: Case, found: Found) -> bool:
        """Whether what was found is what is wanted."""
        same = [one for one in found.differences if (one.kind, one.field) == (self.wanted.kind, self.wanted.field)]
        if not same:
            return False
        if self.wanted.kind == "invariant":  # a state that was put there is no twin's doing
            return found.step >= 0 or case.line.start is None
        return self.wanted.reference.bits is None or same[0] is found.differences[0]

    def take(self, case: Case) -> bool:
        """Try a case; where it shows what is wanted it becomes the best so far, cut after the step that shows it."""
        found = self.look(case)
        if found is None:
            return False
        self.best = cut(case, found.step + 1), found
        return True

    @property
    def case(self) -> Case:
        """The best case so far."""
        assert self.best is not None, "asked for before any case was taken"
        return self.best[0]

    def allowed(self, line: Line) -> bool:
        """Whether a row may stand there: inside the schema's bounds, with every invariant of the reference true."""
        if line.start is None:
            return True
        schema = self.package.schema
        try:
            state = read_group(schema.state, line.start, bounds=True)
            runner = ReferenceRunner(self.package, params=line.params)
            runner.load(state, t=line.t, seed=line.seed, episode=line.episode)
            return not runner.broken_invariants()
        except (SimulacrumError, BadValue, ArithmeticError, LookupError, TypeError, ValueError):
            return False


def cut(case: Case, steps: int) -> Case:
    """The case without what comes after so many steps."""
    return replace(case, lines=tuple(replace(line, actions=line.actions[:steps]) for line in case.lines))


__all__ = ["Trial", "cut"]
