"""What began and ended each episode of each row, by name, so that runs in different modes can be compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulacrum.harness.compare import bits
from simulacrum.harness.frames import Array, Frame

# What is noted: a group in a frame -> the name it is kept under.
STARTS = {"state": "state", "observation": "observation", "info": "info", "action_mask": "action_mask"}
FLAGS = {name: name for name in ("reward", "terminated", "truncated", "episode_return", "episode_length")}
ENDS = {**FLAGS, "observation": "observation", "info": "info"}
FINALS = {**FLAGS, "final_obs": "observation", "final_info": "info"}


class Chronicle:
    """Values by what ("start" or "end"), field, episode and row."""

    def __init__(self, rows: int, most: int = 64) -> None:
        self.rows, self.most = rows, most
        self.values: dict[tuple[str, str], Array] = {}
        self.known = {what: np.zeros((most, rows), dtype=bool) for what in ("start", "end")}

    def note(
        self, what: str, rows: Array, frame: Frame, names: Mapping[str, str], episode: Array | None = None
    ) -> None:
        """Note the values of a frame in `rows`; `names` maps a group in the frame to the name it is kept under."""
        number = (frame["episode"] if episode is None else episode)[rows]
        kept = number < self.most
        place = number[kept], np.flatnonzero(rows)[kept]
        self.known[what][place] = True
        for name, value in frame.items():
            group, _, rest = name.partition(".")
            if group in names:
                key = what, ".".join(part for part in (names[group], rest) if part)
                if key not in self.values:
                    self.values[key] = np.zeros((self.most, *value.shape), dtype=value.dtype)
                self.values[key][place] = value[rows][kept]

    def parts(self, other: Chronicle, what: str) -> tuple[str, int, int] | None:
        """(field, episode, row) of the first difference among what both know of `what`, or None."""
        both: Array = self.known[what] & other.known[what]
        for (kind, name), mine in self.values.items():
            theirs = other.values.get((kind, name))
            if kind != what or theirs is None:
                continue
            unequal = (bits(mine) != bits(theirs)).reshape(*both.shape, -1).any(axis=-1) & both
            if unequal.any():
                episode, row = (int(i) for i in np.argwhere(unequal)[0])
                return name, episode, row
        return None

    def common(self, other: Chronicle, what: str) -> int:
        """How many of them both know."""
        return int((self.known[what] & other.known[what]).sum())
