"""What the rows of a batch keep between steps, in one allocation: blocks of 64 rows, in them an array an element."""

from __future__ import annotations

import torch

from simulacrum.engine.native.binary import Binary
from simulacrum.lower.program import LANES


class Arena:
    """Memory for `num_envs` rows of a binary's kept ports. The last block may have rows that nobody looks at."""

    def __init__(self, binary: Binary, num_envs: int) -> None:
        self.num_envs, self.block_bytes = num_envs, int(binary.about["block_bytes"])
        self.blocks = -(-num_envs // LANES)
        with torch.inference_mode(False):
            self.memory = torch.zeros(self.blocks * self.block_bytes, dtype=torch.uint8)
            self._views = {
                name: self._view(port.dtype, port.size, binary.at[name])
                for name, port in binary.ports.items()
                if port.layout == "blocks"
            }
        self._shapes = {name: port.shape for name, port in binary.ports.items()}
        self.address = self.memory.data_ptr()

    def _view(self, dtype: torch.dtype, size: int, start: int) -> torch.Tensor:
        """The elements of a port as `[blocks, LANES, size]`, looking into the memory."""
        stop = start + size * LANES * dtype.itemsize
        blocks = self.memory.view(self.blocks, self.block_bytes)[:, start:stop].view(dtype)
        return blocks.unflatten(1, (size, LANES)).transpose(1, 2)

    def rows(self, name: str) -> torch.Tensor:
        """A copy of a port's rows, `[N, *shape]`."""
        flat = self._views[name].reshape(self.blocks * LANES, -1)[: self.num_envs]
        return flat.reshape(self.num_envs, *self._shapes[name]).clone(memory_format=torch.contiguous_format)

    def put(self, name: str, value: torch.Tensor) -> None:
        """Write a port's rows from `[N, *shape]`."""
        view, flat = self._views[name], value.reshape(self.num_envs, -1)
        whole = self.num_envs // LANES
        view[:whole].copy_(flat[: whole * LANES].unflatten(0, (whole, LANES)))
        if whole < self.blocks:
            rest = flat[whole * LANES :]
            view[whole, : rest.shape[0]].copy_(rest)
