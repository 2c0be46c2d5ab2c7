"""What a step moves and computes for a row, and how fast this machine copies as many bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from simulacrum.contract.package import EnvPackage
from suite import ours
from suite.contender import Contender, action_batches, timed

ROWS = 4096
COPY_TITLE = "copy of the same bytes"


def of_row(package: EnvPackage | str, form: str) -> dict[str, float]:
    """Bytes of one row in a form: state, parameters, outputs of a step, and action; and the sum that a step moves.

    A step reads the state and writes it, reads parameters and action, and writes the outputs. Memory is that of the
    tensors' storages, so what a form allocates beyond its numbers counts.
    """
    env = ours.make(package, form, ROWS)
    actions = action_batches(ours.choices(env), ROWS)[0]
    outputs = env.step(actions)
    bytes_of = {
        "state": _storage(pytree.tree_leaves(env.state)),
        "params": _storage(pytree.tree_leaves(env.params)),
        "outputs": _storage(pytree.tree_leaves(outputs)),
        "action": actions.nbytes,
    }
    row = {name: total / ROWS for name, total in bytes_of.items()}
    env.close()
    return {**row, "moved": 2 * row["state"] + row["params"] + row["outputs"] + row["action"]}


def _storage(leaves: Iterable[Any]) -> int:
    """Bytes of the storages behind tensors, each once."""
    storages = {leaf.untyped_storage().data_ptr(): leaf.untyped_storage().nbytes() for leaf in leaves if _batched(leaf)}
    return sum(storages.values())


def _batched(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.dim() > 0 and leaf.shape[0] == ROWS


class _Counter(TorchDispatchMode):
    """Counts the torch operations of a step that compute numbers, and those numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.operations, self.numbers = 0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = func(*args, **(kwargs or {}))
        if not getattr(func, "is_view", False) and isinstance(given, Tensor) and given.dim() > 0:
            self.operations, self.numbers = self.operations + 1, self.numbers + given.numel()
        return given


def operations(package: EnvPackage | str) -> dict[str, float]:
    """Torch operations of one eager step and the numbers that they compute for a row: what a form has to do."""
    env = ours.make(package, "eager", ROWS)
    actions = action_batches(ours.choices(env), ROWS)[0]
    with _Counter() as counter:
        env.step(actions)
    env.close()
    return {"torch_operations": counter.operations, "numbers_per_row": counter.numbers / ROWS}


def copy(bytes_per_step: float, num_envs: int) -> Contender:
    """A contender that moves as many bytes in a call as a step of N rows must: half of them read, half written."""
    half = max(1, round(bytes_per_step * num_envs / 2))
    source, target = torch.ones(half, dtype=torch.uint8), torch.ones(half, dtype=torch.uint8)
    run = timed(lambda other: target.copy_(source), [None])
    return Contender(COPY_TITLE, "machine", f"torch {torch.__version__}", "torch copy_, one thread", num_envs, run)
