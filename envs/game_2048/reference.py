"""game_2048, one board at a time: written to be read, rule by rule in the order of spec.md."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import DOWN, LEFT, MAX_POWER, OUTSIDE, RIGHT, SHARES, SIZE, STARTS, UP

Board = tuple[tuple[int, ...], ...]  # as many rows and columns as the board in play has
ACTIONS = (UP, RIGHT, DOWN, LEFT)


class Game2048(ReferenceEnv):
    """One board; state of Python integers and tuples of them.

    The engine carries out R1 (illegal actions) and R11 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        board: Board = ((0,) * ctx.params.size,) * ctx.params.size  # R2
        for k in range(STARTS):  # R4
            place = ctx.draw.integers("start_place", SHARES, index=k)
            board = with_tile(board, place, ctx.draw.bernoulli("start_four", ctx.params.four_chance, index=k))
        return self.State(board=framed(board), score=0)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        before = played(state.board)
        board, gain = slid(before, action)  # R5, R6, R7
        if board != before:  # R8
            place = ctx.draw.integers("place", SHARES)
            board = with_tile(board, place, ctx.draw.bernoulli("four", ctx.params.four_chance))
        after = self.State(board=framed(board), score=state.score + gain)
        return Transition(after, Float32(gain), not any(changes(board)))  # R9, R10

    def observe(self, state: Any, ctx: Context) -> Any:
        return [[[int(power == cell) for power in range(MAX_POWER + 1)] for cell in row] for row in state.board]  # R12

    def action_mask(self, state: Any, ctx: Context) -> tuple[bool, ...]:
        return changes(played(state.board))  # R13

    def info(self, state: Any, ctx: Context) -> dict[str, Any]:
        return {"highest": max(tiles(state.board))}  # R14

    @invariant("what is outside is as far as the board's size says", rule="R15")
    def frame_whole(self, state: Any, ctx: Context) -> bool:
        size = sum(cell != OUTSIDE for cell in state.board[0])
        cells = [(row, column) for row in range(SIZE) for column in range(SIZE)]
        return size >= 2 and all((state.board[y][x] == OUTSIDE) == (max(y, x) >= size) for y, x in cells)

    @invariant("tiles are neither lost nor made of nothing", rule="R16")
    def tiles_in_bounds(self, state: Any, ctx: Context) -> bool:
        there = tiles(state.board)
        return len(there) >= 2 and sum(2**tile for tile in there) <= 4 * (ctx.t + STARTS)

    @invariant("the score is what the tiles have earned", rule="R17")
    def score_accounted(self, state: Any, ctx: Context) -> bool:
        there = tiles(state.board)
        fours, rest = divmod(sum((tile - 1) * 2**tile for tile in there) - state.score, 4)
        twos = (sum(2**tile for tile in there) - 4 * fours) // 2
        return rest == 0 and fours >= 0 and twos >= 0 and fours + twos <= ctx.t + STARTS

    @sometimes("two pairs of a line join", rule="R6")
    def two_pairs(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        whole = [line for line in lines(played(state.board), action) if 0 not in line]
        return any(joined(line)[0].count(0) == 2 for line in whole)

    @sometimes("of three equal tiles in a line the first two join", rule="R6")
    def three_alike(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        packed = [[tile for tile in line if tile] for line in lines(played(state.board), action)]
        return any(line[k] == line[k + 1] == line[k + 2] for line in packed for k in range(len(line) - 2))

    @sometimes("a move does nothing", rule="R8")
    def nothing_moves(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state == state


def played(board: Board) -> Board:
    """The board in play, without the cells outside."""
    size = sum(cell != OUTSIDE for cell in board[0])
    return tuple(row[:size] for row in board[:size])


def framed(board: Board) -> Board:
    """The board in play with the cells outside, `[SIZE, SIZE]`."""
    beside, below = (OUTSIDE,) * (SIZE - len(board)), ((OUTSIDE,) * SIZE,) * (SIZE - len(board))
    return (*(row + beside for row in board), *below)


def tiles(board: Board) -> list[int]:
    """The powers of all tiles."""
    return [cell for row in board for cell in row if cell > 0]


def with_tile(board: Board, place: int, four: bool) -> Board:
    """R3: the board with a new tile."""
    empty = [(y, x) for y, row in enumerate(board) for x, cell in enumerate(row) if cell == 0]
    new = empty[place * len(empty) // SHARES]
    power = 2 if four else 1
    return tuple(tuple(power if (y, x) == new else cell for x, cell in enumerate(row)) for y, row in enumerate(board))


def lines(board: Board, action: int) -> Board:
    """R5: the lines of an action, each from the side to which tiles slide."""
    if action in (UP, DOWN):
        board = tuple(zip(*board, strict=True))
    return tuple(line[::-1] for line in board) if action in (DOWN, RIGHT) else board


def board_of(made: Board, action: int) -> Board:
    """The board that has these lines."""
    if action in (DOWN, RIGHT):
        made = tuple(line[::-1] for line in made)
    return tuple(zip(*made, strict=True)) if action in (UP, DOWN) else made


def joined(line: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """R5, R6, R7: a line after its tiles have slid and joined, and the gain."""
    waiting, made, gain = [tile for tile in line if tile], [], 0
    while waiting:
        tile = waiting.pop(0)
        if waiting and waiting[0] == tile:
            waiting.pop(0)
            tile += 1
            gain += 2**tile
        made.append(tile)
    return (*made, *[0] * (len(line) - len(made))), gain


def slid(board: Board, action: int) -> tuple[Board, int]:
    """R5, R6, R7: the board before a tile comes, and the gain."""
    both = [joined(line) for line in lines(board, action)]
    return board_of(tuple(line for line, _ in both), action), sum(gain for _, gain in both)


def changes(board: Board) -> tuple[bool, ...]:
    """R10, R13: whether each action changes the board."""
    return tuple(slid(board, action)[0] != board for action in ACTIONS)
