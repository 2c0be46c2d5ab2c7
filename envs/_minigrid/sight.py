"""What batched twins of MiniGrid see, worked out without a grid: places in the view, and sight row by row.

A view has VIEW x VIEW cells, column first, from the left; then row, from the farthest, and the agent stands in the
middle of the nearest row. Where walls hide cells, a row is an integer of seven bits: bit i is the cell i - 3 cells to
the right of the agent.
"""

from __future__ import annotations

import torch
from torch import Tensor

EAST, SOUTH, WEST, NORTH = 0, 1, 2, 3
VIEW = 7
HALF, ROW = VIEW // 2, (1 << VIEW) - 1  # ROW: all bits of a row
OWN_CELL = VIEW * HALF + VIEW - 1  # the number of the agent's cell, column by column


def ahead(direction: Tensor) -> tuple[Tensor, Tensor]:
    """How x and y change one cell ahead, int32 of the same shape each."""
    east = (direction == EAST).to(torch.int32) - (direction == WEST).to(torch.int32)
    south = (direction == SOUTH).to(torch.int32) - (direction == NORTH).to(torch.int32)
    return east, south


def places(x: Tensor, y: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """The x and y of each cell of the view, int32 `[N, 7, 7]` each, of agents int32 `[N]`."""
    cells = torch.arange(VIEW, device=x.device, dtype=torch.int32)
    right, far = (cells - HALF)[None, :, None], (VIEW - 1 - cells)[None, None, :]
    east, south = ahead(direction[:, None, None])  # [N, 1, 1] each
    return x[:, None, None] + east * far - south * right, y[:, None, None] + south * far + east * right


def numbers(like: Tensor) -> Tensor:
    """The number of each cell of the view, column by column: int32 `[1, 7, 7]`."""
    return torch.arange(VIEW * VIEW, device=like.device, dtype=torch.int32).view(1, VIEW, VIEW)


def offsets(direction: Tensor, right: Tensor, down: Tensor) -> tuple[Tensor, Tensor]:
    """How far ahead and how far to the right a place is that is so far off on the grid: int32 `[N]` each."""
    east, south = ahead(direction)
    return east * right + south * down, east * down - south * right


def number(far: Tensor, side: Tensor) -> Tensor:
    """The number of the cell so far ahead and to the right, or -1 outside the view: int32 `[N]`."""
    inside = (far >= 0) & (far < VIEW) & (side >= -HALF) & (side <= HALF)
    return torch.where(inside, VIEW * (side + HALF) + VIEW - 1 - far, -1)


def bits_of(rows: Tensor) -> Tensor:
    """Which cells of the view are set in rows of bits int32 `[N, 7]`, the agent's own row first: bool `[N, 7, 7]`."""
    sides = torch.arange(VIEW, device=rows.device, dtype=torch.int32)[None, :, None]
    return ((rows.flip(dims=(1,))[:, None, :] >> sides) & 1) == 1


def lit(opaque: Tensor) -> Tensor:
    """The seen cells of each row, as bits, from the opaque ones: int32 `[N, 7]`, the agent's own row first."""
    seen, rows = torch.full_like(opaque[:, 0], 1 << HALF), []
    for clear in (ROW & ~opaque).unbind(dim=1):  # int32 [N]
        # To the right: the sum carries from each seen clear cell through the clear ones after it, and one further.
        seen = (seen | (clear ^ (clear + (seen & clear)))) & ROW
        from_left = seen & clear & (ROW >> 1)  # the last cell of a row has nothing to its right
        seen = _to_the_left(seen, clear)
        from_right = seen & clear & ~1
        rows.append(seen)
        seen = from_left | (from_left << 1) | from_right | (from_right >> 1)
    return torch.stack(rows, dim=1)


def _to_the_left(seen: Tensor, clear: Tensor) -> Tensor:
    """`seen`, and all that follows to the left through clear cells, with the cell that ends it: int32 `[N]`."""
    spread, through = seen & clear, clear
    for reach in (1, 2, 4):
        spread = spread | (through & (spread >> reach))
        through = through & (through >> reach)
    return seen | spread | (spread >> 1)


def packed(cell: tuple[int, int, int]) -> int:
    """Object, colour and state in one integer."""
    return cell[0] | cell[1] << 8 | cell[2] << 16


def image(seen: Tensor) -> Tensor:
    """The image uint8 `[N, 7, 7, 3]` of packed cells int32 `[N, 7, 7]`."""
    # A stack as the last operation is stored layer by layer, and so without loops.
    return torch.stack([((seen >> shift) & 255).to(torch.uint8) for shift in (0, 8, 16)], dim=-1)
