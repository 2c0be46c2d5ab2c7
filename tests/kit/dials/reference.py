"""dials, one pair at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import FIRST, SECOND


class Dials(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        first = ctx.draw.integers("first", FIRST)  # R2
        return self.State(dials=(first, ctx.draw.integers("second", SECOND)))

    def step(self, state: Any, action: tuple[int, int], ctx: Context) -> Transition:
        first = (state.dials[0] + action[0]) % FIRST  # R3
        second = (state.dials[1] + action[1]) % SECOND
        reward = Float32(first + second)  # R4
        return Transition(self.State(dials=(first, second)), reward, first == 0 and second == 0)  # R5

    def observe(self, state: Any, ctx: Context) -> tuple[int, int]:
        return state.dials  # R6

    def info(self, state: Any, ctx: Context) -> dict[str, Any]:
        return {"dials": state.dials}  # R6

    def action_mask(self, state: Any, ctx: Context) -> tuple[bool, ...]:
        return (True,) * 5  # R1

    @invariant("the first dial stands at one of its places", rule="R7")
    def on_the_first_dial(self, state: Any, ctx: Context) -> bool:
        return state.dials[0] < FIRST
