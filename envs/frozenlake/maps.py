"""Maps of a lake: Gymnasium's `desc`, a list of strings, to this package's parameters and back.

    from gymnasium.envs.toy_text.frozen_lake import MAPS, generate_random_map
    gym.make_vec("simulacrum/frozenlake-v1", num_envs=64, params=params_of(MAPS["8x8"]))

Cell number s of a map is row * columns + column; bit s of a mask stands for it. The masks are int64, so bit 63, the
last cell of an 8 x 8 map, is the sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

START, FROZEN, HOLE, GOAL = "SFHG"
MOST = 8  # rows and columns
WORD = 64  # bits of a mask


def params_of(desc: Sequence[Any]) -> dict[str, int]:
    """The parameters `rows`, `columns`, `start_row`, `start_column`, `holes` and `goals` of a map.

    desc: as for Gymnasium's FrozenLake: rows of equal length made of S, F, H and G; also what its
        `generate_random_map` returns, and the array of bytes that its envs keep as `desc`.

    Raises:
        ValueError: no or more than 8 rows or columns, rows of different lengths, another letter, not exactly one S.
    """
    lines = [_line(line) for line in desc]
    rows, columns = len(lines), len(lines[0]) if lines else 0
    letters = "".join(lines)
    if not 1 <= rows <= MOST or not 1 <= columns <= MOST or any(len(line) != columns for line in lines):
        raise ValueError(f"a map has 1 to {MOST} rows of 1 to {MOST} letters, all of the same length; found {lines}")
    if set(letters) - {START, FROZEN, HOLE, GOAL} or letters.count(START) != 1:
        raise ValueError(f"a map is made of S, F, H and G, with exactly one S; found {lines}")
    start_row, start_column = divmod(letters.index(START), columns)
    return {
        "rows": rows, "columns": columns, "start_row": start_row, "start_column": start_column,
        "holes": mask_of(s for s, letter in enumerate(letters) if letter == HOLE),
        "goals": mask_of(s for s, letter in enumerate(letters) if letter == GOAL),
    }  # fmt: skip


def desc_of(params: Mapping[str, int]) -> list[str]:
    """The map of these parameters: what `params_of` undoes, and R2 and R3 of the spec for any others."""
    rows, columns = params["rows"], params["columns"]
    start = min(params["start_row"], rows - 1) * columns + min(params["start_column"], columns - 1)
    return lines_of(rows, columns, params["holes"], params["goals"], start)


def lines_of(rows: int, columns: int, holes: int, goals: int, start: int | None = None) -> list[str]:
    """A map as strings. The start is neither hole nor goal, and a goal is no hole; without a start there is no S."""
    letters = [START if s == start else _letter(s, holes, goals) for s in range(rows * columns)]
    return ["".join(letters[row * columns : (row + 1) * columns]) for row in range(rows)]


def _letter(s: int, holes: int, goals: int) -> str:
    if goals >> s & 1:
        return GOAL
    return HOLE if holes >> s & 1 else FROZEN


def mask_of(cells: Iterable[int]) -> int:
    """The int64 with the bits of these cells, 0 to 63, as Python's int: negative where bit 63 is set."""
    mask = sum(1 << s for s in set(cells))
    return mask - (1 << WORD) if mask >> (WORD - 1) else mask


def _line(line: Any) -> str:
    """A row of a map: text, or a sequence of letters, each text or bytes."""
    if isinstance(line, str):
        return line
    if isinstance(line, bytes):
        return line.decode()
    return "".join(letter.decode() if isinstance(letter, bytes) else str(letter) for letter in line)
