"""What became of one mutant, as immutable values with one form as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from simulacrum.mutate.mutant import Mutant

# In the order in which they are counted: the first three are no faults, and the score leaves them out.
STILLBORN, EQUIVALENT, DUPLICATE = "stillborn", "equivalent", "duplicate"
KILLED, SURVIVED, TIMEOUT, LOST = "killed", "survived", "timeout", "lost"
SAME_GRAPH = "the same graph as the original"
STATUSES = (STILLBORN, EQUIVALENT, DUPLICATE, KILLED, SURVIVED, TIMEOUT, LOST)


@dataclass(frozen=True)
class Verdict:
    """How the battery met one mutant.

    status: "stillborn" (does not import, or gives wrong shapes in its first steps), "equivalent" (the same graph, or
    argued in writing), "duplicate" (the same graph as another mutant, `of`), "killed" (a required check failed),
    "survived", "timeout" (took longer than it was given), "lost" (its process ended).
    killer: the check or sub-check whose failure ended it (`differential.rollouts`). by_reading: it failed on what the
    file says, before anything ran. message: what the killer said. named, rule: the field and the rule that its first
    report names. located: whether that is the changed line's own rule or a field it speaks of. step, episode, t, row:
    where the twins parted; step is the number of steps until then. transitions: compared until then. seconds: until the
    kill. checks: status of every check and sub-check that was run. small_model: whether the small model was enumerated
    completely, without a difference.
    spent: seconds in all. why: the reason of an equivalence, or what went wrong.
    """

    id: str
    status: str
    killer: str = ""
    by_reading: bool = False
    message: str = ""
    named: str = ""
    rule: str = ""
    located: bool | None = None
    step: int | None = None
    episode: int | None = None
    t: int | None = None
    row: int | None = None
    transitions: int | None = None
    seconds: float = 0.0
    spent: float = 0.0
    checks: Mapping[str, str] = field(default_factory=dict[str, str])
    small_model: bool = False
    why: str = ""
    of: str = ""

    @property
    def counted(self) -> bool:
        """Whether it is a fault of its own, which the battery should find."""
        return self.status not in (STILLBORN, EQUIVALENT, DUPLICATE)

    @property
    def killers(self) -> list[str]:
        """Everything that failed on it: more than the first only where nothing stopped at the first."""
        return [path for path, status in self.checks.items() if status == "failed"]

    @property
    def open(self) -> list[str]:
        """The checks and sub-checks that were inconclusive."""
        return [path for path, status in self.checks.items() if status == "inconclusive"]

    def to_json(self) -> dict[str, Any]:
        """A JSON object with the fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Verdict:
        """The inverse of `to_json`; names that it does not know are passed over."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in body.items() if name in known})


def digest_of(mutant: Mutant) -> str:
    """SHA-256 of the changed file and its name: equal for two mutants that are the same text."""
    return hashlib.sha256(f"{mutant.file}\0{mutant.source}".encode()).hexdigest()
