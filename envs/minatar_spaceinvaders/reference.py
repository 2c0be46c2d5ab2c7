"""minatar_spaceinvaders, one game at a time: MinAtar's own program, a state put into it and read out again.

The rules R2 to R18 are carried out by `reset`, `act` and `state` of MinAtar's classes: `Environment`, which makes
actions sticky, around the game. Nothing in them is changed. What the first asks of its random generator is answered by
our draw; the game itself asks nothing.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from minatar import Environment

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import LAST_ROW, MOVE_WAIT, SIZE, WAVE_ROW, WAVE_ROWS

# Names of fields here and there.
PLAIN = {"pos": "pos", "fire_timer": "shot_timer", "move_timer": "alien_move_timer", "shot_timer": "alien_shot_timer"}
PLAIN["ramp_index"] = "ramp_index"
MAPS = {"shots": "f_bullet_map", "bombs": "e_bullet_map", "aliens": "alien_map"}


class Sticky:
    """The generator of MinAtar's wrapper: below and above every threshold."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def rand(self) -> float:
        return 0.0 if self.ctx.draw.bernoulli("sticky", self.ctx.params.sticky_action_prob) else 1.0


class SpaceInvaders(ReferenceEnv):
    """One game; state of Python integers and bools, and tuples with one integer for each row.

    The engine carries out R1 (illegal actions) and R17 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        # Never played itself, only its copies.
        self._program: Any = Environment("space_invaders", sticky_action_prob=0.5)

    def reset(self, ctx: Context) -> Any:
        outer = self._copy()
        outer.reset()
        return self._taken(outer)  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        outer = self._put(state)
        outer.random, outer.env.ramping = Sticky(ctx), ctx.params.difficulty_ramping
        reward, terminated = outer.act(action)  # R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16
        assert outer.env.enemy_move_interval == MOVE_WAIT - outer.env.ramp_index
        return Transition(self._taken(outer), Float32(int(reward)), terminated)

    def observe(self, state: Any, ctx: Context) -> Any:
        return self._put(state).state().astype(int).tolist()  # R18

    def _copy(self) -> Any:
        """A program that has not been played yet and cannot draw, with maps of its own."""
        outer = copy(self._program)
        outer.env = copy(self._program.env)
        for name in MAPS.values():
            setattr(outer.env, name, getattr(self._program.env, name).copy())
        outer.random = outer.env.random = None
        return outer

    def _put(self, state: Any) -> Any:
        """A program in that state."""
        outer = self._copy()
        game = outer.env
        for ours, theirs in PLAIN.items():
            setattr(game, theirs, getattr(state, ours))
        for ours, theirs in MAPS.items():
            getattr(game, theirs)[:] = [[row >> x & 1 for x in range(SIZE)] for row in getattr(state, ours)]
        game.alien_dir = 1 if state.to_right else -1
        game.enemy_move_interval = MOVE_WAIT - state.ramp_index
        outer.last_action = state.last_action
        return outer

    def _taken(self, outer: Any) -> Any:
        """The state that a program came to."""
        game = outer.env
        maps = {
            ours: tuple(sum(1 << x for x in range(SIZE) if row[x]) for row in getattr(game, theirs))
            for ours, theirs in MAPS.items()
        }
        plain = {ours: int(getattr(game, theirs)) for ours, theirs in PLAIN.items()}
        return self.State(**plain, **maps, to_right=game.alien_dir > 0, last_action=outer.last_action)

    @invariant("there is an alien", rule="R19")
    def aliens_left(self, state: Any, ctx: Context) -> bool:
        return any(state.aliens)

    @invariant("the cannon's bullets have left it", rule="R20")
    def shots_on_their_way(self, state: Any, ctx: Context) -> bool:
        return state.shots[LAST_ROW] == 0

    @invariant("the aliens wait no longer than they may", rule="R21")
    def moves_in_time(self, state: Any, ctx: Context) -> bool:
        return state.move_timer <= MOVE_WAIT - state.ramp_index

    @sometimes("a block is shot, and a faster one comes", rule="R14")
    def next_wave(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state.ramp_index > state.ramp_index

    @sometimes("aliens reach the last row", rule="R10")
    def landed(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state.aliens[LAST_ROW] != 0

    @sometimes("an alien's bullet hits the cannon", rule="R6")
    def bombed(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated and outcome.state.bombs[LAST_ROW] >> outcome.state.pos & 1 == 1

    @sometimes("the aliens come down", rule="R10")
    def come_down(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state.to_right != state.to_right and outcome.state.aliens != (WAVE_ROW,) * WAVE_ROWS
