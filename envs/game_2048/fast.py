"""game_2048, all boards at once: the rules of spec.md in their order, on int32 tensors.

A board is `[N, 4, 4]`, whatever its size. Where tiles slide, cells outside count as empty: those at the end of a line
stay so, those at its beginning are closed like every gap, and the line is put back where the board begins.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import DOWN, LEFT, MAX_POWER, OUTSIDE, RIGHT, SHARES, SIZE, STARTS, UP

Line = list[Tensor]  # SIZE tensors [N, SIZE]: the first cells of all lines, the second ones, and so on


class Game2048(BatchedEnv):
    """N boards `[N, SIZE, SIZE]`.

    The engine carries out R1 (illegal actions) and R11 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        zero = torch.zeros_like(ctx.t)  # int32 [N]
        inside = self._inside(ctx.params.size)  # bool [N, SIZE, SIZE]
        board = torch.where(inside, zero[:, None, None], OUTSIDE)  # R2
        for k in range(STARTS):  # R4
            place = ctx.draw.integers("start_place", SHARES, index=k)  # int64 [N]
            board = self._with_tile(board, place, ctx.draw.bernoulli("start_four", ctx.params.four_chance, index=k))
        return self.State(board=board, score=zero)

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        upright, backward = (action == UP) | (action == DOWN), (action == DOWN) | (action == RIGHT)  # bool [N]
        line, gain = self._joined(self._lines(state.board, upright, backward))  # R5, R6, R7
        board = self._board(line, self._size(state), upright, backward)
        board = torch.where(state.board == OUTSIDE, OUTSIDE, board)  # [N, SIZE, SIZE]
        changed = (board != state.board).flatten(1).any(dim=-1)  # R8: bool [N]
        grown = self._with_tile(
            board, ctx.draw.integers("place", SHARES), ctx.draw.bernoulli("four", ctx.params.four_chance)
        )
        board = torch.where(changed[:, None, None], grown, board)
        after = self.State(board=board, score=state.score + gain)
        return Transition(after, gain.to(torch.float32), ~self._changes(board).any(dim=-1))  # R9, R10

    def _inside(self, size: Tensor) -> Tensor:
        """Cells whose row and column are below `size` `[N]`, bool `[N, SIZE, SIZE]`."""
        below = torch.arange(SIZE, device=size.device) < size[:, None]  # [N, SIZE]
        return below[:, :, None] & below[:, None, :]

    def _size(self, state: Any) -> Tensor:
        return (state.board[:, 0] != OUTSIDE).sum(dim=-1, dtype=torch.int32)  # [N]

    def _lines(self, board: Tensor, upright: Tensor, backward: Tensor) -> Line:
        """R5: the cells of all lines, the first of each from the side to which tiles slide."""
        cells = board.clamp(min=0)
        lines = torch.where(upright[:, None, None], cells.transpose(1, 2), cells)  # [N, line, cell]
        return list(torch.where(backward[:, None, None], lines.flip(-1), lines).unbind(-1))

    def _board(self, line: Line, size: Tensor, upright: Tensor, backward: Tensor) -> Tensor:
        """The boards `[N, SIZE, SIZE]` of `size` `[N]` that have these lines."""
        cells = []
        for k in range(SIZE):
            cell = line[SIZE - 1 - k]  # of a line from behind, in the largest board
            for smaller in range(2, SIZE):
                there = line[smaller - 1 - k] if k < smaller else torch.zeros_like(cell)
                cell = torch.where((size == smaller)[:, None], there, cell)
            cells.append(torch.where(backward[:, None], cell, line[k]))
        lines = torch.stack(cells, dim=-1)  # [N, line, cell]
        return torch.where(upright[:, None, None], lines.transpose(1, 2), lines)

    def _joined(self, line: Line) -> tuple[Line, Tensor]:
        """R5, R6, R7: lines after their tiles have slid and joined, and the gain `[N]`."""
        line = self._packed(line)
        gain = torch.zeros_like(line[0])  # [N, SIZE]
        for k in range(SIZE - 1):
            joins = (line[k] != 0) & (line[k] == line[k + 1])  # bool [N, SIZE]; a tile made here is followed by a gap
            higher = line[k] + 1
            gain = gain + torch.where(joins, torch.ones_like(gain) << higher, 0)
            first, second = torch.where(joins, higher, line[k]), torch.where(joins, 0, line[k + 1])
            line = [*line[:k], first, second, *line[k + 2 :]]
        return self._packed(line), gain.sum(dim=-1, dtype=torch.int32)

    def _packed(self, line: Line) -> Line:
        """Lines without gaps: each gap moves to the end, cell by cell."""
        for last in range(SIZE - 1, 0, -1):
            for k in range(last):
                gap = line[k] == 0
                first, second = torch.where(gap, line[k + 1], line[k]), torch.where(gap, 0, line[k + 1])
                line = [*line[:k], first, second, *line[k + 2 :]]
        return line

    def _with_tile(self, board: Tensor, place: Tensor, four: Tensor) -> Tensor:
        """R3: boards `[N, SIZE, SIZE]` with a new tile."""
        cells = board.flatten(1)  # [N, SIZE * SIZE]
        empty = cells == 0
        number = place.to(torch.int32) * empty.sum(dim=-1, dtype=torch.int32) // SHARES  # [N]
        before = empty.to(torch.int32).cumsum(dim=-1, dtype=torch.int32) - 1  # empty cells before each
        new = empty & (before == number[:, None])
        return torch.where(new, 1 + four.to(torch.int32)[:, None], cells).unflatten(1, (SIZE, SIZE))

    def _changes(self, board: Tensor) -> Tensor:
        """R10, R13: whether each action changes the board, bool `[N, 4]`."""
        columns = board.transpose(1, 2)
        down, right = self._slides(columns), self._slides(board)  # from the first to the second of two cells
        up, left = self._slides(columns.flip(-1)), self._slides(board.flip(-1))
        by_action = {UP: up, RIGHT: right, DOWN: down, LEFT: left}
        return torch.stack([by_action[action] for action in range(4)], dim=-1)

    def _slides(self, lines: Tensor) -> Tensor:
        """Whether a tile goes from a cell to the next in some line `[N, line, cell]`, bool `[N]`."""
        one, other = lines[:, :, :-1], lines[:, :, 1:]
        return ((one > 0) & ((other == 0) | (one == other))).flatten(1).any(dim=-1)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        powers = torch.arange(MAX_POWER + 1, dtype=torch.int32, device=state.board.device)  # R12
        return (state.board[..., None] == powers).to(torch.int8)  # [N, SIZE, SIZE, 16]

    def action_mask(self, state: Any, ctx: Context) -> Tensor:
        return self._changes(state.board)  # R13: bool [N, 4]

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        return {"highest": state.board.flatten(1).amax(dim=-1)}  # R14: int32 [N]

    @invariant("what is outside is as far as the board's size says", rule="R15")
    def frame_whole(self, state: Any, ctx: Context) -> Tensor:
        size = self._size(state)
        framed = ((state.board != OUTSIDE) == self._inside(size)).flatten(1).all(dim=-1)
        return framed & (size >= 2)  # bool [N]

    @invariant("tiles are neither lost nor made of nothing", rule="R16")
    def tiles_in_bounds(self, state: Any, ctx: Context) -> Tensor:
        cells = state.board.flatten(1)
        count = (cells > 0).sum(dim=-1, dtype=torch.int32)  # [N]
        return (count >= 2) & (self._total(cells) <= (ctx.t + STARTS) * 4)  # bool [N]

    @invariant("the score is what the tiles have earned", rule="R17")
    def score_accounted(self, state: Any, ctx: Context) -> Tensor:
        cells = state.board.flatten(1)
        earned = torch.where(cells > 0, (cells - 1) << cells, 0).sum(dim=-1, dtype=torch.int32) - state.score
        fours, rest = earned // 4, earned % 4
        twos = (self._total(cells) - fours * 4) // 2
        return (rest == 0) & (fours >= 0) & (twos >= 0) & (fours + twos <= ctx.t + STARTS)  # bool [N]

    def _total(self, cells: Tensor) -> Tensor:
        """What the tiles add up to, int32 `[N]`."""
        return torch.where(cells > 0, torch.ones_like(cells) << cells, 0).sum(dim=-1, dtype=torch.int32)
