"""What the rules of frozenlake do not notice: two mirrors of the world, on lakes that are eight cells wide."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from simulacrum.twin.relations import Symmetry

LAST_NUMBER = 1.0 - 2.0**-53  # the largest number that a uniform draw gives

# Of a mask of 8 x 8 bits, the parts that change places (Warren, Hacker's Delight, 7-1 and 7-3): (mask, distance).
BITS_OF_BYTES = ((0x5555555555555555, 1), (0x3333333333333333, 2), (0x0F0F0F0F0F0F0F0F, 4))
BLOCKS = ((0x00AA00AA00AA00AA, 7), (0x0000CCCC0000CCCC, 14), (0x00000000F0F0F0F0, 28))


def mirrored(mask: Tensor) -> Tensor:
    """Each row of eight bits from its end to its beginning."""
    for part, distance in BITS_OF_BYTES:
        mask = ((mask >> distance) & part) | ((mask & part) << distance)
    return mask


def transposed(mask: Tensor) -> Tensor:
    """Rows and columns of 8 x 8 bits exchanged."""
    for part, distance in BLOCKS:
        changed = (mask ^ (mask >> distance)) & part
        mask = mask ^ changed ^ (changed << distance)
    return mask


def mirror(state: Any) -> Any:
    return state.replace(column=7 - state.column, holes=mirrored(state.holes), goals=mirrored(state.goals))


def transpose(state: Any) -> Any:
    return state.replace(
        row=state.column, column=state.row, holes=transposed(state.holes), goals=transposed(state.goals)
    )  # fmt: skip


def other_side(drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """The slip of R6 goes to the other side."""
    return {slot: LAST_NUMBER - u for slot, u in drawn.items()}


RELATIONS = [
    Symmetry(
        "left and right", state=mirror, action=lambda action: (2 - action) % 4, draws=other_side, reset=False,
        observation=lambda cell: cell ^ 7, when=lambda state: state.columns == 8,
        why="R6 slips to both sides alike, and R8 knows the edges of both alike",
    ),
    Symmetry(
        "rows and columns", state=transpose, action=lambda action: 3 - action, draws=other_side, reset=False,
        observation=lambda cell: cell % 8 * 8 + cell // 8,
        when=lambda state: (state.columns == 8) & (state.rows == 8),
        why="R6 to R11 treat rows as columns",
    ),
]  # fmt: skip
