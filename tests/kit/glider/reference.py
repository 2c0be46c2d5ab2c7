"""glider, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import BURN, EDGE, HALF, WIND


class Glider(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        return self.State(position=ctx.draw.uniform("start", -1.0, 1.0), fuel=Float32(1.0))  # R2

    def step(self, state: Any, action: tuple[Float32, Float32], ctx: Context) -> Transition:
        wind = ctx.draw.uniform("wind", -WIND, WIND)  # R3
        x = state.position[0] + action[0] * HALF + wind  # R4
        y = state.position[1] + action[1] * HALF
        x, y = self._held(x), self._held(y)
        fuel = state.fuel - (abs(action[0]) + abs(action[1])) * BURN  # R5
        if fuel < 0.0:
            fuel = Float32(0.0)
        reward = Float32(0.0) - (abs(x) + abs(y))  # R6
        return Transition(self.State(position=(x, y), fuel=fuel), reward, fuel == 0.0)  # R7

    def _held(self, coordinate: Float32) -> Float32:
        if coordinate > EDGE:
            return Float32(EDGE)
        return Float32(-EDGE) if coordinate < -EDGE else coordinate

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        x, y = state.position
        return {  # R8
            "position": state.position,
            "fuel": (state.fuel,),
            "quadrant": 2 * int(x > 0.0) + int(y > 0.0),
            "low": (int(state.fuel < HALF),),
        }

    @invariant("the glider is on the plane", rule="R9")
    def on_the_plane(self, state: Any, ctx: Context) -> bool:
        return all(abs(coordinate) <= EDGE for coordinate in state.position)
