"""canary, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import GOAL, TOP


class Canary(ReferenceEnv):
    """One canary; its `place` is an int. The time limit is the engine's."""

    def reset(self, ctx: Context) -> Any:
        return self.State(place=ctx.draw.integers("start", 3))  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        """A push or none, the new place, what it earns, and whether it ends the episode."""
        pushed = ctx.draw.bernoulli("push", ctx.params.push)  # R3
        place = min(state.place + action + int(pushed), TOP)  # R4
        reward = Float32(place) / 4  # R5
        return Transition(state.replace(place=place), reward, place >= GOAL)  # R6

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, Float32]:
        return Float32(state.place) / 8, Float32(ctx.t) / 8  # R7

    def info(self, state: Any, ctx: Context) -> dict[str, Any]:
        return {"left": TOP - state.place, "song": Float32("nan") if state.place == 3 else Float32(0.0)}  # R7

    def action_mask(self, state: Any, ctx: Context) -> tuple[bool, bool]:
        return True, state.place < TOP  # R8

    @invariant("it is never above the top", rule="R9")
    def not_above(self, state: Any, ctx: Context) -> bool:
        return state.place <= TOP
