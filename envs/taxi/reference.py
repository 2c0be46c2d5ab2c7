"""taxi, one at a time: Gymnasium's own TaxiEnv, a state put into it and read out again.

The town, its transitions with their probabilities, what they pay and where they end are Gymnasium's, and so is the
passenger's change of mind. Our draws are handed to it as the generator that it asks.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gymnasium.envs.toy_text.taxi import TaxiEnv

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import ABOARD, DELIVERY_REWARD, ILLEGAL_REWARD, STARTS

PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))


class Starting:
    """NumPy's generator as the env's reset asks for it: a number for the start, then one for the passenger's mood."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.asked = draw, 0

    def random(self) -> float:
        self.asked += 1
        if self.asked == 1:
            return (self.draw.integers("start", STARTS) + 0.5) / STARTS  # R2: the middle of that start's share
        return self.draw.uniform("fickle")  # R3


class Stepping:
    """NumPy's generator as the env's step asks for it."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def random(self) -> float:
        return self.draw.uniform("slip")  # R5

    def choice(self, options: Sequence[int]) -> int:
        return options[self.draw.integers("whim", len(options))]  # R11


@functools.lru_cache(maxsize=96)
def town(rainy: bool, probability: float) -> Any:
    """Gymnasium's env; state, generator and the passenger's mood are put into it before each of its steps."""
    return TaxiEnv(is_rainy=rainy, rainy_probability=probability)


class Taxi(ReferenceEnv):
    """A taxi and its passenger; state of Python ints and a bool.

    The engine carries out R1 (illegal actions) and R15 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        gym = self._town(ctx)
        gym.np_random = Starting(ctx.draw)
        gym.reset()
        return self._taken(gym)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        gym = self._town(ctx)
        gym.s, gym.fickle_step = self.observe(state, ctx), state.fickle
        gym.np_random = Stepping(ctx.draw)
        _, reward, terminated, _, _ = gym.step(action)  # R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14
        return Transition(self._taken(gym), Float32(reward), bool(terminated))

    def _town(self, ctx: Context) -> Any:
        params = ctx.params
        gym = town(bool(params.rainy), float(params.rainy_probability) if params.rainy else 0.8)
        gym.fickle_passenger = bool(params.fickle_passenger)
        gym.fickle_probability = float(params.fickle_probability)
        return gym

    def _taken(self, gym: Any) -> Any:
        row, column, passenger, destination = (int(number) for number in gym.decode(gym.s))
        return self.State(
            row=row, column=column, passenger=passenger, destination=destination, fickle=bool(gym.fickle_step)
        )  # fmt: skip

    def observe(self, state: Any, ctx: Context) -> int:
        return town(False, 0.8).encode(state.row, state.column, state.passenger, state.destination)  # R16

    def action_mask(self, state: Any, ctx: Context) -> tuple[bool, ...]:
        return tuple(bool(flag) for flag in town(False, 0.8).action_mask(self.observe(state, ctx)))  # R17

    @invariant("nobody waits where they want to go, unless just delivered", rule="R18")
    def wants_to_go_elsewhere(self, state: Any, ctx: Context) -> bool:
        delivered = ctx.t > 0 and (state.row, state.column) == PLACES[state.destination]
        return state.passenger != state.destination or delivered

    @invariant("an episode begins with the passenger outside", rule="R19")
    def begins_outside(self, state: Any, ctx: Context) -> bool:
        return ctx.t > 0 or state.passenger != ABOARD

    @sometimes("the passenger is delivered", rule="R10")
    def delivered(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return float(outcome.reward) == DELIVERY_REWARD

    @sometimes("the passenger is let out at another place", rule="R10")
    def let_out_elsewhere(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.passenger == ABOARD != outcome.state.passenger and not outcome.terminated

    @sometimes("the passenger changes its mind", rule="R11")
    def another_mind(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state.destination != state.destination

    @sometimes("a passenger is asked for where there is none", rule="R9")
    def nobody_here(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return action == 4 and float(outcome.reward) == ILLEGAL_REWARD
