"""counter, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition


class Counter(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        count = ctx.draw.integers("start", 4) * ctx.params.spread  # R2
        return self.State(count=count, mark=ctx.draw.integers("mark", 65536))  # R3

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        count = state.count + 1  # R4
        return Transition(state.replace(count=count), Float32(1.0), count == ctx.params.goal)  # R5, R6

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, Float32]:
        return Float32(state.count), Float32(state.mark) / 65536  # R7

    def info(self, state: Any, ctx: Context) -> dict[str, int]:
        return {"count": state.count}  # R7

    def action_mask(self, state: Any, ctx: Context) -> tuple[bool, bool]:
        return True, state.count < 3  # R9

    @invariant("the counter is not behind the clock", rule="R8")
    def not_behind(self, state: Any, ctx: Context) -> bool:
        return state.count >= ctx.t
