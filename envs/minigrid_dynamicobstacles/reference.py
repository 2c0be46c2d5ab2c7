"""minigrid_dynamicobstacles, one agent at a time: minigrid's own env, a state put into it and read out again.

R2 to R5 are carried out by minigrid's `__init__` and `reset`, R6 to R14 by its `step`, R16 to R19 by its `gen_obs`. It
is handed our draws, as the generator that it asks for them, and the number of steps taken, which it counts itself.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Goal
from minigrid.envs.dynamicobstacles import DynamicObstaclesEnv
from simulacrum_envs._minigrid.drive import KEPT_VIEWS, Answers, Driven

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import COLLISION, MOST, STEPS_PER_CELL

FORWARD = 2
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Room(Driven, DynamicObstaclesEnv):
    """minigrid's room of obstacles. Each has a draw of its own, by its number: one that is shut in asks for none."""

    draw: Any
    slot: str

    def place_obj(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        if obj is not None:  # None: the agent, which has the answers that it was given
            self.np_random = Answers(self.draw, [(self.slot, self.obstacles.index(obj))])
        return super().place_obj(obj, *args, **kwargs)


class DynamicObstacles(ReferenceEnv):
    """An agent among balls; state of Python integers and tuples of them.

    The engine carries out R1 (illegal actions) and R15 (the last time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        size, most = schema.params["size"].field, schema.params["obstacles"].field
        self._rooms: dict[tuple[int, int], Any] = {
            (number, balls): Room(size=number, n_obstacles=balls, max_steps=STEPS_PER_CELL * number**2)  # R2
            for number in range(size.low, size.high + 1)
            for balls in range(most.low, most.high + 1)
        }
        self._walls = {number: _walled(number) for number in range(size.low, size.high + 1)}
        self._view = lru_cache(KEPT_VIEWS)(self._look)

    def reset(self, ctx: Context) -> Any:
        room = copy.copy(self._rooms[ctx.params.size, ctx.params.obstacles])
        room.agent_start_pos = None if ctx.params.random_start == 1 else (1, 1)
        room.np_random = Answers(ctx.draw, [("place", None), ("direction", None)])
        room.draw, room.slot = ctx.draw, "balls"
        room.reset()  # R3, R4, R5
        return self._taken(room)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        room = self._put(state, ctx.t)
        room.draw, room.slot = ctx.draw, "moves"
        _, reward, terminated, truncated, _ = room.step(action)  # R6, R7, R8, R9, R10, R11, R12, R13, R14
        return Transition(self._taken(room), float(reward), terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        return dict(self._view(state))

    def _look(self, state: Any) -> dict[str, Any]:
        return self._put(state, 0).look()  # R16, R17, R18, R19

    def _put(self, state: Any, t: int) -> Any:
        """minigrid's env in this state."""
        room, grid = copy.copy(self._rooms[state.size, 1]), Grid(state.size, state.size)
        grid.grid = list(self._walls[state.size])
        room.grid, room.obstacles = grid, [Ball() for x in state.ball_x if x >= 0]
        for ball, x, y in zip(room.obstacles, state.ball_x, state.ball_y, strict=False):
            room.put_obj(ball, x, y)
        room.agent_pos, room.agent_dir, room.step_count = (state.x, state.y), state.direction, t
        return room

    def _taken(self, room: Any) -> Any:
        places = [ball.cur_pos for ball in room.obstacles]
        assert all(room.grid.get(*place) is ball for ball, place in zip(room.obstacles, places, strict=True))
        places += [(-1, -1)] * (MOST - len(places))
        x, y = room.agent_pos
        return self.State(
            size=room.width, ball_x=tuple(x for x, _ in places), ball_y=tuple(y for _, y in places),
            x=int(x), y=int(y), direction=int(room.agent_dir),
        )  # fmt: skip

    @invariant("the agent is in the room", rule="R20")
    def in_the_room(self, state: Any, ctx: Context) -> bool:
        return max(state.x, state.y) <= state.size - 2

    @invariant("every ball has a free cell of its own, or none after it is there", rule="R21")
    def balls_in_place(self, state: Any, ctx: Context) -> bool:
        last = state.size - 2
        places = list(zip(state.ball_x, state.ball_y, strict=True))
        there = [place for place in places if place != (-1, -1)]
        inside = all(min(place) >= 1 and max(place) <= last for place in there)
        taken = {(last, last), (state.x, state.y)} & set(there)
        return inside and not taken and len(set(there)) == len(there) and places[: len(there)] == there

    @invariant("no episode is longer than the room's time", rule="R22")
    def in_time(self, state: Any, ctx: Context) -> bool:
        return ctx.t <= STEPS_PER_CELL * state.size**2

    @sometimes("the agent walks into a ball that stays in its way", rule="R10")
    def into_a_ball(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return _ball_ahead(state) and outcome.reward == COLLISION and _still(state, outcome)

    @sometimes("the agent collides with a ball that has moved away", rule="R9")
    def after_a_ball(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.reward == COLLISION and not _still(state, outcome)

    @sometimes("a ball comes in the agent's way without a collision", rule="R9")
    def held_up(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return action == FORWARD and not outcome.terminated and _still(state, outcome)

    @sometimes("the agent walks into a wall", rule="R10")
    def into_a_wall(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.reward == COLLISION and not _ball_ahead(state)

    @sometimes("a ball is shut in and stays", rule="R7")
    def shut_in(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        before, after = (zip(one.ball_x, one.ball_y, strict=True) for one in (state, outcome.state))
        return any(old == new != (-1, -1) for old, new in zip(before, after, strict=True))

    @sometimes("the goal is reached", rule="R12")
    def at_the_goal(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated and outcome.reward != COLLISION


def _walled(size: int) -> list[Any]:
    """The cells of minigrid's grid with everything in them that never moves."""
    grid = Grid(size, size)
    grid.wall_rect(0, 0, size, size)
    grid.set(size - 2, size - 2, Goal())
    return grid.grid


def _ball_ahead(state: Any) -> bool:
    ahead = (state.x + WAYS[state.direction][0], state.y + WAYS[state.direction][1])
    return ahead in zip(state.ball_x, state.ball_y, strict=True)


def _still(state: Any, outcome: Transition) -> bool:
    return (state.x, state.y) == (outcome.state.x, outcome.state.y)
