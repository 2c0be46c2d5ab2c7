"""cliffwalking, one walker at a time: Gymnasium's own CliffWalkingEnv, a state put into it and read out again.

The transitions with their probabilities, what they pay and where they end are Gymnasium's. Our draws are handed to it
as the generator that it asks.
"""

from __future__ import annotations

import functools
from typing import Any

from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import COLUMNS, FALL_REWARD, ROWS


class Generator:
    """The one method of NumPy's generator that the env asks for."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


@functools.cache
def cliff(slippery: bool) -> Any:
    """Gymnasium's env; state and generator are put into it before each of its steps."""
    return CliffWalkingEnv(is_slippery=slippery)


class CliffWalking(ReferenceEnv):
    """A walker beside a cliff; state of Python ints.

    The engine carries out R1 (illegal actions) and R10 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        gym = cliff(bool(ctx.params.slippery))
        gym.np_random = Generator(0.0)  # R2: there is one start, whatever is drawn
        return self._place(gym.reset()[0])

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        gym = cliff(bool(ctx.params.slippery))
        gym.s = self.observe(state, ctx)
        gym.np_random = Generator(ctx.draw.uniform("slip"))  # R3
        after, reward, terminated, _, _ = gym.step(action)  # R4, R5, R6, R7, R8, R9
        return Transition(self._place(after), Float32(reward), bool(terminated))

    def _place(self, cell: int) -> Any:
        row, column = divmod(cell, COLUMNS)
        return self.State(row=row, column=column)

    def observe(self, state: Any, ctx: Context) -> int:
        return state.row * COLUMNS + state.column  # R11

    @invariant("nobody stands in the cliff", rule="R12")
    def never_in_the_cliff(self, state: Any, ctx: Context) -> bool:
        return not (state.row == ROWS - 1 and 0 < state.column < COLUMNS - 1)

    @invariant("an episode begins at the start", rule="R13")
    def begins_at_the_start(self, state: Any, ctx: Context) -> bool:
        return ctx.t > 0 or (state.row == ROWS - 1 and state.column == 0)

    @sometimes("the walker falls", rule="R7")
    def falls(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return float(outcome.reward) == FALL_REWARD

    @sometimes("the edge keeps the walker where it is", rule="R6")
    def held_by_the_edge(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state == state and float(outcome.reward) != FALL_REWARD
