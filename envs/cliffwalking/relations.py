"""What the rules of cliffwalking do not notice."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from simulacrum.twin.relations import NoOp, Symmetry

from . import COLUMNS, ROWS

LAST_NUMBER = 1.0 - 2.0**-53  # the largest number that a uniform draw gives
LAST = COLUMNS - 1


def mirror(state: Any) -> Any:
    return state.replace(column=LAST - state.column)


def other_side(drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """The slip of R4 goes to the other side."""
    return {slot: LAST_NUMBER - u for slot, u in drawn.items()}


def above_the_edge(state: Any) -> Tensor:
    """Rows from which no step leads to the bottom row, where start and goal differ."""
    return state.row < ROWS - 2


RELATIONS = [
    Symmetry(
        "left and right", state=mirror, action=lambda action: (4 - action) % 4, draws=other_side, reset=False,
        observation=lambda cell: cell // COLUMNS * COLUMNS + LAST - cell % COLUMNS, when=above_the_edge,
        why="R4 slips to both sides alike, and R6 knows the edges of both alike",
    ),
    # The draws are such that a slippery move goes straight ahead.
    NoOp("up at the top", action=0, when=lambda state: state.row == 0, draws={"slip": 0.5}, reward=-1.0, why="R6"),
    NoOp("left at the left", action=3, when=lambda state: state.column == 0,
         draws={"slip": 0.5}, reward=-1.0, why="R6"),
    NoOp("down at the start", action=2, when=lambda state: (state.row == ROWS - 1) & (state.column == 0),
         draws={"slip": 0.5}, reward=-1.0, why="R6"),
]  # fmt: skip
