"""What each driver has reached: transitions, kinds of states, ends of episodes, and which actions were taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simulacrum.contract.schema import Schema
from simulacrum.harness.drivers.basic import limits
from simulacrum.harness.drivers.cells import cells, distinct
from simulacrum.harness.frames import Array, take
from simulacrum.harness.recorder import Restart

if TYPE_CHECKING:
    from simulacrum.harness.lockstep import Lockstep

MOST_VALUES = 64  # a discrete action with more values has only its ends looked for
END_SHARE = 0.05  # so near to the end of a float action's range counts as the end
ENDINGS = ("terminated", "truncated", "both")


@dataclass
class Tally:
    """What one driver has reached."""

    transitions: int = 0
    cells: set[bytes] = field(default_factory=set[bytes])
    ends: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDINGS, 0))

    def told(self) -> dict[str, Any]:
        """As the report has it."""
        return {"transitions": self.transitions, "cells": len(self.cells), **self.ends}


class Reached:
    """What the drivers have reached so far, over several runs.

    `drivers` is by name. `met` names what has come up: "terminated", "truncated", "both", "neither", "reset in row 0",
    "reset in the last row", "an episode of one step", "mode NEXT_STEP" and so on (once an episode has ended in that
    mode). `actions` has the values that each action field was given: name -> the set of (element, value).
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.drivers: dict[str, Tally] = {}
        self.met: set[str] = set()
        self.actions: dict[str, set[tuple[int, Any]]] = {key: set() for key, _ in schema.action.items()}

    def add(self, lock: Lockstep, owners: Sequence[str]) -> None:
        """Count what a run has done; `owners` names the driver of each row of the batch."""
        if not lock.actions:
            return
        frames = [reference for reference, _ in lock.frames]
        # A reset by hand is among the actions, and its frame shows neither ends nor steps.
        stacked = {name: np.stack([frame[name] for frame in frames[1:]]) for name in ("t", "terminated", "truncated")}
        self._ends(lock, stacked)
        tables = [cells(self.schema, frame) for frame in frames]
        own = np.array([owners[row] for row in lock.chosen])
        for name in dict.fromkeys(own.tolist()):
            self._tally(name, stacked, tables, own == name, same_step=lock.env.autoreset_mode.name == "SAME_STEP")
        same_step, chosen = lock.env.autoreset_mode.name == "SAME_STEP", np.array(lock.chosen)
        for action, (_, after) in zip(lock.actions, lock.frames[1:], strict=True):
            if not isinstance(action, Restart):
                # A row that is being reset does not look at its action; nor does anybody at a row without a reference.
                self._act(action, chosen if same_step else chosen[after["t"][chosen] > 0])

    def _tally(
        self, name: str, stacked: dict[str, Array], tables: list[Array], rows: Array, *, same_step: bool
    ) -> None:
        tally = self.drivers.setdefault(name, Tally())
        terminated, truncated = stacked["terminated"][:, rows], stacked["truncated"][:, rows]
        stepped = (stacked["t"][:, rows] > 0) | same_step  # a frame at t = 0 shows a start, but for SAME_STEP
        tally.transitions += int(np.count_nonzero(stepped))
        tally.cells |= distinct([table[rows] for table in tables])
        for kind, found in zip(ENDINGS, (terminated & ~truncated, truncated & ~terminated, terminated & truncated),
                               strict=True):  # fmt: skip
            tally.ends[kind] += int(np.count_nonzero(found))

    def _ends(self, lock: Lockstep, stacked: dict[str, Array]) -> None:
        terminated, truncated, t = (stacked[name] for name in ("terminated", "truncated", "t"))
        ended: Array = np.logical_or(terminated, truncated)
        length: Array = np.stack([reference["episode_length"] for reference, _ in lock.frames[1:]])
        found = {
            "terminated": terminated & ~truncated,
            "truncated": truncated & ~terminated,
            "both": terminated & truncated,
            "neither": ~ended & (t > 0),
            "an episode of one step": ended & (length == 1),
            f"mode {lock.env.autoreset_mode.name}": ended,
        }
        self.met.update(name for name, where in found.items() if where.any())
        for place, said in ((0, "reset in row 0"), (-1, "reset in the last row")):
            row = 0 if place == 0 else lock.env.num_envs - 1
            if lock.chosen[place] == row and (t[:, place] == 0).any() and ended[:, place].any():
                self.met.add(said)

    def _act(self, action: Any, rows: Array) -> None:
        for key, spec in self.schema.action.items() if len(rows) else ():
            values: Array = take(action if self.schema.action.single else action[key], rows)
            flat = values.reshape(len(values), -1)
            for element in range(flat.shape[1]):
                self.actions[key].update((element, told) for told in _told(spec, flat[:, element], element))

    def untaken(self) -> list[str]:
        """The action values that nobody took: each of a small discrete range, else both ends of the range."""
        found: list[str] = []
        for key, spec in self.schema.action.items():
            for element in range(max(spec.size, 1)):
                wanted = _wanted(spec, element)
                lacking = [told for told in wanted if (element, told) not in self.actions[key]]
                name = spec.path + (f"[{element}]" if spec.size > 1 else "")
                found += [f"the action {told} of {name}" for told in lacking]
        return found


def _range(spec: Any, element: int) -> tuple[Any, Any]:
    low, high = (end.reshape(-1)[element if end.size > 1 else 0].item() for end in limits(spec))
    return low, high


def _wanted(spec: Any, element: int) -> list[Any]:
    low, high = _range(spec, element)
    if spec.is_float or high - low >= MOST_VALUES:
        return ["lowest", "highest"]
    return list(range(int(low), int(high) + 1))


def _told(spec: Any, values: Array, element: int) -> set[Any]:
    low, high = _range(spec, element)
    if not spec.is_float and high - low < MOST_VALUES:
        return set(np.unique(values).tolist())
    near = END_SHARE * (float(high) - float(low)) if spec.is_float else 0
    ends = (("lowest", values.min() <= low + near), ("highest", values.max() >= high - near))
    return {name for name, there in ends if there}
