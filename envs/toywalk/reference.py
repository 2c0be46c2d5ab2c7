"""toywalk, one walker at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import GOAL, GOAL_REWARD, LEFT_END, MAX_EPISODE_STEPS, START_HIGH, START_LOW, STEP_REWARD

LEFT, RIGHT = 0, 1


class ToyWalk(ReferenceEnv):
    """A walker on a line; state of Python scalars.

    The engine carries out R1 (illegal actions) and R8 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        position = ctx.draw.integers("start", START_HIGH + 1, low=START_LOW)  # R2
        return self.State(position=position)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        slips = ctx.draw.bernoulli("slip", ctx.params.slip)  # R3
        move = self._move(action, slips)  # R4
        position = self._walk(state.position, move)  # R5
        reward = Float32(GOAL_REWARD) if position == GOAL else Float32(STEP_REWARD)  # R6
        terminated = position == GOAL  # R7
        return Transition(self.State(position=position), reward, terminated)

    def _move(self, action: int, slips: bool) -> int:
        move = -1 if action == LEFT else 1
        return -move if slips else move

    def _walk(self, position: int, move: int) -> int:
        position = position + move
        if position < LEFT_END:
            return LEFT_END
        if position > GOAL:
            return GOAL
        return position

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, Float32]:
        elapsed = min(ctx.t, MAX_EPISODE_STEPS)
        return Float32(state.position) / GOAL, Float32(elapsed) / MAX_EPISODE_STEPS  # R9

    def info(self, state: Any, ctx: Context) -> dict[str, int]:
        return {"distance": GOAL - state.position}  # R10

    @invariant("the walker is on the line", rule="R11")
    def on_the_line(self, state: Any, ctx: Context) -> bool:
        return LEFT_END <= state.position <= GOAL

    @invariant("the walker has moved at most one cell a step", rule="R12")
    def within_reach(self, state: Any, ctx: Context) -> bool:
        return START_LOW - ctx.t <= state.position <= START_HIGH + ctx.t

    @sometimes("a slip carries a walker that moves left to the goal", rule="R6")
    def slipped_to_the_goal(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated and action == LEFT

    @sometimes("a walker at the left end stays there", rule="R5")
    def held_at_the_end(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.position == outcome.state.position == LEFT_END
