"""game_2048, rule by rule: moves worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest
import torch

from simulacrum.contract.package import load_package
from simulacrum.twin.batched import load_states
from simulacrum.twin.state import load_state

UP, RIGHT, DOWN, LEFT = range(4)
SHARES = 720720
FULL = [[1, 2, 1, 2], [2, 1, 2, 1], [1, 2, 1, 2], [2, 1, 2, 0]]
STUCK = [[1, 2, 1, 2], [2, 1, 2, 1], [1, 2, 1, 2], [2, 1, 2, 1]]


@pytest.fixture(scope="module")
def game(toywalk: Any) -> Any:
    return type(toywalk)(load_package("game_2048"))


def with_row(cells: list[int], row: int = 0) -> list[list[int]]:
    return [cells if number == row else [0] * 4 for number in range(4)]


def columns(board: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*board, strict=True)]


def framed(rows: list[list[int]]) -> list[list[int]]:
    """A smaller board in the corner of the largest."""
    rest = 4 - len(rows)
    return [[*row, *[-1] * rest] for row in rows] + [[-1] * 4] * rest


def draw_for(place: int, empty: int) -> int:
    """The least draw that leads to the empty cell `place` of `empty`."""
    return -(-place * SHARES // empty)


def moved(table: Any, board: list[list[int]], action: int, place: int = 0, four: bool = False, t: int = 50) -> Any:
    return table.step({"board": board, "score": 0}, action, t=t, place=place, four=four)


def test_r2_r4_start(game: Any) -> None:
    seen = game.reset(start_place=[draw_for(5, 16), draw_for(5, 15)], start_four=[False, True])
    assert seen.state == {"board": [[0] * 4, [0, 1, 2, 0], [0] * 4, [0] * 4], "score": 0}
    assert seen.info == {"highest": 2}


@pytest.mark.parametrize("size", [2, 3, 4])
def test_r2_smaller_boards(size: int) -> None:
    env = gymnasium.make("simulacrum/game_2048-v0", params={"size": size, "four_chance": 1.0})
    observation, _ = env.reset(seed=3)
    assert observation.shape == (4, 4, 16)
    assert observation.sum() == size * size
    assert observation[:size, :size, 2].sum() == 2
    assert observation[:, :, 0].sum() == size * size - 2


@pytest.mark.parametrize("empty", [1, 2, 7, 11, 13, 15])
def test_r3_each_cell_has_the_same_share(game: Any, empty: int) -> None:
    """The first and the last draw of each cell, of which there are as many for each."""
    assert SHARES % empty == 0
    make, batched = load_package("game_2048").module("reference").with_tile, game.fast
    flat = [9] * (16 - empty) + [0] * empty
    board = tuple(tuple(flat[4 * row : 4 * row + 4]) for row in range(4))
    for place in range(empty):
        for draw in (draw_for(place, empty), draw_for(place + 1, empty) - 1):
            made = make(board, draw, False)
            assert [cell for row in made for cell in row].index(1) == 16 - empty + place
            many = batched._with_tile(torch.tensor([board]), torch.tensor([draw]), torch.tensor([False]))
            assert many[0].tolist() == [list(row) for row in made]


@pytest.mark.parametrize(
    ("line", "made", "gain"),
    [
        ([0, 0, 0, 3], [3, 0, 0, 0], 0),
        ([0, 2, 0, 1], [2, 1, 0, 0], 0),
        ([1, 1, 0, 0], [2, 0, 0, 0], 4),
        ([1, 0, 0, 1], [2, 0, 0, 0], 4),
        ([1, 1, 1, 0], [2, 1, 0, 0], 4),
        ([1, 1, 1, 1], [2, 2, 0, 0], 8),
        ([2, 1, 1, 2], [2, 2, 2, 0], 4),
        ([1, 1, 2, 0], [2, 2, 0, 0], 4),
        ([3, 2, 1, 1], [3, 2, 2, 0], 4),
        ([1, 2, 2, 2], [1, 3, 2, 0], 8),
        ([14, 14, 4, 4], [15, 5, 0, 0], 32768 + 32),
    ],
)
@pytest.mark.parametrize("action", [UP, RIGHT, DOWN, LEFT])
def test_r5_r6_r7_r9_a_line(game: Any, line: list[int], made: list[int], gain: int, action: int) -> None:
    before, after = with_row(line, 2), with_row(made, 2)
    if action in (RIGHT, DOWN):
        before, after = [row[::-1] for row in before], [row[::-1] for row in after]
    if action in (UP, DOWN):
        before, after = columns(before), columns(after)
    empty = [(row, column) for row in range(4) for column in range(4) if not after[row][column]]
    seen = moved(game, before, action, draw_for(len(empty) - 1, len(empty)))
    row, column = empty[-1]
    after[row][column] = 1
    assert seen.state == {"board": after, "score": gain}
    assert (seen.reward, seen.terminated) == (float(gain), False)


@pytest.mark.parametrize(
    ("action", "made"),
    [
        (UP, [[3, 1, 3], [0, 0, 0], [0, 0, 0]]),
        (RIGHT, [[0, 2, 1], [0, 0, 0], [0, 2, 3]]),
        (DOWN, [[0, 0, 0], [0, 0, 0], [3, 1, 3]]),
        (LEFT, [[2, 1, 0], [0, 0, 0], [2, 3, 0]]),
    ],
)
def test_r5_a_smaller_board(game: Any, action: int, made: list[list[int]]) -> None:
    before = [[2, 1, 0], [0, 0, 0], [2, 0, 3]]
    empty = [(row, column) for row in range(3) for column in range(3) if not made[row][column]]
    seen = moved(game, framed(before), action, draw_for(len(empty) - 1, len(empty)))
    row, column = empty[-1]
    made = [line[:] for line in made]
    made[row][column] = 1
    assert seen.state["board"] == framed(made)


@pytest.mark.parametrize(("place", "cell"), [(0, (0, 1)), (2, (0, 3)), (3, (1, 0)), (12, (3, 1)), (14, (3, 3))])
@pytest.mark.parametrize("four", [True, False])
def test_r8_a_new_tile(game: Any, place: int, cell: tuple[int, int], four: bool) -> None:
    """Cells are counted after the move, without the one in the corner."""
    board = moved(game, with_row([0, 3, 0, 0]), LEFT, draw_for(place, 15), four).state["board"]
    there = {(y, x): board[y][x] for y in range(4) for x in range(4) if board[y][x]}
    assert there == {(0, 0): 3, cell: 2 if four else 1}


def test_r8_nothing_comes_where_nothing_moves(game: Any) -> None:
    seen = moved(game, with_row([1, 2, 3, 0]), LEFT)
    assert (seen.state["board"], seen.reward, seen.terminated) == (with_row([1, 2, 3, 0]), 0.0, False)


@pytest.mark.parametrize(("chance", "power"), [(0.0, 1), (1.0, 2)])
def test_r3_param_sets_the_probability(game: Any, chance: float, power: int) -> None:
    state = {"board": with_row([0, 3, 0, 0]), "score": 0}
    for seed in range(20):
        board = game.step(state, LEFT, t=9, seed=seed, params={"four_chance": chance}).state["board"]
        assert sorted(cell for row in board for cell in row if cell) == [power, 3]


@pytest.mark.parametrize(("four", "end"), [(False, True), (True, False)])
def test_r10_the_last_cell(game: Any, four: bool, end: bool) -> None:
    """The last tile slides away; the new one comes where it was, and fits or does not."""
    before = [*FULL[:3], [2, 1, 0, 2]]
    seen = moved(game, before, LEFT, four=four)
    assert seen.state["board"][3] == [2, 1, 2, 2 if four else 1]
    assert seen.terminated is end


@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 3), (3, 0), (2, 3), (3, 3)])
def test_r10_one_pair_is_enough(game: Any, row: int, column: int) -> None:
    """Any cell of a board without pairs, made equal to its neighbours: from the step before, that ends nothing."""
    board = [line[:] for line in STUCK]
    board[row][column] = 3 - board[row][column]
    ways = [moved(game, board, action, t=90).state["board"] != board for action in (UP, RIGHT, DOWN, LEFT)]
    assert any(ways)
    still = next((action for action in (UP, RIGHT, DOWN, LEFT) if not ways[action]), None)
    if still is not None:
        assert moved(game, board, still, t=90).terminated is False


@pytest.mark.parametrize("four", [True, False])
def test_r10_the_board_outside_is_no_way_out(game: Any, four: bool) -> None:
    seen = moved(game, framed([[2, 1], [0, 1]]), LEFT, four=four)
    assert seen.state["board"] == framed([[2, 1], [1, 2 if four else 1]])
    assert seen.terminated is four


def test_r11_the_rules_leave_time_to_the_engine(game: Any) -> None:
    constants = load_package("game_2048").module("__init__")
    assert moved(game, with_row([0, 1, 0, 1]), LEFT, t=constants.MAX_EPISODE_STEPS - 1).terminated is False
    assert game.schema.max_episode_steps == constants.MAX_EPISODE_STEPS
    assert 4 * (constants.MAX_EPISODE_STEPS + constants.STARTS) < 2 ** (constants.MAX_POWER + 1)


def test_r12_r14_what_is_seen(game: Any) -> None:
    board = framed([[0, 15, 1], [0] * 3, [0, 0, 5]])
    seen = game.look({"board": board, "score": 0}, t=0)
    ones = {(y, x, p) for y in range(4) for x in range(4) for p in range(16) if seen.observation[y][x][p]}
    assert ones == {(y, x, board[y][x]) for y in range(3) for x in range(3)}
    assert seen.info == {"highest": 15}


@pytest.mark.parametrize(
    ("board", "able"),
    [
        (with_row([1, 2, 0, 0]), [False, True, True, False]),
        (with_row([1, 2, 3, 4], 1), [True, False, True, False]),
        (with_row([1, 1, 3, 4], 3), [True, True, False, True]),
        (FULL, [False, True, True, False]),
        (STUCK, [False] * 4),
        (framed([[0, 1], [0, 1]]), [True, False, True, True]),
        (framed([[1, 2], [2, 1]]), [False] * 4),
        (framed([[1, 2], [2, 0]]), [False, True, True, False]),
    ],
)
def test_r13_the_mask(game: Any, board: list[list[int]], able: list[bool]) -> None:
    package, state = load_package("game_2048"), {"board": board, "score": 0}
    assert list(package.reference().action_mask(load_state(game.schema, state), None)) == able
    assert package.fast().action_mask(load_states(game.schema, [state]), None).tolist() == [able]


@pytest.mark.parametrize(
    ("board", "score", "t", "broken"),
    [
        (with_row([1, 1, 0, 0]), 0, 0, set()),
        (with_row([2, 2, 0, 0]), 0, 0, set()),
        (with_row([2, 2, 1, 0]), 0, 0, {"tiles_in_bounds", "score_accounted"}),
        (with_row([2, 0, 0, 0]), 0, 5, {"tiles_in_bounds"}),
        (with_row([2, 1, 0, 0]), 4, 1, set()),
        (with_row([2, 1, 0, 0]), 8, 1, {"score_accounted"}),
        (with_row([2, 1, 0, 0]), 2, 1, {"score_accounted"}),
        (with_row([3, 1, 0, 0]), 16, 3, set()),
        (with_row([3, 1, 0, 0]), 16, 2, {"score_accounted"}),
        (framed([[1, 1], [0, 0]]), 0, 0, set()),
        (with_row([1, 1, 0, -1]), 0, 0, {"frame_whole"}),
        (with_row([1, 1, 0, -1], 1), 0, 0, {"frame_whole"}),
    ],
)
def test_r15_to_r17_invariants(game: Any, board: list[list[int]], score: int, t: int, broken: set[str]) -> None:
    package = load_package("game_2048")
    reference, batched = package.reference(), package.fast()
    plain = {"board": board, "score": score}
    one, many = load_state(game.schema, plain), load_states(game.schema, [plain])
    rows = SimpleNamespace(t=torch.tensor([t], dtype=torch.int32))
    for name in ("frame_whole", "tiles_in_bounds", "score_accounted"):
        holds = name not in broken
        assert getattr(reference, name)(one, SimpleNamespace(t=t)) is holds
        assert getattr(batched, name)(many, rows).tolist() == [holds]
