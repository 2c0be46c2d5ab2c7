"""What the rules of game_2048 do not notice: from which side the board is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot, pad

from simulacrum.twin.relations import Derived, NoOp, Symmetry

from . import DOWN, LEFT, MAX_POWER, OUTSIDE, RIGHT, SHARES, SIZE, UP

Change = Callable[[Tensor], Tensor]  # of boards [N, s, s, ...]
TURNED = {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}
MIRRORED = {UP: UP, DOWN: DOWN, LEFT: RIGHT, RIGHT: LEFT}
EXCHANGED = {UP: LEFT, LEFT: UP, DOWN: RIGHT, RIGHT: DOWN}  # rows become columns


def within(board: Tensor, change: Change) -> Tensor:
    """A change of boards `[N, SIZE, SIZE]` of any size, with the cells outside where they were."""
    size = (board[:, 0] != OUTSIDE).sum(dim=-1)  # [N]
    for s in range(2, SIZE + 1):
        rest = (0, SIZE - s, 0, SIZE - s)
        made = pad(change(board[:, :s, :s]), rest, value=OUTSIDE)
        board = torch.where((size == s)[:, None, None], made, board)
    return board


def symmetry(name: str, change: Change, pairs: dict[int, int], **more: Any) -> Symmetry:
    """`change` of the board, and with it the actions change as in `pairs`, each of which is its own inverse."""
    order = [pairs[action] for action in range(4)]
    return Symmetry(
        name,
        state=lambda state: state.replace(board=within(state.board, change)),
        action=lambda action: torch.tensor(order)[action],
        observation=lambda seen: powers(within(seen.argmax(dim=-1) + seen.sum(dim=-1) - 1, change)),
        action_mask=lambda mask: mask[:, order],
        **more,
    )


def powers(board: Tensor) -> Tensor:
    """R12: int8 `[N, SIZE, SIZE, 16]`. A cell outside is the first of one plane more, which is left out."""
    return one_hot(board.long() + 1, MAX_POWER + 2)[..., 1:].to(torch.int8)


def other_end(drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """R3 counts the empty cells of a board turned upside down from the other end."""
    return {name: SHARES - 1 - drawn[name] for name in ("start_place", "place") if name in drawn}


def one_pair(state: Any) -> Tensor:
    """Full boards on which two cells alone can join: the next tile has one cell to choose, from wherever one looks."""
    board = state.board
    beside = ((board[:, :, 1:] == board[:, :, :-1]) & (board[:, :, 1:] > 0)).flatten(1).sum(dim=-1)
    below = ((board[:, 1:] == board[:, :-1]) & (board[:, 1:] > 0)).flatten(1).sum(dim=-1)
    return (board != 0).flatten(1).all(dim=-1) & (beside + below == 1)


def able(state: Any, ctx: Any) -> Tensor:
    """R13, line by line: tiles stay where they are exactly if all are at the front and no two neighbours are equal."""
    made = torch.zeros(len(state.board), 4, dtype=torch.bool)
    columns = state.board.transpose(1, 2)
    for action, lines in ((UP, columns), (DOWN, columns.flip(-1)), (LEFT, state.board), (RIGHT, state.board.flip(-1))):
        for line in lines.unbind(1):
            for k in range(1, SIZE):
                before = line[:, :k]
                gap, equal = (before == 0).any(dim=-1), before[:, -1] == line[:, k]
                made[:, action] |= (line[:, k] > 0) & (gap | equal)
    return made


RELATIONS = [
    symmetry("upside down", lambda board: board.flip(1, 2), TURNED, draws=other_end,
             why="R5 to R7 know no side, and R3 counts from the other end"),
    symmetry("left and right", lambda board: board.flip(2), MIRRORED, when=one_pair, reset=False,
             why="R5 to R7 know no side"),
    symmetry("rows and columns", lambda board: board.transpose(1, 2), EXCHANGED, when=one_pair, reset=False,
             why="R5 to R7 do the same to both"),
    *(
        NoOp(name, action=action, when=lambda s, action=action: ~able(s, None)[:, action], reward=0.0, why="R8")
        for name, action in (("up", UP), ("right", RIGHT), ("down", DOWN), ("left", LEFT))
    ),
    Derived("observation", lambda s, ctx: powers(s.board), why="R12"),
    Derived("action_mask", able, why="R13"),
]  # fmt: skip
