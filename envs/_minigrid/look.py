"""A view of MiniGrid worked out cell by cell from a grid that is drawn whole: what relations hold the twins' view to.

It is written as minigrid does it, slice, turn and spread of sight, and has nothing of `sight`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

EDGE = 6  # cells of wall around the grid, as many as a view can look beyond it
EMPTY, WALL, DOOR = 1, 2, 4


def frame(agent: Any, width: int, height: int) -> tuple[Tensor, Tensor]:
    """The x and y of all cells of a grid with its frame, `[1, x, 1, 1]` and `[1, 1, y, 1]`, both from -EDGE on."""
    x = torch.arange(width + 2 * EDGE, device=agent.x.device)[None, :, None, None] - EDGE
    y = torch.arange(height + 2 * EDGE, device=agent.x.device)[None, None, :, None] - EDGE
    return x, y


def each(*fields: Tensor) -> list[Tensor]:
    """Fields `[N]` as `[N, 1, 1, 1]`, to be held against the places of `frame`."""
    return [field[:, None, None, None] for field in fields]


def put(cells: Tensor, where: Tensor, *cell: Any) -> Tensor:
    """`cells` uint8 `[N, x, y, 3]` with another cell where bool `[N, x, y, 1]` says; its parts are numbers or `[N]`."""
    parts = [torch.as_tensor(part, device=cells.device).expand(len(cells)) for part in cell]
    return torch.where(where, torch.stack(parts, dim=-1).to(torch.uint8)[:, None, None, :], cells)


def walled(inside: Tensor, agent: Any) -> Tensor:
    """Empty cells where `inside`, bool `[N or 1, x, y, 1]`, says, and walls around: uint8 `[N, x, y, 3]`."""
    blank = torch.zeros_like(inside, dtype=torch.uint8).expand(len(agent.x), -1, -1, 3)
    return put(put(blank, inside, EMPTY, 0, 0), ~inside, WALL, 5, 0)


def view(cells: Tensor, agent: Any, *held: Any, see_through_walls: bool = False) -> Tensor:
    """What the agent sees of the framed grid: uint8 `[N, 7, 7, 3]`.

    held: the three numbers of what it carries, each a number or `[N]`; the empty cell where there is nothing.
    """
    cut = []
    for grid, x, y, direction in zip(cells, agent.x.tolist(), agent.y.tolist(), agent.direction.tolist(), strict=True):
        around = grid[x + EDGE - 6 : x + EDGE + 7, y + EDGE - 6 : y + EDGE + 7]  # the agent in the middle
        cut.append(torch.rot90(around, direction + 1, (1, 0))[3:10, :7])
    found = torch.stack(cut)  # [N, 7, 7, 3]
    visible = torch.ones_like(found[..., 0], dtype=torch.bool) if see_through_walls else seen(found)
    parts = [torch.as_tensor(part, device=cells.device).expand(len(cells)) for part in held or (EMPTY, 0, 0)]
    found[:, 3, 6] = torch.stack(parts, dim=-1).to(torch.uint8)
    return torch.where(visible[..., None], found, 0)


def seen(found: Tensor) -> Tensor:
    """Which cells of a view uint8 `[N, 7, 7, 3]` sight comes to, a cell at a time: bool `[N, 7, 7]`."""
    clear = (found[..., 0] != WALL) & ((found[..., 0] != DOOR) | (found[..., 2] == 0))
    reach = {(i, j): torch.full_like(clear[:, 0, 0], (i, j) == (3, 6)) for i in range(7) for j in range(-1, 7)}
    for j in range(6, -1, -1):
        for order, way in ((range(6), 1), (range(6, 0, -1), -1)):
            for i in order:
                through = reach[i, j] & clear[:, i, j]
                for next_one in ((i + way, j), (i + way, j - 1), (i, j - 1)):
                    reach[next_one] = reach[next_one] | through
    return torch.stack([torch.stack([reach[i, j] for j in range(7)], dim=-1) for i in range(7)], dim=1)
