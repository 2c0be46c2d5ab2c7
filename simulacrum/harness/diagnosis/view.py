"""A failure looked at again: what both sides show in its smallest case, before and at the step that differs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage
from simulacrum.harness.casework import Casework
from simulacrum.harness.frames import Array, Frame, frame_fields, rows_of
from simulacrum.trace.case import Case, Line
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.values import spell


@dataclass(frozen=True)
class Clue:
    """Something seen that speaks for a kind of fault; `weight` 1 (a guess) to 12 (hardly anything else does that)."""

    kind: str
    weight: int
    why: str


@dataclass
class View:
    """One case and what it shows. Frames are of the one row, `[1, ...]`, but `crowd`, which is the whole batch's.

    before: what the other side showed before the step; None at the start. right, wrong: the two values that differ.
    """

    package: EnvPackage
    record: Divergence
    case: Case
    step: int
    name: str
    index: tuple[int, ...]
    before: Frame | None
    own: Frame
    crowd: Frame
    work: Casework
    fields: Mapping[str, Field] = field(default_factory=dict[str, Field])

    @property
    def kind(self) -> str:
        """"state", "reward", ..."""
        return self.name.partition(".")[0]

    @property
    def line(self) -> Line:
        """The row that is looked at."""
        return self.case.line

    @property
    def field(self) -> Field | None:
        """The field that differs; None for an invariant."""
        return self.fields.get(self.name)

    @property
    def resetting(self) -> bool:
        """Whether the row starts an episode at the step that differs."""
        return (self.step < 0 and self.line.start is None) or self.line.ended or self.by_hand

    @property
    def by_hand(self) -> bool:
        """Whether that is because a caller reset it."""
        taken = self.line.actions[self.step] if self.step >= 0 else None
        return isinstance(taken, (str, dict)) and "<reset>" in taken

    def at(self, frame: Frame | None, row: int = 0) -> Any:
        """The differing field's value in a frame; None where there is none."""
        if frame is None or self.name not in frame:
            return None
        value: Array = frame[self.name][row]
        return (value[self.index] if self.index else value).item()

    @property
    def right(self) -> Any:
        """The value on the other side."""
        return self.at(self.own)

    @property
    def wrong(self) -> Any:
        """The value of the batched twin."""
        return self.at(self.crowd, self.line.row)

    @property
    def previous(self) -> Any:
        """The value before the step."""
        return self.at(self.before)

    @property
    def batched(self) -> Frame:
        """The row's own frame out of the batch's."""
        return rows_of(self.crowd, [self.line.row])

    def differing(self) -> list[str]:
        """The names of all fields that differ at this step, state first."""
        return [name for name in self.fields if not same(self.own, self.batched, name)]

    def other(self, *, forced: Mapping[str, Any] | None = None, **changes: Any) -> Frame | None:
        """What the other side shows at this step where its line is changed so; None where that cannot be run."""
        put_in = self.case.forced if forced is None else forced
        case = replace(self.case, num_envs=1, lines=(replace(self.line, row=0, **changes),), forced=put_in)
        with contextlib.suppress(Exception):
            for step, own, _, _ in self.work.frames(case):
                if step == self.step:
                    return own
        return None

    def explains(self, frame: Frame | None) -> bool:
        """Whether a frame has what the batched twin shows, in every field that differs."""
        names = [name for name in self.differing() if name not in ("t", "episode_length")]
        return frame is not None and bool(names) and all(same(frame, self.batched, name) for name in names)

    def still(self, case: Case, work: Casework | None = None) -> bool:
        """Whether a changed case still differs in the same field. What it raises where it cannot be run, it raises."""
        return any(
            not same(own, rows_of(batched, [case.line.row]), self.name)
            for _, own, batched, _ in (work or self.work).frames(case)
            if self.name in own
        )

    @property
    def standing(self) -> dict[str, Any]:
        """The state that the other side has after the step, as JSON."""
        state = self.package.schema.state.fields
        return {name: spell(field, self.own[f"state.{name}"][0].tolist()) for name, field in state.items()}


def same(one: Frame, two: Frame, name: str) -> bool:
    """Whether a field has the same bits in both frames."""
    return one[name].shape == two[name].shape and one[name].tobytes() == two[name].tobytes()


def views(package: EnvPackage, record: Divergence, case: Case, step: int) -> Iterator[View]:
    """The view of a case at its differing step; nothing where it cannot be run."""
    work = Casework(package)
    difference = record.shrunk.difference if record.shrunk is not None else record.difference
    final = case.autoreset_mode == "same_step"
    name = ".".join(part for part in (difference.kind, difference.field) if part)
    before: Frame | None = None
    with contextlib.suppress(Exception):
        for number, own, crowd, _ in work.frames(case):
            if number == step:
                yield View(
                    package, record, case, step, name, difference.index, before, own, crowd, work,
                    frame_fields(package.schema, final=final),
                )  # fmt: skip
                return
            before = own


def negative(values: Any) -> bool:
    """Whether a nested value has a negative integer in it."""
    array = np.asarray(values)
    return array.dtype.kind == "i" and bool((array < 0).any())
