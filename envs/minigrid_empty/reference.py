"""minigrid_empty, one agent at a time: minigrid's own EmptyEnv, a state put into it and read out again.

R2 to R4 are carried out by minigrid's `reset`, R5 to R9 by its `step`, R11 to R14 by its `gen_obs`. It is handed our
draws, as the generator that it asks for them, and the number of steps taken, which it counts itself.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

from minigrid.envs.empty import EmptyEnv
from simulacrum_envs._minigrid.drive import KEPT_VIEWS, Answers, Driven

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import STEPS_PER_CELL

FORWARD = 2


class Room(Driven, EmptyEnv):
    """minigrid's empty room."""


def _room(size: int) -> Any:
    room: Any = Room(size=size, max_steps=STEPS_PER_CELL * size**2)
    room.reset()
    room.np_random = None  # only ours may draw
    return room


class Empty(ReferenceEnv):
    """An agent in an empty room; state of Python integers.

    The engine carries out R1 (illegal actions) and R10 (the last time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        size = schema.params["size"].field
        self._rooms = [_room(number) for number in range(size.low, size.high + 1)]  # each as it was made
        self._view = lru_cache(KEPT_VIEWS)(self._look)

    def reset(self, ctx: Context) -> Any:
        room = self._room(ctx.params.size)  # R2
        room.agent_start_pos = None if ctx.params.random_start == 1 else (1, 1)  # R3, R4
        room.np_random = Answers(ctx.draw, [("place", None), ("direction", None)])
        room.reset()
        return self._taken(room)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        room = self._put(state, ctx.t)
        _, reward, terminated, truncated, _ = room.step(action)  # R5, R6, R7, R8, R9
        return Transition(self._taken(room), float(reward), terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        return dict(self._view(state))

    def _look(self, state: Any) -> dict[str, Any]:
        return self._put(state, 0).look()  # R11, R12, R13, R14

    def _room(self, size: int) -> Any:
        """A copy for one call. The grid is shared, since nothing in it ever changes."""
        return copy.copy(self._rooms[size - self._rooms[0].width])

    def _put(self, state: Any, t: int) -> Any:
        room = self._room(state.size)
        room.agent_pos, room.agent_dir, room.step_count = (state.x, state.y), state.direction, t
        return room

    def _taken(self, room: Any) -> Any:
        x, y = room.agent_pos
        return self.State(size=room.width, x=int(x), y=int(y), direction=int(room.agent_dir))

    @invariant("the agent is in the room", rule="R15")
    def in_the_room(self, state: Any, ctx: Context) -> bool:
        return max(state.x, state.y) <= state.size - 2

    @invariant("no episode is longer than the room's time", rule="R16")
    def in_time(self, state: Any, ctx: Context) -> bool:
        return ctx.t <= STEPS_PER_CELL * state.size**2

    @sometimes("the agent walks against a wall", rule="R6")
    def against_a_wall(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return action == FORWARD and outcome.state == state

    @sometimes("the goal is reached", rule="R8")
    def at_the_goal(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated
