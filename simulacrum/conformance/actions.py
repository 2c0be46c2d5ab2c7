"""Random legal actions, the same for the same seed, row and step, whatever the number of rows."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array

from simulacrum.conformance.values import convert, is_tensor, leaves


class Actions:
    """A table of actions: row r at step t takes `one(r, t)`, sampled from the single action space."""

    def __init__(self, space: Any, seed: int = 0) -> None:
        self.space, self.seed = space, seed
        self._samplers: dict[int, Any] = {}
        self._made: dict[int, list[Any]] = {}

    def one(self, row: int, step: int) -> Any:
        """The action of one row."""
        made = self._made.setdefault(row, [])
        if row not in self._samplers:
            self._samplers[row] = copy.deepcopy(self.space)
            self._samplers[row].seed(self.seed * 1_000_003 + row)
        while len(made) <= step:
            made.append(self._samplers[row].sample())
        return made[step]

    def rows(self, step: int, rows: Sequence[int]) -> list[Any]:
        """The actions of several rows, not yet batched."""
        return [self.one(row, step) for row in rows]


def batched(space: Any, actions: Sequence[Any], like: Any) -> Any:
    """Single actions as one batch: arrays, or tensors where the observation `like` is made of tensors."""
    made = concatenate(space, actions, create_empty_array(space, n=len(actions), fn=np.zeros))
    return as_given(made, like)


def as_given(actions: Any, like: Any) -> Any:
    """Arrays as tensors on the same device where the environment speaks in tensors; unchanged otherwise."""
    example = next((leaf for _, leaf in leaves(like) if is_tensor(leaf)), None)
    if example is None:
        return actions
    library: Any = sys.modules[type(example).__module__.partition(".")[0]]
    return convert(actions, lambda leaf: library.as_tensor(leaf, device=example.device))
