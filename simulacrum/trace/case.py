"""The smallest case of a failure, on paper: what each row starts from and does, and what is held against what.

Values are spelled as in trajectories and records (`trace.values`), so a case is JSON as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulacrum.trace.difference import Difference, Shown

RESET = "<reset>"  # stands for an action: the row is reset by hand; {RESET: seed} gives it a new seed
WAIT = "<wait>"  # stands for an action: other rows are reset by hand, this one is left alone


@dataclass(frozen=True)
class Line:
    """What one row of a case does.

    row: its place in the batch. start: the state it is put into, None for a reset of `seed`. t, episode: the clock
    there. ended: whether its episode has just ended there, so that the next step resets it. actions: one a step.
    """

    row: int
    seed: int
    start: Mapping[str, Any] | None = None
    episode: int = 0
    t: int = 0
    ended: bool = False
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    actions: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Case:
    """A batch of `num_envs` rows. `lines[0]` is the row that is looked at; rows without a line are copies of it.

    against: what stands on the reference's side: "reference", "eager" (the eager form of the same batch on the CPU) or
    "alone" (the row in a batch of its own). forced: draw slot -> the value that both sides take in place of drawing.
    small: the content of the small.json that the package is made smaller with; None for the package as it is.
    """

    form: str
    device: str
    autoreset_mode: str
    max_episode_steps: int | None
    num_envs: int
    lines: tuple[Line, ...]
    against: str = "reference"
    forced: Mapping[str, Any] = field(default_factory=dict[str, Any])
    small: Mapping[str, Any] | None = None

    @property
    def line(self) -> Line:
        """The row that is looked at."""
        return self.lines[0]

    @property
    def steps(self) -> int:
        """How many steps are taken after the start."""
        return len(self.line.actions)


@dataclass(frozen=True)
class Shrunk:
    """The smallest case that was found of a failure.

    difference: what it shows, after `step` (-1: at the start itself). verified: whether it showed the same bits when
    it was run once more. trials: how many cases were run. done: what was made smaller, in order, in words.
    """

    case: Case
    difference: Difference
    step: int
    verified: bool
    trials: int
    done: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """`one row, from an injected state, 1 action`."""
        case = self.case
        rows = "one row" if case.num_envs == 1 else f"row {case.line.row} of {case.num_envs}"
        start = "from a reset" if case.line.start is None else "from an injected state"
        steps = f"{case.steps} action{'' if case.steps == 1 else 's'}"
        against = {"eager": ", against the eager form", "alone": ", against the row alone"}.get(case.against, "")
        return f"{rows}, {start}, {steps}, {case.form}{against}"


def shrunk_from_json(body: Mapping[str, Any]) -> Shrunk:
    """The `Shrunk` of a JSON value that the record's schema allows."""
    case: dict[str, Any] = dict(body["case"])
    lines: list[dict[str, Any]] = [{**line, "actions": tuple(line["actions"])} for line in case["lines"]]
    case["lines"] = tuple(Line(**line) for line in lines)
    return Shrunk(
        Case(**case), difference_from_json(body["difference"]), body["step"], body["verified"], body["trials"],
        tuple(body["done"]),
    )  # fmt: skip


def difference_from_json(body: Mapping[str, Any]) -> Difference:
    """The `Difference` of a JSON value that the record's schema allows."""
    sides: Sequence[Shown] = [Shown(**body[side]) for side in ("reference", "batched")]
    return Difference(body["kind"], body["field"], tuple(body["index"]), sides[0], sides[1], body["ulp"])


__all__ = ["RESET", "WAIT", "Case", "Line", "Shrunk", "difference_from_json", "shrunk_from_json"]
