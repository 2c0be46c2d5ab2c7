"""recall, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import CUES, STEPS


class Recall(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        return self.State(cue=ctx.draw.integers("cue", CUES), age=0)  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        age = state.age + 1  # R3
        over = age == STEPS  # R5
        reward = Float32(1.0) if over and action == state.cue else Float32(0.0)  # R4
        return Transition(state.replace(age=age), reward, over)

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        shown = tuple(Float32(state.age == 0 and state.cue == cue) for cue in range(CUES))
        return *shown, Float32(state.age) / STEPS  # R6

    @invariant("the age is the clock", rule="R7")
    def on_time(self, state: Any, ctx: Context) -> bool:
        return state.age == ctx.t
