"""What the rules of minigrid_doorkey do not notice, and its view worked out another way."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

PICK_UP, DROP, TOGGLE, DONE = 3, 4, 5, 6
EDGE = 6  # cells of wall around the grid, as many as a view can look beyond it


def ahead(state: Any) -> tuple[Tensor, Tensor]:
    """The cell before the agent, int32 `[N]` each."""
    ways = torch.tensor([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=torch.int32, device=state.x.device)
    way = ways[state.direction.long()]
    return state.x + way[:, 0], state.y + way[:, 1]


def no_key_ahead(state: Any) -> Tensor:
    x, y = ahead(state)
    return (x != state.key_x) | (y != state.key_y)


def no_door_ahead(state: Any) -> Tensor:
    x, y = ahead(state)
    return (x != state.split) | (y != state.door_y)


def instead(action: int) -> Any:
    """The change of actions that makes `action` one that does nothing."""
    return lambda given: torch.where(given == action, DONE, given)


def room(state: Any) -> Tensor:
    """Every cell with its three numbers, as minigrid keeps them: uint8 `[N, x, y, 3]`, both from -EDGE on."""
    wide = 16 + 2 * EDGE
    x = torch.arange(wide, device=state.x.device)[None, :, None, None] - EDGE
    y = torch.arange(wide, device=state.x.device)[None, None, :, None] - EDGE

    def put(cells: Tensor, where: Tensor, *cell: Any) -> Tensor:
        new = torch.stack([torch.as_tensor(part).expand_as(state.x) for part in cell], dim=-1).to(torch.uint8)
        return torch.where(where, new[:, None, None, :], cells)

    size, split, door_y, key_x, key_y = (
        part[:, None, None, None] for part in (state.size, state.split, state.door_y, state.key_x, state.key_y)
    )
    inside = (x > 0) & (y > 0) & (x < size - 1) & (y < size - 1)
    cells = put(torch.zeros_like(inside, dtype=torch.uint8), ~inside | (x == split), 2, 5, 0)
    cells = put(cells, inside & (x != split), 1, 0, 0)
    cells = put(cells, (x == split) & (y == door_y), 4, 4, state.door)
    cells = put(cells, (x == size - 2) & (y == size - 2), 8, 1, 0)
    return put(cells, (x == key_x) & (y == key_y) & (key_x > 0), 5, 4, 0)


def drawn_cell_by_cell(state: Any, ctx: Any) -> Tensor:
    """R17 to R22: the grid drawn whole, what lies around the agent cut out, turned, and looked at cell by cell."""
    rows = []
    for cells, x, y, direction in zip(
        room(state), state.x.tolist(), state.y.tolist(), state.direction.tolist(), strict=True
    ):
        around = cells[x + EDGE - 6 : x + EDGE + 7, y + EDGE - 6 : y + EDGE + 7]  # the agent in the middle
        rows.append(torch.rot90(around, direction + 1, (1, 0))[3:10, :7])
    view = torch.stack(rows)  # [N, 7, 7, 3]
    lit = seen(view)
    view[:, 3, 6] = torch.where((state.key_x < 0)[:, None], view.new_tensor([5, 4, 0]), view.new_tensor([1, 0, 0]))
    return torch.where(lit[..., None], view, 0)


def seen(view: Tensor) -> Tensor:
    """R18, R19, a cell at a time: bool `[N, 7, 7]`."""
    clear = (view[..., 0] != 2) & ((view[..., 0] != 4) | (view[..., 2] == 0))
    lit = {(i, j): torch.full_like(clear[:, 0, 0], (i, j) == (3, 6)) for i in range(7) for j in range(-1, 7)}
    for j in range(6, -1, -1):
        for order, way in ((range(6), 1), (range(6, 0, -1), -1)):
            for i in order:
                through = lit[i, j] & clear[:, i, j]
                for reached in ((i + way, j), (i + way, j - 1), (i, j - 1)):
                    lit[reached] = lit[reached] | through
    return torch.stack([torch.stack([lit[i, j] for j in range(7)], dim=-1) for i in range(7)], dim=1)


RELATIONS = [
    Symmetry("nothing to pick up", action=instead(PICK_UP), when=no_key_ahead, reset=False, why="R10"),
    Symmetry("nothing to put down", action=instead(DROP), when=lambda state: state.key_x >= 0, reset=False, why="R11"),
    Symmetry("nothing to toggle", action=instead(TOGGLE), when=no_door_ahead, reset=False, why="R12"),
    Derived("observation.image", drawn_cell_by_cell, why="R17 to R22"),
]  # fmt: skip
