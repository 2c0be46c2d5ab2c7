"""Scripted policies of minatar_spaceinvaders, and how many aliens they shoot."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

from . import FIRE, LAST_ROW, LEFT, MOVE_WAIT, RIGHT, SIZE

STAY = 0
NEAR = 4  # rows above the cannon in which a bullet is near


def wait(observation: Any, state: Any, t: int) -> int:
    """Leave the aliens alone, at the left edge: they come down, or shoot first."""
    return LEFT


def fire(observation: Any, state: Any, t: int) -> int:
    """Stand still and shoot."""
    return FIRE


def gunner(observation: Any, state: Any, t: int) -> int:
    """Where no bullet is near, fire if that will hit; else to where the next bullet is farthest, and under aliens."""
    if state.fire_timer == 0 and not nearness(state, state.pos) and will_hit(state):
        return FIRE
    columns = [x for x in range(SIZE) if any(row >> x & 1 for row in state.aliens)]
    moves = {STAY: state.pos, LEFT: max(state.pos - 1, 0), RIGHT: min(state.pos + 1, SIZE - 1)}

    def badness(action: int) -> tuple[int, int, int]:
        column = moves[action]
        return nearness(state, column), min(abs(x - column) for x in columns), action

    return min(moves, key=badness)


def will_hit(state: Any) -> bool:
    """Whether a bullet that is shot now meets an alien, as the aliens march and if no other bullet comes first."""
    aliens, to_right, timer = list(state.aliens), state.to_right, state.move_timer
    for row in reversed(range(LAST_ROW)):
        if timer == 0:
            timer = min(sum(bits.bit_count() for bits in aliens), MOVE_WAIT - state.ramp_index)
            if any(bits >> (SIZE - 1 if to_right else 0) & 1 for bits in aliens):
                aliens, to_right = [aliens[-1], *aliens[:-1]], not to_right
            else:
                aliens = [bits << 1 if to_right else bits >> 1 for bits in aliens]
        timer -= 1
        if aliens[row] >> state.pos & 1:
            return True
    return False


def nearness(state: Any, column: int) -> int:
    """How near a bullet above a column is: 0 for none within `NEAR` rows, more the lower it is."""
    rows = [row for row in range(LAST_ROW - NEAR, LAST_ROW) if state.bombs[row] >> column & 1]
    return max(rows, default=LAST_ROW - NEAR - 1) - (LAST_ROW - NEAR - 1)


PROBES = [
    Probe(name="wait", act=wait, low=0.0, high=0.0, episodes=8, why="who never shoots hits nothing"),
    Probe(
        name="fire",
        act=fire,
        low=2.92,
        high=3.05,
        episodes=60,
        why="measured 2.990 over 400 episodes of MinAtar's own program (standard deviation 0.099), "
        "plus and minus 5 standard errors of 60 episodes",
    ),
    Probe(
        name="gunner",
        act=gunner,
        low=16.97,
        high=89.31,
        episodes=20,
        why="measured 53.140 over 150 episodes of MinAtar's own program (standard deviation 32.354), "
        "plus and minus 5 standard errors of 20 episodes",
    ),
]
