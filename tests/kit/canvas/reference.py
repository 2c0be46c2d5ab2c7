"""canvas, one picture at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import SIDE


class Canvas(ReferenceEnv):
    def reset(self, ctx: Context) -> Any:
        grey = ctx.draw.integers("grey", 256)  # R2
        return self.State(pixels=(((grey,) * 3,) * SIDE,) * SIDE)

    def step(self, state: Any, action: dict[str, Any], ctx: Context) -> Transition:
        cell, ink = action["cell"], action["ink"]
        rows = [list(row) for row in state.pixels]
        if cell >= 0:
            rows[cell // SIDE][cell % SIDE] = ink  # R3
        pixels = tuple(tuple(row) for row in rows)
        return Transition(self.State(pixels=pixels), Float32(ink[0]), False, cell == -1)  # R4, R5

    def observe(self, state: Any, ctx: Context) -> Any:
        return state.pixels  # R6

    @invariant("the first pixel is not negative", rule="R7")
    def not_negative(self, state: Any, ctx: Context) -> bool:
        return state.pixels[0][0][0] >= 0
