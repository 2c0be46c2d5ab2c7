"""minigrid_keycorridor, one agent at a time: minigrid's own KeyCorridorEnv, a state put into it and read out again.

R2 to R5 are carried out by minigrid's `reset`, R6 to R13 by its `step`, R15 to R21 by its `gen_obs`. It is handed our
draws, as the generator that it asks for them, and the number of steps taken, which it counts itself.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from minigrid.core.constants import COLOR_TO_IDX, IDX_TO_COLOR
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Door, Key
from minigrid.envs.keycorridor import KeyCorridorEnv
from simulacrum_envs._minigrid.drive import KEPT_VIEWS, Driven, Place

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import CLOSED, COLOURS, LEFT_DOOR, LENGTH, LOCKED, MAX_STEPS, OPEN, RIGHT_DOOR, START

FORWARD, PICK_UP, DROP, TOGGLE = 2, 3, 4, 5
ROW = 1  # in which everything happens


class Answers:
    """What minigrid asks its generator for, in its order: R3, R4, and what here can only be one.

    It draws directions until the locked door is not ahead, and a room and one of its walls until there is no door yet:
    it is answered so that it is content at once.
    """

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._ways = iter(("right_colour", "ball_colour", "direction", "left room", "right wall", "left_colour"))
        self._known: list[int] = []

    def integers(self, low: int, high: int) -> int:
        if self._known:
            return self._known.pop(0)
        if high - low == 1:  # there is only one row of rooms, and one place for a door or the key
            return low
        way = next(self._ways)
        if way in ("left room", "right wall"):
            return 0
        if way == "direction":
            assert (low, high) == (0, 4)
            return self._draw.integers("direction", 4, low=1)
        assert (low, high) == (0, len(COLOR_TO_IDX))
        return self._draw.integers(way, COLOURS)

    def choose(self, places: Sequence[Place]) -> None:
        """Answer with the only place next."""
        ((x, y),) = places
        self._known = [x, y]

    @property
    def all_given(self) -> bool:
        return not self._known


class Corridor(Driven, KeyCorridorEnv):
    """minigrid's row of three rooms."""


class KeyCorridor(ReferenceEnv):
    """An agent, a key, a ball and two doors; state of Python integers.

    The engine carries out R1 (illegal actions) and R14 (the last time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._corridor: Any = Corridor(room_size=3, num_rows=1, max_steps=MAX_STEPS)
        self._walls = _walled()
        self._view = lru_cache(KEPT_VIEWS)(self._look)

    def reset(self, ctx: Context) -> Any:
        corridor = copy.copy(self._corridor)
        corridor.np_random = Answers(ctx.draw)
        corridor.reset()  # R2, R3, R4, R5
        left, right = (corridor.grid.get(x, ROW) for x in (LEFT_DOOR, RIGHT_DOOR))
        return self._taken(corridor, left, right, corridor.grid.get(1, ROW), corridor.obj)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        corridor, things = self._put(state, ctx.t)
        _, reward, terminated, truncated, _ = corridor.step(action)  # R6, R7, R8, R9, R10, R11, R12, R13
        return Transition(self._taken(corridor, *things), float(reward), terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        return dict(self._view(state))

    def _look(self, state: Any) -> dict[str, Any]:
        return self._put(state, 0)[0].look()  # R15, R16, R17, R18, R19, R20, R21

    def _put(self, state: Any, t: int) -> tuple[Any, tuple[Door, Door, Key, Ball]]:
        """minigrid's env in this state, and the things in it that a step may change."""
        corridor, grid = copy.copy(self._corridor), Grid(LENGTH + 2, 3)
        grid.grid = list(self._walls)
        left = Door(IDX_TO_COLOR[state.left_colour], is_open=state.left_door == OPEN)
        right = Door(
            IDX_TO_COLOR[state.right_colour], is_open=state.right_door == OPEN, is_locked=state.right_door == LOCKED
        )
        key, ball = Key(right.color), Ball(IDX_TO_COLOR[state.ball_colour])
        corridor.grid, corridor.carrying, corridor.obj = grid, None, ball
        for thing, x in ((left, LEFT_DOOR), (right, RIGHT_DOOR), (key, state.key_x), (ball, state.ball_x)):
            if x < 0:
                corridor.carrying = thing
            else:
                grid.set(x, ROW, thing)
        corridor.agent_pos, corridor.agent_dir, corridor.step_count = (state.x, ROW), state.direction, t
        return corridor, (left, right, key, ball)

    def _taken(self, corridor: Any, left: Door, right: Door, key: Key, ball: Ball) -> Any:
        cells = corridor.grid.grid[ROW * corridor.width : (ROW + 1) * corridor.width]
        assert (cells[LEFT_DOOR], cells[RIGHT_DOOR]) == (left, right)
        assert key.color == right.color
        x, y = corridor.agent_pos
        assert y == ROW
        return self.State(
            left_colour=COLOR_TO_IDX[left.color], right_colour=COLOR_TO_IDX[right.color],
            ball_colour=COLOR_TO_IDX[ball.color],
            left_door=_state_of(left), right_door=_state_of(right),
            key_x=-1 if corridor.carrying is key else cells.index(key),
            ball_x=-1 if corridor.carrying is ball else cells.index(ball),
            x=int(x), direction=int(corridor.agent_dir),
        )  # fmt: skip

    @invariant("the agent is on a cell that it can stand on", rule="R22")
    def agent_in_place(self, state: Any, ctx: Context) -> bool:
        if state.x in (LEFT_DOOR, RIGHT_DOOR):
            return (state.left_door if state.x == LEFT_DOOR else state.right_door) == OPEN
        return state.x not in (state.key_x, state.ball_x)

    @invariant("key and ball are on floor of their own, or one of them is carried", rule="R23")
    def things_in_place(self, state: Any, ctx: Context) -> bool:
        places = (state.key_x, state.ball_x)
        return state.key_x != state.ball_x and all(place == -1 or place % 2 == 1 for place in places)

    @invariant("what is behind the locked door is the ball", rule="R24")
    def behind_the_lock(self, state: Any, ctx: Context) -> bool:
        return state.right_door != LOCKED or (state.ball_x == LENGTH and max(state.x, state.key_x) <= START)

    @invariant("no episode is longer than its time", rule="R25")
    def in_time(self, state: Any, ctx: Context) -> bool:
        return ctx.t <= MAX_STEPS

    @sometimes("the right door is unlocked", rule="R10")
    def unlocked(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.right_door == LOCKED and outcome.state.right_door == OPEN

    @sometimes("the locked door withstands an agent without the key", rule="R10")
    def withstands(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        ahead = (state.x, state.direction) == (START, 0)
        return action == TOGGLE and ahead and state.key_x >= 0 and outcome.state.right_door == LOCKED

    @sometimes("the right door is closed again", rule="R10")
    def closed(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.right_door == OPEN and outcome.state.right_door == CLOSED

    @sometimes("a door leaves no room to put the key down", rule="R9")
    def no_room(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        facing = (state.x, state.direction) in ((START, 0), (START, 2))
        return action == DROP and state.key_x < 0 and facing and outcome.state == state

    @sometimes("the key is put down", rule="R9")
    def put_down(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.key_x < 0 <= outcome.state.key_x

    @sometimes("the ball cannot be picked up by an agent that carries the key", rule="R8")
    def hand_full(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        ahead = (state.x + 1, state.direction) == (state.ball_x, 0)
        return action == PICK_UP and ahead and state.key_x < 0 and outcome.state == state

    @sometimes("a thing is in the way", rule="R7")
    def in_the_way(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        ahead = state.x + {0: 1, 2: -1}.get(state.direction, 0)
        return action == FORWARD and ahead != state.x and ahead in (state.key_x, state.ball_x)

    @sometimes("the ball is picked up", rule="R12")
    def fetched(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated


def _walled() -> list[Any]:
    """The cells of minigrid's grid with all walls and nothing else."""
    grid = Grid(LENGTH + 2, 3)
    grid.wall_rect(0, 0, LENGTH + 2, 3)
    return grid.grid


def _state_of(door: Door) -> int:
    return OPEN if door.is_open else LOCKED if door.is_locked else CLOSED
