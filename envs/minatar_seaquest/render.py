"""Drawings of one minatar_seaquest state, as text and as an image in MinAtar's colours. No rules in here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import LANES, MAX_OXYGEN, SIZE

CELL = 32  # pixels along one cell
GAP = 1  # dark pixels around a cell's colour
EMPTY = (0, 0, 0)
FRONT, BACK, SHOT, TRAIL, BOMB, FISH, SUB, OXYGEN, ABOARD, DIVER = range(SIZE)
# seaborn's palette "cubehelix" with a colour for each channel, as MinAtar shows them.
COLOURS = [
    (25, 18, 43), (23, 52, 76), (24, 91, 72), (60, 118, 50), (126, 122, 54),
    (188, 121, 103), (212, 134, 175), (202, 169, 231), (194, 210, 243), (214, 240, 239),
]  # fmt: skip
MARKS = "Pp-'*fs=dD"


def text(state: Any) -> str:
    """The screen: `P` the player and `p` behind it, `-` its bullets, `f` fish, `s` subs, `*` their bullets, `D` divers,
    `'` where all these come from; below `=` oxygen and `d` divers on board; and a caption."""
    lines = [" ".join("." if channel is None else MARKS[channel] for channel in row) for row in _cells(state)]
    return "\n".join([*lines, f"oxygen {state.oxygen}, {state.diver_count} divers on board, level {state.ramp_index}"])


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[320, 320, 3]`."""
    canvas = np.zeros((SIZE * CELL, SIZE * CELL, 3), np.uint8)
    for y, row in enumerate(_cells(state)):
        for x, channel in enumerate(row):
            top, left = y * CELL + GAP, x * CELL + GAP
            colour = EMPTY if channel is None else COLOURS[channel]
            canvas[top : top + CELL - 2 * GAP, left : left + CELL - 2 * GAP] = colour
    return canvas


def _cells(state: Any) -> list[list[int | None]]:
    """The channel of each cell: of those that share one, the last shows, as in MinAtar."""
    cells: list[list[int | None]] = [[None] * SIZE for _ in range(SIZE)]
    for x, y, channel in _things(state):
        shown = cells[y][x] if 0 <= x < SIZE else channel
        if shown is None or shown < channel:
            cells[y][x] = channel
    return cells


def _things(state: Any) -> Iterator[tuple[int, int, int]]:
    """(x, y, channel) of all there is, trails beyond the screen too."""
    yield state.player_x, state.player_y, FRONT
    yield _behind(state.player_x, state.faces_right), state.player_y, BACK
    for y in range(LANES + 1):
        yield from ((x, y, SHOT) for x in _columns(state.shots_left[y] | state.shots_right[y]))
    for k in range(LANES):
        yield from ((x, k + 1, BOMB) for x in _columns(state.bombs_left[k] | state.bombs_right[k]))
        for enemies, bits, channel in ((state.fish, 1, FISH), (state.subs, 4, SUB)):
            for x in range(SIZE):
                if any(some[k] >> bits * x & 2**bits - 1 for some in enemies):
                    yield x, k + 1, channel
                    yield _behind(x, state.to_right[k]), k + 1, TRAIL
    for x, y, right in zip(state.diver_x, state.diver_y, state.diver_right, strict=True):
        if y:
            yield x, y, DIVER
            yield _behind(x, right), y, TRAIL
    yield from ((x, SIZE - 1, OXYGEN) for x in range(max(0, state.oxygen) * 10 // MAX_OXYGEN))
    yield from ((x, SIZE - 1, ABOARD) for x in range(SIZE - 1 - state.diver_count, SIZE - 1))


def _behind(x: int, to_right: bool) -> int:
    return x - 1 if to_right else x + 1


def _columns(bits: int) -> Iterator[int]:
    return (x for x in range(SIZE) if bits >> x & 1)
