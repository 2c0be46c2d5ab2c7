"""aim, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition


class Aim(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        return self.State(target=(ctx.draw.uniform("target", -1.0, 1.0),))  # R2

    def step(self, state: Any, action: Any, ctx: Context) -> Transition:
        miss = action[0] - state.target[0]
        return Transition(state, -(miss * miss), False)  # R3, R4, R5

    def observe(self, state: Any, ctx: Context) -> Any:
        return state.target  # R6

    @invariant("the target is in its bounds", rule="R7")
    def bounded(self, state: Any, ctx: Context) -> bool:
        return -1.0 <= state.target[0] <= 1.0
