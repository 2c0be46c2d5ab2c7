"""minigrid_fourrooms, one agent at a time: minigrid's own FourRoomsEnv, a state put into it and read out again.

R2 to R6 are carried out by minigrid's `reset`, R7 to R11 by its `step`, R13 to R19 by its `gen_obs`. It is handed our
draws, as the generator that it asks for them, and the number of steps taken, which it counts itself.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

from minigrid.core.grid import Grid
from minigrid.core.world_object import Goal, Wall
from minigrid.envs.fourrooms import FourRoomsEnv
from simulacrum_envs._minigrid.drive import KEPT_VIEWS, Answers, Driven

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import MAX_STEPS, SIZE

FORWARD = 2
MIDDLE = SIZE // 2
SLOTS = ("gap_top", "gap_left", "gap_right", "gap_bottom", "place", "direction", "goal")  # as minigrid asks


class Rooms(Driven, FourRoomsEnv):
    """minigrid's four rooms."""


class FourRooms(ReferenceEnv):
    """An agent in four rooms; state of Python integers.

    The engine carries out R1 (illegal actions) and R12 (the last time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._rooms: Any = Rooms(max_steps=MAX_STEPS)
        self._rooms.width = self._rooms.height = SIZE  # 19 unless the constant says otherwise
        self._walls = _walled()
        self._view = lru_cache(KEPT_VIEWS)(self._look)

    def reset(self, ctx: Context) -> Any:
        rooms = copy.copy(self._rooms)  # R2
        rooms.np_random = Answers(ctx.draw, [(slot, None) for slot in SLOTS])
        rooms.reset()  # R3, R4, R5, R6
        things = rooms.grid.grid
        upper, lower = range(1, MIDDLE), range(MIDDLE + 1, SIZE - 1)
        goal_y, goal_x = divmod(next(n for n, thing in enumerate(things) if isinstance(thing, Goal)), SIZE)
        return self._taken(
            rooms,
            gap_top=_gap(things, [(MIDDLE, y) for y in upper])[1],
            gap_left=_gap(things, [(x, MIDDLE) for x in upper])[0],
            gap_right=_gap(things, [(x, MIDDLE) for x in lower])[0],
            gap_bottom=_gap(things, [(MIDDLE, y) for y in lower])[1],
            goal_x=goal_x,
            goal_y=goal_y,
        )

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        rooms = self._put(state, ctx.t)
        _, reward, terminated, truncated, _ = rooms.step(action)  # R7, R8, R9, R10, R11
        kept = {name: getattr(state, name) for name in state._fields if name not in ("x", "y", "direction")}
        return Transition(self._taken(rooms, **kept), float(reward), terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        return dict(self._view(state))

    def _look(self, state: Any) -> dict[str, Any]:
        return self._put(state, 0).look()  # R13, R14, R15, R16, R17, R18, R19

    def _put(self, state: Any, t: int) -> Any:
        """minigrid's env in this state."""
        rooms, grid = copy.copy(self._rooms), Grid(SIZE, SIZE)
        grid.grid = list(self._walls)
        for x, y in (
            (MIDDLE, state.gap_top), (state.gap_left, MIDDLE), (state.gap_right, MIDDLE), (MIDDLE, state.gap_bottom)
        ):  # fmt: skip
            grid.set(x, y, None)
        grid.set(state.goal_x, state.goal_y, Goal())
        rooms.grid = grid
        rooms.agent_pos, rooms.agent_dir, rooms.step_count = (state.x, state.y), state.direction, t
        return rooms

    def _taken(self, rooms: Any, **kept: int) -> Any:
        x, y = rooms.agent_pos
        return self.State(**kept, x=int(x), y=int(y), direction=int(rooms.agent_dir))

    @invariant("neither the agent nor the goal is in a wall", rule="R20")
    def out_of_walls(self, state: Any, ctx: Context) -> bool:
        return _on_floor(state, state.x, state.y) and _on_floor(state, state.goal_x, state.goal_y)

    @invariant("no episode is longer than its time", rule="R21")
    def in_time(self, state: Any, ctx: Context) -> bool:
        return ctx.t <= MAX_STEPS

    @sometimes("the agent walks against a wall", rule="R8")
    def against_a_wall(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return action == FORWARD and outcome.state == state

    @sometimes("the agent stands in a gap", rule="R8")
    def in_a_gap(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state.x == MIDDLE or outcome.state.y == MIDDLE

    @sometimes("the goal is reached", rule="R10")
    def at_the_goal(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated


def _walled() -> list[Any]:
    """The cells of minigrid's grid with all walls and no gaps."""
    grid = Grid(SIZE, SIZE)
    grid.wall_rect(0, 0, SIZE, SIZE)
    grid.vert_wall(MIDDLE, 0)
    grid.horz_wall(0, MIDDLE)
    return grid.grid


def _gap(things: list[Any], wall: list[tuple[int, int]]) -> tuple[int, int]:
    """The one place of a wall that is none; the goal may be in it."""
    (place,) = [(x, y) for x, y in wall if not isinstance(things[y * SIZE + x], Wall)]
    return place


def _on_floor(state: Any, x: int, y: int) -> bool:
    across = x != MIDDLE or y in (state.gap_top, state.gap_bottom)
    along = y != MIDDLE or x in (state.gap_left, state.gap_right)
    return all((min(x, y) > 0, max(x, y) < SIZE - 1, across, along))
