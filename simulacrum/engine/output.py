"""What leaves the engine: tensors that nothing else holds, or the NumPy arrays that Gymnasium's own code expects."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from simulacrum.engine.boundary import StepOut


def storages(*trees: Any) -> set[int]:
    """The identities of the memory blocks behind every tensor of the trees."""
    return {t.untyped_storage().data_ptr() for tree in trees for t in _tensors(tree)}


def _tensors(tree: Any) -> Iterable[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _tensors(value)
    elif isinstance(tree, (tuple, list)):
        for value in tree:
            yield from _tensors(value)


class Freshener:
    """Gives out each tensor with memory of its own.

    A twin may return a view of its state, or one tensor in two places. What a caller receives must not be either:
    editing it would edit the simulation, and the next step would edit it. So a tensor whose memory is the state's, or
    was already given out in this step, is copied; all others pass through untouched.
    """

    def __init__(self, taken: set[int]) -> None:
        self.taken = taken

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        identity = tensor.untyped_storage().data_ptr()
        if identity in self.taken or not tensor.is_contiguous():
            tensor = tensor.clone(memory_format=torch.contiguous_format)
            identity = tensor.untyped_storage().data_ptr()
        self.taken.add(identity)
        return tensor


def constants_of(twin: Any) -> set[int]:
    """The memory of tensors that a twin keeps: its attributes, and globals of the module it is written in.

    A twin may show such a tensor (a fixed action mask, say); what the caller gets must be a copy of it.
    """
    module = sys.modules.get(type(twin).__module__)
    named = {} if module is None else vars(module)
    # Asked at each step; a module's longest entry is Python's own, with a hundred and fifty names and no tensor.
    return storages(vars(twin), *(value for name, value in named.items() if name != "__builtins__"))


def to_numpy(value: Any) -> Any:
    """Tensors as writable, C-contiguous arrays on the host; structure kept."""
    if isinstance(value, torch.Tensor):
        return value.numpy(force=True)
    if isinstance(value, dict):
        return {key: to_numpy(item) for key, item in value.items()}
    return value


def fresh_step(out: StepOut, taken: set[int]) -> StepOut:
    """`out` with no memory of `taken`, and none shared between its own entries."""
    fresh = Freshener(taken)
    return StepOut(*(fresh(value) for value in out))


def rows_to_objects(observation: Any, mask: np.ndarray) -> np.ndarray:
    """The object array `[N]` of Gymnasium's `final_obs`: one row's observation where `mask`, None elsewhere."""
    objects = np.full(len(mask), None, dtype=object)
    for row in np.flatnonzero(mask):
        objects[row] = row_of(observation, int(row))
    return objects


def row_of(batch: Any, row: int) -> Any:
    """One row of a NumPy batch, with memory of its own; a dict gives a dict."""
    if isinstance(batch, dict):
        return {key: row_of(item, row) for key, item in batch.items()}
    item = batch[row]
    return item.copy() if isinstance(item, np.ndarray) else item


def masked(info: dict[str, Any], mask: Any) -> dict[str, Any]:
    """Gymnasium's spelling of an info that only some rows set: every key beside its `_key` mask."""
    both: dict[str, Any] = {}
    for key, value in info.items():
        both[key] = value
        both[f"_{key}"] = mask.copy() if isinstance(mask, np.ndarray) else mask.clone()
    return both
