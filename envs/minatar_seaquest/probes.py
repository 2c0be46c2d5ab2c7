"""Scripted policies of minatar_seaquest, and what they earn."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

from . import DOWN, FIRE, LANES, LEFT, MOST_DIVERS, RIGHT, SIZE, UP

STAY = 0
MOVES = {STAY: (0, 0), LEFT: (-1, 0), UP: (0, -1), RIGHT: (1, 0), DOWN: (0, 1), FIRE: (0, 0)}
NEAR = 2  # columns
RESERVE = 30  # oxygen, beside what the way up takes
MIDDLE = (4, 4)


def stay(observation: Any, state: Any, t: int) -> int:
    """Nothing, at the surface, where nobody comes."""
    return STAY


def dive(observation: Any, state: Any, t: int) -> int:
    """Down, and up at once, with nobody on board."""
    return DOWN if t % 2 == 0 else UP


def rescue(observation: Any, state: Any, t: int) -> int:
    """Up with six divers, or where the oxygen runs low and there is one; else to divers, and keep off all others."""
    short = state.oxygen < state.player_y + RESERVE and state.diver_count != 0
    return towards(state, (state.player_x, 0) if state.diver_count == MOST_DIVERS or short else to_gather(state))


def dip(observation: Any, state: Any, t: int) -> int:
    """As `rescue`, but who came up with six divers dips below the surface and up again: fewer than none are on board,
    so that neither oxygen nor divers run out."""
    if state.diver_count < 0:
        return DOWN if state.player_y == 0 else UP
    return rescue(observation, state, t)


def deep(observation: Any, state: Any, t: int) -> int:
    """As `rescue`, but never up."""
    return towards(state, to_gather(state))


def to_gather(state: Any) -> tuple[int, int]:
    """Column and row of the nearest diver, or the middle where there is none."""
    here = (state.player_x, state.player_y)
    divers = [(state.diver_x[k], state.diver_y[k]) for k in (0, 1) if state.diver_y[k]]
    return min(divers, key=lambda diver: (distance(diver, here), diver), default=MIDDLE)


def towards(state: Any, goal: tuple[int, int]) -> int:
    """The safest action; of several one that fires at something; of several that which comes closest to the goal."""

    def badness(action: int) -> tuple[int, bool, int, int]:
        return danger(state, action), not aims(state, action), distance(place(state, action), goal), action

    return min(MOVES, key=badness)


def distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def place(state: Any, action: int) -> tuple[int, int]:
    """Column and row after a move."""
    right, down = MOVES[action]
    return min(max(state.player_x + right, 0), SIZE - 1), min(max(state.player_y + down, 0), LANES)


def danger(state: Any, action: int) -> int:
    """How bad a place is: 0 where nothing comes near on its lane, worse the nearer it is; worst at the surface for who
    has nobody on board."""
    x, y = place(state, action)
    if y == 0:
        return 0 if state.diver_count or state.player_y == 0 else SIZE
    lane, worst = y - 1, int(x in (0, SIZE - 1))  # something may come there
    for bombs, way in ((state.bombs_left[lane], -1), (state.bombs_right[lane], 1)):
        ahead = [(x - column) * way for column in range(SIZE) if bombs >> column & 1]
        worst = max([worst, *(2 + NEAR - columns for columns in ahead if 0 <= columns <= NEAR)])
    way = 1 if state.to_right[lane] else -1
    ahead = [(x - column) * way for column in range(SIZE) if enemy_at(state, lane, column)]
    return max([worst, *(2 + NEAR - columns for columns in ahead if 0 <= columns <= NEAR - 1)])


def aims(state: Any, action: int) -> bool:
    """Whether it fires at an enemy that a bullet meets, as far as the player faces one."""
    if action != FIRE or state.fire_timer or state.player_y == 0:
        return False
    lane = state.player_y - 1
    columns = range(state.player_x + 1, SIZE) if state.faces_right else range(state.player_x)
    return any(enemy_at(state, lane, x) for x in columns)


def enemy_at(state: Any, lane: int, x: int) -> bool:
    return any(fish[lane] >> x & 1 for fish in state.fish) or any(subs[lane] >> 4 * x & 15 for subs in state.subs)


PROBES = [
    Probe(name="stay", act=stay, low=0.0, high=0.0, episodes=4, why="at the surface nothing happens"),
    Probe(name="dive", act=dive, low=0.0, high=0.0, episodes=20, why="who comes up with nobody is lost"),
    Probe(
        name="deep",
        act=deep,
        low=1.28,
        high=4.45,
        episodes=24,
        why="measured 2.867 over 60 episodes of MinAtar's own program (standard deviation 1.554), "
        "plus and minus 5 standard errors of 24 episodes",
    ),
    Probe(
        name="dip",
        act=dip,
        low=5.28,
        high=13.05,
        episodes=24,
        why="measured 9.167 over 60 episodes of MinAtar's own program (standard deviation 3.804), "
        "plus and minus 5 standard errors of 24 episodes",
    ),
    Probe(
        name="rescue",
        act=rescue,
        low=10.86,
        high=44.54,
        episodes=24,
        why="measured 27.700 over 60 episodes of MinAtar's own program (standard deviation 16.503), "
        "plus and minus 5 standard errors of 24 episodes",
    ),
]
