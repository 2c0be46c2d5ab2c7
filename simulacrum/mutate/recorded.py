"""Which operations a function of tensors carries out, as one hash: noted while it runs, without a compiler.

Equal operations on equal arguments have one name, whatever their order, and what does not reach a result has no part in
the hash. It is the graph of `engine.capture` in the same normal form, for one number of rows, in milliseconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

COMMUTES = ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor", "eq", "ne")
LIKE = ("full_like", "zeros_like", "ones_like", "empty_like")  # of what they are given only the form counts
_READS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "unique_dim", "_unique2")


class LooksAtValuesError(Exception):
    """The function reads a value into Python, so that one run does not show all that it does."""


class _Recorder(TorchDispatchMode):
    """Names every tensor by what made it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[int, str] = {}
        self.kept: list[torch.Tensor] = []  # a tensor that were let go of could hand its identity to another
        self.written: list[str] = []

    def call(self, tensor: torch.Tensor, name: str) -> None:
        self.names[id(tensor)] = name
        self.kept.append(tensor)

    def named(self, value: Any) -> Any:
        """The name of a tensor, kept by its words if it is new; of anything else its type and text."""
        if not isinstance(value, torch.Tensor):
            return f"{type(value).__name__}:{value!r}"
        if id(value) not in self.names:
            self.call(value, tensor_words(value))
        return self.names[id(value)]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func).split(".")
        if name[1:2] and name[1] in _READS:
            raise LooksAtValuesError(str(func))
        spell = shaped if name[1:2] and name[1] in LIKE else self.named
        words = operation_words(str(func), pytree.tree_map(spell, args), pytree.tree_map(self.named, kwargs or {}))
        if func._schema.is_mutable or self.written:
            words = f"{len(self.written)} {words}"
            self.written.append(words)
        result = func(*args, **(kwargs or {}))
        for place, one in enumerate(pytree.tree_leaves(result)):
            if isinstance(one, torch.Tensor):
                self.call(one, sha(f"{words} -> {place}"))
        return result


def recorded(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The hash of what `function(*args)` computes; each tensor of `args` stands for an input.

    Raises:
        LooksAtValuesError: it reads a value. Whatever else the function raises.
    """
    recorder = _Recorder()
    for place, tensor in enumerate(pytree.tree_leaves(args)):
        recorder.call(tensor, f"input {place} {tensor.dtype} {list(tensor.shape)}")
    with torch.no_grad(), recorder:
        result = function(*args)
    return sha("\n".join([str(pytree.tree_map(recorder.named, result)), *recorder.written]))


def operation_words(name: str, args: Any, kwargs: Any) -> str:
    """An operation on named arguments; in one order where theirs does not matter to any bit."""
    parts = name.split(".")
    if len(parts) == 3 and parts[2] == "Tensor" and len(args) == 2 and parts[1] in COMMUTES:
        args = sorted(map(str, args))
    return f"{name} {list(args)} {sorted(dict(kwargs).items())}"


def shaped(value: Any) -> str:
    """An argument of which only the form counts."""
    if isinstance(value, torch.Tensor):
        return f"like {value.dtype} {[str(size) for size in value.shape]} {value.device}"
    return f"{type(value).__name__}:{value!r}"


def tensor_words(value: torch.Tensor) -> str:
    """A constant, by its content."""
    data = value.detach().cpu().contiguous()
    return f"constant {data.dtype} {list(data.shape)} {sha(data.reshape(-1).view(torch.uint8).numpy().tobytes())}"


def sha(text: str | bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
