"""Draw handles that note what was drawn, or give another value where one stands for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from simulacrum.rng.layout import Layout


class Draws:
    """Any draw handle with the six methods in one: subclasses say what `_drawn` does with a value.

    `own` is the handle that is asked; `layout` tells which slots have a count.
    """

    def __init__(self, own: Any, layout: Layout) -> None:
        self.own = own
        self.counts = {slot.name: slot.count for slot in layout.slots}

    def uniform(self, slot: str, *args: Any, **kwargs: Any) -> Any:
        return self._drawn("uniform", slot, args, kwargs)

    def integers(self, slot: str, *args: Any, **kwargs: Any) -> Any:
        return self._drawn("integers", slot, args, kwargs)

    def bernoulli(self, slot: str, *args: Any, **kwargs: Any) -> Any:
        return self._drawn("bernoulli", slot, args, kwargs)

    def normal(self, slot: str, *args: Any, **kwargs: Any) -> Any:
        return self._drawn("normal", slot, args, kwargs)

    def choice(self, slot: str, *args: Any, **kwargs: Any) -> Any:
        return self._drawn("choice", slot, args, kwargs)

    def permutation(self, slot: str) -> Any:
        return self._drawn("permutation", slot, (), {})

    def _drawn(self, method: str, slot: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError


class Noted(Draws):
    """Keeps every value of a batch by slot, `[N]` or `[N, K]`, in `values`. Elements never asked for are zeros."""

    def __init__(self, own: Any, layout: Layout) -> None:
        super().__init__(own, layout)
        self.values: dict[str, Tensor] = {}

    def _drawn(self, method: str, slot: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value: Tensor = getattr(self.own, method)(slot, *args, **kwargs)
        index, count = kwargs.get("index"), self.counts[slot]
        if index is None or count is None:
            self.values[slot] = value
        else:
            kept = self.values.get(slot)
            whole = value.new_zeros(len(value), count) if kept is None else kept.clone()
            whole[:, index] = value
            self.values[slot] = whole
        return value


class Spliced(Draws):
    """Another handle's values in some places of a batch: `where[slot]` is bool `[N]`, or `[N, K]` with a count.

    A bernoulli draw is turned into its opposite there, since the other handle's is likely to be equal.
    """

    def __init__(self, own: Any, other: Any, where: Mapping[str, Tensor], layout: Layout) -> None:
        super().__init__(own, layout)
        self.other, self.where = other, where

    def _drawn(self, method: str, slot: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value: Tensor = getattr(self.own, method)(slot, *args, **kwargs)
        if slot not in self.where:
            return value
        mask, index = self.where[slot], kwargs.get("index")
        if mask.dim() == 2 and index is not None:
            mask = mask[:, index]
        elif value.dim() == 2 and mask.dim() == 1:
            mask = mask[:, None]
        elif method == "permutation":
            mask = mask.any(dim=-1, keepdim=True) if mask.dim() == 2 else mask
        other = ~value if method == "bernoulli" else getattr(self.other, method)(slot, *args, **kwargs)
        return torch.where(mask, other, value)


class SplicedScalar(Draws):
    """The same for one row of the reference: all values of the slots in `where` are the other handle's."""

    def __init__(self, own: Any, other: Any, where: frozenset[str], layout: Layout) -> None:
        super().__init__(own, layout)
        self.other, self.where = other, where

    def _drawn(self, method: str, slot: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = getattr(self.own, method)(slot, *args, **kwargs)
        if slot not in self.where:
            return value
        if method != "bernoulli":
            return getattr(self.other, method)(slot, *args, **kwargs)
        return tuple(not item for item in value) if isinstance(value, tuple) else not value
