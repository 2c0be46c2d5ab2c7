"""minigrid_doorkey, one agent at a time: minigrid's own DoorKeyEnv, a state put into it and read out again.

R2 to R7 are carried out by minigrid's `reset`, R8 to R15 by its `step`, R17 to R23 by its `gen_obs`. It is handed our
draws, as the generator that it asks for them, and the number of steps taken, which it counts itself.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

from minigrid.core.grid import Grid
from minigrid.core.world_object import Door, Goal, Key
from minigrid.envs.doorkey import DoorKeyEnv
from simulacrum_envs._minigrid.drive import KEPT_VIEWS, Answers, Driven

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import CLOSED, LOCKED, OPEN, STEPS_PER_CELL

FORWARD, TOGGLE = 2, 5
SLOTS = ("split", "place", "direction", "door", "key")  # in the order in which minigrid asks


class Room(Driven, DoorKeyEnv):
    """minigrid's two rooms with a door between them."""


class DoorKey(ReferenceEnv):
    """An agent, a key and a locked door; state of Python integers.

    The engine carries out R1 (illegal actions) and R16 (the last time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        size = schema.params["size"].field
        sizes = range(size.low, size.high + 1)
        self._rooms = {number: Room(size=number, max_steps=STEPS_PER_CELL * number**2) for number in sizes}
        self._walls = {(size, split): _walled(size, split) for size in sizes for split in range(2, size - 2)}
        self._view = lru_cache(KEPT_VIEWS)(self._look)

    def reset(self, ctx: Context) -> Any:
        room = copy.copy(self._rooms[ctx.params.size])  # R2
        room.np_random = Answers(ctx.draw, [(slot, None) for slot in SLOTS])
        room.reset()  # R3, R4, R5, R6, R7
        door, key = (_found(room.grid, kind) for kind in (Door, Key))
        return self._taken(room, room.grid.get(*door), door, room.grid.get(*key))

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        room, door, key = self._put(state, ctx.t)
        _, reward, terminated, truncated, _ = room.step(action)  # R8, R9, R10, R11, R12, R13, R14, R15
        after = self._taken(room, door, (state.split, state.door_y), key)
        return Transition(after, float(reward), terminated, truncated)

    def observe(self, state: Any, ctx: Context) -> dict[str, Any]:
        return dict(self._view(state))

    def _look(self, state: Any) -> dict[str, Any]:
        return self._put(state, 0)[0].look()  # R17, R18, R19, R20, R21, R22, R23

    def _put(self, state: Any, t: int) -> tuple[Any, Door, Key]:
        """minigrid's env in this state, and the two objects in it that a step may change."""
        room, grid = copy.copy(self._rooms[state.size]), Grid(state.size, state.size)
        grid.grid = list(self._walls[state.size, state.split])
        door, key = Door("yellow", is_open=state.door == OPEN, is_locked=state.door == LOCKED), Key("yellow")
        grid.set(state.split, state.door_y, door)
        if state.key_x >= 0:
            grid.set(state.key_x, state.key_y, key)
        room.grid, room.carrying = grid, None if state.key_x >= 0 else key
        room.agent_pos, room.agent_dir, room.step_count = (state.x, state.y), state.direction, t
        return room, door, key

    def _taken(self, room: Any, door: Any, door_at: tuple[int, int], key: Any) -> Any:
        x, y = room.agent_pos
        cells, size = room.grid.grid, room.width
        assert cells[door_at[1] * size + door_at[0]] is door
        assert (room.carrying is key) != (key in cells), "a key is in the hand or on the floor"
        key_y, key_x = (-1, -1) if room.carrying is key else divmod(cells.index(key), size)
        opened = OPEN if door.is_open else LOCKED if door.is_locked else CLOSED
        return self.State(
            size=size, split=door_at[0], door_y=door_at[1], door=opened, key_x=key_x, key_y=key_y,
            x=int(x), y=int(y), direction=int(room.agent_dir),
        )  # fmt: skip

    @invariant("the dividing wall and its door are where they can be", rule="R24")
    def wall_in_place(self, state: Any, ctx: Context) -> bool:
        return state.split <= state.size - 3 and state.door_y <= state.size - 3

    @invariant("the agent is on a cell that it can stand on", rule="R25")
    def agent_in_place(self, state: Any, ctx: Context) -> bool:
        inside = max(state.x, state.y) <= state.size - 2
        return inside and (state.x != state.split or (state.y == state.door_y and state.door == OPEN))

    @invariant("the key is in the hand, or on the floor of a room", rule="R26")
    def key_in_place(self, state: Any, ctx: Context) -> bool:
        if min(state.key_x, state.key_y) < 0:
            return (state.key_x, state.key_y) == (-1, -1)
        last = state.size - 2
        inside = 1 <= state.key_x <= last and 1 <= state.key_y <= last and state.key_x != state.split
        free = (state.key_x, state.key_y) not in ((last, last), (state.x, state.y))
        return inside and free

    @invariant("no episode is longer than the room's time", rule="R27")
    def in_time(self, state: Any, ctx: Context) -> bool:
        return ctx.t <= STEPS_PER_CELL * state.size**2

    @sometimes("the door is unlocked", rule="R12")
    def unlocked(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.door == LOCKED and outcome.state.door == OPEN

    @sometimes("the locked door withstands an agent without the key", rule="R12")
    def withstands(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        ahead = (state.direction == 0, state.x + 1, state.y) == (True, state.split, state.door_y)
        return action == TOGGLE and ahead and state.key_x >= 0 and outcome.state.door == LOCKED

    @sometimes("the open door is closed again", rule="R12")
    def closed(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.door == OPEN and outcome.state.door == CLOSED

    @sometimes("the key is put down", rule="R11")
    def put_down(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.key_x < 0 <= outcome.state.key_x

    @sometimes("the key is in the way", rule="R9")
    def in_the_way(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        near = abs(state.key_x - state.x) + abs(state.key_y - state.y) == 1 and state.key_x >= 0
        return action == FORWARD and near and outcome.state == state

    @sometimes("the goal is reached", rule="R14")
    def at_the_goal(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated


def _walled(size: int, split: int) -> list[Any]:
    """The cells of minigrid's grid with everything in them that never moves."""
    grid = Grid(size, size)
    grid.wall_rect(0, 0, size, size)
    grid.vert_wall(split, 0)
    grid.set(size - 2, size - 2, Goal())
    return grid.grid


def _found(grid: Any, kind: type) -> tuple[int, int]:
    """x and y of the only object of this kind."""
    (number,) = [number for number, thing in enumerate(grid.grid) if isinstance(thing, kind)]
    return number % grid.width, number // grid.width
