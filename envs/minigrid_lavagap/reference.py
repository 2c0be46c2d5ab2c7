"""minigrid_lavagap, one agent at a time: minigrid's own LavaGapEnv, a state put into it and read out again.

R2 and R3 are carried out by minigrid's `reset`, R4 to R8 by its `step`, R10 to R14 by its `gen_obs`. It is handed our
draws, as the generator that it asks for them, and the number of steps taken, which it counts itself.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

from minigrid.core.grid import Grid
from minigrid.core.world_object import Goal, Lava
from minigrid.envs.lavagap import LavaGapEnv
from simulacrum_envs._minigrid.drive import KEPT_VIEWS, Answers, Driven

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import STEPS_PER_CELL

FORWARD = 2


class Room(Driven, LavaGapEnv):
    """minigrid's room with a strip of lava."""


class LavaGap(ReferenceEnv):
    """An agent and a strip of lava with a gap; state of Python integers.

    The engine carries out R1 (illegal actions) and R9 (the last time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        size = schema.params["size"].field
        sizes = range(size.low, size.high + 1)
        self._rooms = {number: Room(size=number, max_steps=STEPS_PER_CELL * number**2) for number in sizes}
        self._grids = {(size, x, y): _grid(size, x, y)
                       for size in sizes for x in range(2, size - 2) for y in range(1, size - 1)}  # fmt: skip
        self._view = lru_cache(KEPT_VIEWS)(self._look)

    def reset(self, ctx: Context) -> Any:
        room = copy.copy(self._rooms[ctx.params.size])  # R2
        room.np_random = Answers(ctx.draw, [("gap_x", None), ("gap_y", None)])
        room.reset()  # R3
        return self._taken(room, *(int(part) for part in room.gap_pos))

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        room = self._put(state, ctx.t)
        _, reward, terminated, truncated, _ = room.step(action)  # R4, R5, R6, R7, R8
        return Transition(self._taken(room, state.gap_x, state.gap_y), float(reward), terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        return dict(self._view(state))

    def _look(self, state: Any) -> dict[str, Any]:
        return self._put(state, 0).look()  # R10, R11, R12, R13, R14

    def _put(self, state: Any, t: int) -> Any:
        """minigrid's env in this state. The grid is shared, since nothing in it ever changes."""
        room = copy.copy(self._rooms[state.size])
        room.grid = self._grids[state.size, state.gap_x, state.gap_y]
        room.agent_pos, room.agent_dir, room.step_count = (state.x, state.y), state.direction, t
        return room

    def _taken(self, room: Any, gap_x: int, gap_y: int) -> Any:
        x, y = room.agent_pos
        return self.State(size=room.width, gap_x=gap_x, gap_y=gap_y, x=int(x), y=int(y), direction=int(room.agent_dir))

    @invariant("the agent is in the room", rule="R15")
    def in_the_room(self, state: Any, ctx: Context) -> bool:
        return max(state.x, state.y) <= state.size - 2

    @invariant("the gap is where it can be", rule="R16")
    def gap_in_place(self, state: Any, ctx: Context) -> bool:
        return state.gap_x <= state.size - 3 and state.gap_y <= state.size - 2

    @invariant("no episode is longer than the room's time", rule="R17")
    def in_time(self, state: Any, ctx: Context) -> bool:
        return ctx.t <= STEPS_PER_CELL * state.size**2

    @sometimes("the agent walks against a wall", rule="R5")
    def against_a_wall(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return action == FORWARD and outcome.state == state

    @sometimes("the agent steps into the lava", rule="R7")
    def into_the_lava(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated and outcome.reward == 0

    @sometimes("the agent goes through the gap", rule="R5")
    def through_the_gap(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return (outcome.state.x, outcome.state.y) == (state.gap_x, state.gap_y) != (state.x, state.y)

    @sometimes("the goal is reached", rule="R7")
    def at_the_goal(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.reward > 0


def _grid(size: int, gap_x: int, gap_y: int) -> Grid:
    """minigrid's grid with everything in it."""
    grid = Grid(size, size)
    grid.wall_rect(0, 0, size, size)
    grid.set(size - 2, size - 2, Goal())
    grid.vert_wall(gap_x, 1, size - 2, Lava)
    grid.set(gap_x, gap_y, None)
    return grid
