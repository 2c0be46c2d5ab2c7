"""shown, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import BRIGHT, CUES, STEPS


class Shown(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        return self.State(cue=ctx.draw.integers("cue", CUES), lit=ctx.draw.integers("lit", 2), age=0)  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        age = state.age + 1  # R3
        wanted = state.cue if state.lit == 1 else CUES - 1 - state.cue
        reward = Float32(1.0) if action == wanted else Float32(0.0)  # R4
        return Transition(state.replace(age=age), reward, age == STEPS)  # R5

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        row = (state.lit * BRIGHT, 0)
        return {"cue": state.cue, "picture": (row, row)}  # R6

    @invariant("the age is the clock", rule="R7")
    def on_time(self, state: Any, ctx: Context) -> bool:
        return state.age == ctx.t
