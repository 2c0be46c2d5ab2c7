"""The batched twin with draws put in row by row; what is not put in is drawn as ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from simulacrum.engine.boundary import Core
from simulacrum.rng.batched import BatchedDraw
from simulacrum.rng.layout import Layout
from simulacrum.twin.batched import BatchedEnv


class Forced(NamedTuple):
    """What one slot gives: `values` in the rows (and at the indices) where `where` is true, [N] or [N, K] both."""

    values: Tensor
    where: Tensor


class ForcedDraw(BatchedDraw):
    """A `BatchedDraw` whose answers are replaced where `forced` says so.

    Rows that nothing is forced on get what their key draws: a legal value for whatever the twin asked, though no rule
    is to look at it. `given` receives every answer, by slot, with K columns for a slot of count K.
    """

    def __init__(
        self, layout: Layout, phase: str, key: Tensor, t: Tensor, *,
        forced: Mapping[str, Forced], given: dict[str, dict[int | None, Tensor]],
    ) -> None:  # fmt: skip
        super().__init__(layout, phase, key, t)
        self._forced, self._given = forced, given

    def uniform(self, slot: str, low: Any = 0.0, high: Any = 1.0, *, index: int | None = None) -> Tensor:
        """As `BatchedDraw.uniform`."""
        return self._answer(slot, index, super().uniform(slot, low, high, index=index))

    def integers(self, slot: str, high: Any, *, low: Any = 0, index: int | None = None) -> Tensor:
        """As `BatchedDraw.integers`."""
        return self._answer(slot, index, super().integers(slot, high, low=low, index=index))

    def bernoulli(self, slot: str, p: Any, *, index: int | None = None) -> Tensor:
        """As `BatchedDraw.bernoulli`."""
        return self._answer(slot, index, super().bernoulli(slot, p, index=index))

    def normal(self, slot: str, mean: Any = 0.0, std: Any = 1.0, *, index: int | None = None) -> Tensor:
        """As `BatchedDraw.normal`."""
        return self._answer(slot, index, super().normal(slot, mean, std, index=index))

    def choice(self, slot: str, weights: Tensor | Sequence[Tensor | float], *, index: int | None = None) -> Tensor:
        """As `BatchedDraw.choice`."""
        return self._answer(slot, index, super().choice(slot, weights, index=index))

    def permutation(self, slot: str) -> Tensor:
        """As `BatchedDraw.permutation`."""
        return self._answer(slot, None, super().permutation(slot))

    def _answer(self, slot: str, index: int | None, drawn: Tensor) -> Tensor:
        forced = self._forced.get(slot)
        if forced is not None:
            values, where = (part if index is None or part.dim() == 1 else part[:, index] for part in forced)
            drawn = torch.where(where, values, drawn)
        self._given.setdefault(slot, {})[index] = drawn
        return drawn


class ForcedCore(Core):
    """A core whose eager steps and resets take `forced`; `given` holds what the last call's draws gave."""

    def __init__(self, env: BatchedEnv, max_episode_steps: int | None) -> None:
        super().__init__(env, max_episode_steps)
        self.forced: Mapping[str, Forced] = {}
        self.given: dict[str, dict[int | None, Tensor]] = {}

    def _draw(self, phase: str, key: Tensor, t: Tensor) -> BatchedDraw:
        own = {slot: part for slot, part in self.forced.items() if slot in self.layout.names(phase)}
        return ForcedDraw(self.layout, phase, key, t, forced=own, given=self.given)
