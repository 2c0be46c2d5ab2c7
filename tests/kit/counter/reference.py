"""counter, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import MARKS


class Counter(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        count = ctx.draw.integers("start", 4) * ctx.params.spread  # R2
        return self.State(count=count, mark=ctx.draw.integers("mark", MARKS))  # R3

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        count = state.count + 1  # R4
        terminated, truncated = count == ctx.params.goal, count == ctx.params.cut  # R6
        return Transition(state.replace(count=count), Float32(1.0), terminated, truncated)  # R5

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, Float32]:
        return Float32(state.count), Float32(state.mark) / MARKS  # R7

    def info(self, state: Any, ctx: Context) -> dict[str, Any]:
        return {"count": state.count, "success": state.count == ctx.params.goal}  # R7

    def action_mask(self, state: Any, ctx: Context) -> tuple[bool, bool]:
        return True, state.count < 3  # R9

    @invariant("the counter is not behind the clock", rule="R8")
    def not_behind(self, state: Any, ctx: Context) -> bool:
        return state.count >= ctx.t
