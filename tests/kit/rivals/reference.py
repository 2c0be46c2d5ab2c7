"""rivals, one pair at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import LENGTH


class Rivals(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        first = ctx.draw.integers("first", LENGTH)  # R2
        second = (first + 1 + ctx.draw.integers("gap", LENGTH - 1)) % LENGTH
        return self.State(places=(first, second), prize=ctx.draw.integers("prize", LENGTH))  # R3

    def step(self, state: Any, action: tuple[int, int], ctx: Context) -> Transition:
        old = state.places
        wanted = tuple(min(max(old[k] + action[k] - 1, 0), LENGTH - 1) for k in range(2))  # R4
        blocked = wanted[0] == wanted[1] or (wanted[0] == old[1] and wanted[1] == old[0])
        places = old if blocked else wanted  # R5
        fresh = ctx.draw.integers("next", LENGTH)
        reward = Float32(0.0)
        if places[0] == state.prize:  # R6, R7
            reward = Float32(1.0)
        elif places[1] == state.prize:
            reward = Float32(-1.0)
        prize = fresh if state.prize in places else state.prize
        return Transition(self.State(places=places, prize=prize), reward, False)  # R8

    def observe(self, state: Any, ctx: Context) -> tuple[int, ...]:
        return (*state.places, state.prize)  # R9

    @invariant("the walkers stand apart", rule="R10")
    def apart(self, state: Any, ctx: Context) -> bool:
        return state.places[0] != state.places[1]
