"""What the rules of minigrid_keycorridor do not notice, and its view worked out another way."""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import look
from torch import Tensor

from simulacrum.twin.relations import Derived, Symmetry

PICK_UP, DROP, TOGGLE, DONE = 3, 4, 5, 6
WALL, DOOR, KEY, BALL = 2, 4, 5, 6


def instead(action: int) -> Any:
    """The change of actions that makes `action` one that does nothing."""
    return lambda given: torch.where(given == action, DONE, given)


def looks_aside(state: Any) -> Tensor:
    """bool `[N]`: at a wall of the other rows."""
    return state.direction % 2 == 1


def nothing_held(state: Any) -> Tensor:
    return (state.key_x >= 0) & (state.ball_x >= 0)


def upside_down(state: Any) -> Any:
    """Up is down."""
    return state.replace(direction=torch.where(looks_aside(state), 4 - state.direction, state.direction))


def other_hand(action: Tensor) -> Tensor:
    """Left turns for right ones."""
    return torch.where(action < 2, 1 - action, action)


def mirrored_view(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    """The columns of the view from right to left, the direction as in `upside_down`."""
    direction = seen["direction"]
    return {"image": seen["image"].flip(1), "direction": torch.where(direction % 2 == 1, 4 - direction, direction)}


def repainted(state: Any) -> Any:
    """Every thing in the next colour."""
    return state.replace(
        left_colour=(state.left_colour + 1) % 6, right_colour=(state.right_colour + 1) % 6,
        ball_colour=(state.ball_colour + 1) % 6,
    )  # fmt: skip


def repainted_view(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    """Doors, the key and the ball in the next colour; walls as they are."""
    kind, colour, state = seen["image"].unbind(dim=-1)
    painted = torch.where((kind == DOOR) | (kind == KEY) | (kind == BALL), (colour + 1) % 6, colour)
    return {"image": torch.stack([kind, painted, state], dim=-1), "direction": seen["direction"]}


def drawn_cell_by_cell(state: Any, ctx: Any) -> Tensor:
    """R15 to R20: the grid drawn whole, what lies around the agent cut out, turned, and looked at cell by cell."""
    x, y = look.frame(state, 7, 3)
    cells = look.walled((x > 0) & (x < 6) & (y == 1), state)
    cells = look.put(cells, (x == 2) & (y == 1), DOOR, state.left_colour, state.left_door)
    cells = look.put(cells, (x == 4) & (y == 1), DOOR, state.right_colour, state.right_door)
    key_x, ball_x = look.each(state.key_x, state.ball_x)
    cells = look.put(cells, (x == key_x) & (y == 1) & (key_x > 0), KEY, state.right_colour, 0)
    cells = look.put(cells, (x == ball_x) & (y == 1) & (ball_x > 0), BALL, state.ball_colour, 0)
    held = torch.where(state.key_x < 0, KEY, torch.where(state.ball_x < 0, BALL, 1))
    colour = torch.where(state.key_x < 0, state.right_colour, torch.where(state.ball_x < 0, state.ball_colour, 0))
    placed = type("Agent", (), {"x": state.x, "y": torch.ones_like(state.x), "direction": state.direction})
    return look.view(cells, placed, held, colour, 0)


RELATIONS = [
    Symmetry(
        "upside down", state=upside_down, action=other_hand, observation=mirrored_view, reset=False,
        why="there is nothing but wall above and below the row",
    ),
    Symmetry(
        "other colours", state=repainted, observation=repainted_view, reset=False,
        why="R7 to R10: no colour is special, and the key always fits",
    ),
    Symmetry("nothing to put down", action=instead(DROP), when=nothing_held, reset=False, why="R9"),
    Symmetry("nothing to toggle", action=instead(TOGGLE), when=looks_aside, reset=False, why="R10"),
    Derived("observation.image", drawn_cell_by_cell, why="R15 to R20"),
]  # fmt: skip
