"""Memory for what a step shows, used again when the caller has let go of it.

Large fresh tensors are dear: the system hands out zeroed pages and takes them back at every step. So the tensors of a
step lie in one block, and a block whose tensors nobody else refers to, in Python or in torch (a view, an array, a
graph that waits for its backward pass), is written again. To the caller each step's tensors are fresh.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch

from simulacrum.lower.program import Port

ALIGNMENT = 64
KEPT = 4  # blocks; a caller who keeps more has each step's made anew

# Torch keeps both counts to itself. Where one is missing, no block is ever free.
_uses: Callable[[int], int] | None = getattr(torch._C, "_storage_Use_Count", None)  # pyright: ignore[reportPrivateUsage]
_handles: Callable[[torch.Tensor], int] | None = getattr(torch.Tensor, "_use_count", None)


class Block:
    """The output tensors of one step in one allocation, and the pointers that a call of the library takes."""

    def __init__(self, ports: Sequence[Port], num_envs: int, pointers: Any) -> None:
        sizes = [num_envs * port.size * port.dtype.itemsize for port in ports]
        starts: list[int] = []
        total = 0
        for size in sizes:
            starts.append(total)
            total += -(-size // ALIGNMENT) * ALIGNMENT
        with torch.inference_mode(False):
            memory = torch.empty(max(total, 1), dtype=torch.uint8)
            self.tensors = tuple(
                memory[start : start + size].view(port.dtype).view(num_envs, *port.shape)
                for port, start, size in zip(ports, starts, sizes, strict=True)
            )
        self.address, self.starts = memory.data_ptr(), starts
        self.point(pointers)
        self.shown: Any = None  # the tensors as somebody arranged them, where that may be used again
        self._storage = memory.untyped_storage()
        self._floats = tuple(tensor for tensor in self.tensors if tensor.is_floating_point())
        self._wide = tuple(tensor for tensor in self.tensors if tensor.dim() > 1)
        self._sizes = [tensor.shape for tensor in self._wide]
        del memory
        self._alone = self._references()

    def point(self, pointers: Any) -> None:
        """Take the pointers that a call of the library is to use."""
        self.pointers, self.call = pointers, 0 if pointers is None else ctypes.addressof(pointers)

    def _references(self) -> tuple[int, ...]:
        """How often the tensors are referred to, in Python and in torch, their memory too; and their dimensions."""
        tensors = self.tensors
        if _uses is None or _handles is None:
            return ()
        return (
            sum(map(sys.getrefcount, tensors)),
            sum(map(_handles, tensors)),
            sum(map(torch.Tensor.dim, tensors)),
            _uses(self._storage._cdata),  # pyright: ignore[reportPrivateUsage]  # what the count takes
        )

    @property
    def free(self) -> bool:
        """Whether nobody but this block refers to its memory, and its tensors are as they were made."""
        # A caller may have turned a tensor's shape or asked for its gradient, in place, before letting go of it.
        return (
            self._references() == self._alone != ()
            and not any(map(_needs_gradient, self._floats))
            and [*map(torch.Tensor.size, self._wide)] == self._sizes
        )


_needs_gradient: Callable[[torch.Tensor], bool] = (
    torch.Tensor.requires_grad.__get__  # pyright: ignore[reportAttributeAccessIssue]  # it is a descriptor
)


class Outputs:
    """Blocks for the steps of one env.

    Args:
        ports: what a step shows.
        num_envs: rows N.
        pointers: makes the pointers of a new block, given its address and the start of each tensor in it.
        double_buffer: two blocks by turns, whoever looks at them.
    """

    def __init__(
        self,
        ports: Sequence[Port],
        num_envs: int,
        pointers: Callable[[int, Sequence[int]], Any],
        *,
        double_buffer: bool = False,
    ) -> None:
        self.ports, self.num_envs, self._pointers = tuple(ports), num_envs, pointers
        self.double_buffer = double_buffer
        self._blocks: list[Block] = []
        self.made = 0  # blocks allocated so far

    def forget(self) -> None:
        """Make new blocks from now on: the pointers of the old ones are out of date."""
        self._blocks.clear()

    def take(self) -> Block:
        """A block to write: one that is free, or a new one."""
        blocks = self._blocks
        if self.double_buffer and len(blocks) == 2:
            block = blocks.pop(0)
            blocks.append(block)
            return block
        if not self.double_buffer:
            for number, block in enumerate(blocks):
                if block.free:
                    if number != len(blocks) - 1:
                        blocks.append(blocks.pop(number))
                    return block
            if len(blocks) >= KEPT:
                blocks.pop(0)  # its memory goes when the caller lets go of it
        block = Block(self.ports, self.num_envs, None)
        block.point(self._pointers(block.address, block.starts))
        self.made += 1
        blocks.append(block)
        return block
