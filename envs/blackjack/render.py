"""Drawings of one table, as text and as an image. No rules in here.

A state knows what hands are worth, not which cards they are; so the dealer's card that shows is drawn as a card, and
hands as what they are worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import TARGET, TEN

HEIGHT, WIDTH = 320, 360
FELT, FELT_DARK, RAIL, RAIL_DARK = (42, 122, 84), (36, 106, 74), (122, 78, 48), (94, 58, 36)
CARD, EDGE, RED, INK = (250, 248, 240), (208, 204, 194), (200, 48, 52), (40, 40, 48)
BACK, BACK_LIGHT = (52, 84, 156), (96, 130, 200)
GOLD, CREAM, BUST = (240, 200, 92), (238, 240, 224), (222, 92, 80)
GLYPHS = {
    "0": ("###", "# #", "# #", "# #", "###"), "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"), "3": ("###", "  #", " ##", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"), "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"), "7": ("###", "  #", " # ", " # ", " # "),
    "8": ("###", "# #", "###", "# #", "###"), "9": ("###", "# #", "###", "  #", "###"),
    "A": (" # ", "# #", "###", "# #", "# #"),
}  # fmt: skip

Canvas = NDArray[np.float32]


def text(state: Any) -> str:
    """The player's hand, the dealer's card, and what the dealer's hand has come to once it was played."""
    lines = [f"dealer  {_name(state.dealer_card)} and {_others(state)}", f"player  {_told(state)}"]
    return "\n".join(lines)


def _name(card: int) -> str:
    return "A" if card == 1 else str(card)


def _others(state: Any) -> str:
    if state.dealer_cards == 2:
        return "a card face down"
    return f"{state.dealer_cards - 1} others: {_worth(state.dealer_sum, state.dealer_ace)}"


def _told(state: Any) -> str:
    usable = state.player_ace and state.player_sum + TEN <= TARGET
    bust = ", bust" if state.player_sum > TARGET else ""
    soft = " with an ace as 11" if usable else ""
    return f"{_worth(state.player_sum, state.player_ace)}{soft} in {state.player_cards} cards{bust}"


def _worth(total: int, ace: bool) -> int:
    return total + TEN if ace and total + TEN <= TARGET else total


def rgb(state: Any) -> NDArray[np.uint8]:
    """An image uint8 `[320, 360, 3]`."""
    canvas = np.empty((HEIGHT, WIDTH, 3), np.float32)
    canvas[:] = RAIL_DARK
    _rounded(canvas, 6, 6, HEIGHT - 12, WIDTH - 12, 22, RAIL)
    _rounded(canvas, 16, 16, HEIGHT - 32, WIDTH - 32, 16, FELT)
    _rounded(canvas, 150, 40, 4, WIDTH - 80, 2, FELT_DARK)
    _face(canvas, 32, 84, _name(state.dealer_card))
    for k in range(state.dealer_cards - 1):
        _back(canvas, 32, 164 + min(16, 96 // state.dealer_cards) * k)
    if state.dealer_cards > 2:
        _badge(canvas, 122, 300, _worth(state.dealer_sum, state.dealer_ace), state.dealer_sum > TARGET, 3)
    for k in range(state.player_cards):
        _back(canvas, 176, 60 + min(26, 130 // state.player_cards) * k)
    _badge(canvas, 230, 272, _worth(state.player_sum, state.player_ace), state.player_sum > TARGET, 6)
    if state.player_ace and state.player_sum + TEN <= TARGET:
        _disc(canvas, 188, 316, 14, CREAM)
        _write(canvas, 181, 312, "A", 3, RED)
    return np.round(canvas).astype(np.uint8)


def _face(canvas: Canvas, top: int, left: int, name: str) -> None:
    _rounded(canvas, top, left, 100, 70, 8, EDGE)
    _rounded(canvas, top + 2, left + 2, 96, 66, 7, CARD)
    size = 8
    width = (4 * len(name) - 1) * size
    _write(canvas, top + 30, left + 35 - width // 2, name, size, RED if name in ("A", "3", "7", "10") else INK)


def _back(canvas: Canvas, top: int, left: int) -> None:
    _rounded(canvas, top, left, 100, 70, 8, EDGE)
    _rounded(canvas, top + 2, left + 2, 96, 66, 7, CARD)
    _rounded(canvas, top + 7, left + 7, 86, 56, 4, BACK)
    for y in range(top + 16, top + 90, 14):
        for x in range(left + 15, left + 60, 13):
            _disc(canvas, y, x, 3, BACK_LIGHT)


def _badge(canvas: Canvas, row: int, column: int, number: int, bust: bool, size: int) -> None:
    """A number on a chip, red where the hand is bust."""
    radius = 7.5 * size
    _disc(canvas, row, column, radius, CREAM)
    _disc(canvas, row, column, radius - 4, BUST if bust else GOLD)
    name = str(number)
    _write(canvas, row - 5 * size // 2, column - (4 * len(name) - 1) * size // 2, name, size, INK)


def _write(canvas: Canvas, top: int, left: int, name: str, size: int, colour: tuple[int, int, int]) -> None:
    for place, letter in enumerate(name):
        for row, dots in enumerate(GLYPHS[letter]):
            for column, dot in enumerate(dots):
                if dot == "#":
                    y, x = top + row * size, left + (4 * place + column) * size
                    canvas[y : y + size, x : x + size] = colour


def _rounded(
    canvas: Canvas, top: int, left: int, height: int, width: int, radius: int, colour: tuple[int, int, int]
) -> None:
    """Paint a rectangle with round corners, smooth at its edge."""
    window = canvas[top : top + height, left : left + width]
    rows, columns = np.arange(window.shape[0])[:, None] + 0.5, np.arange(window.shape[1])[None, :] + 0.5
    down = rows - np.clip(rows, radius, height - radius)
    along = columns - np.clip(columns, radius, width - radius)
    cover = np.clip(radius + 0.5 - np.sqrt(down * down + along * along), 0, 1)[:, :, None]
    window += (cover * (np.array(colour) - window)).astype(np.float32)


def _disc(canvas: Canvas, row: float, column: float, radius: float, colour: tuple[int, int, int]) -> None:
    """Paint a disc, smooth at its edge."""
    top, first = max(int(row - radius) - 1, 0), max(int(column - radius) - 1, 0)
    window = canvas[top : int(row + radius) + 2, first : int(column + radius) + 2]
    down = np.arange(top, top + window.shape[0])[:, None] + 0.5 - row
    along = np.arange(first, first + window.shape[1])[None, :] + 0.5 - column
    cover = np.clip(radius + 0.5 - np.sqrt(down * down + along * along), 0, 1)[:, :, None]
    window += (cover * (np.array(colour) - window)).astype(np.float32)
