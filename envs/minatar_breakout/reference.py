"""minatar_breakout, one game at a time: MinAtar's own program, a state put into it and read out again.

The rules R2 to R16 are carried out by `reset`, `act` and `state` of MinAtar's classes: `Environment`, which makes
actions sticky, around the game. Nothing in them is changed. What they ask of their random generator is answered by our
draws.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from minatar import Environment

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import BRICK_ROWS, FULL_ROW, LEFT, PADDLE_ROW, RIGHT, SIZE, TOP_BRICKS

BRICKS = slice(TOP_BRICKS, TOP_BRICKS + BRICK_ROWS)  # rows of MinAtar's brick map
PLAIN = ("ball_x", "ball_y", "ball_dir", "last_x", "last_y", "pos", "strike")  # named alike there and here


class Generator:
    """The methods of NumPy's RandomState that the game asks, answered by our draws."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def rand(self) -> float:
        """0.0 where the action is to stick, else 1.0: below or above the threshold that is set in `Breakout`."""
        return 0.0 if self.ctx.draw.bernoulli("sticky", self.ctx.params.sticky_action_prob) else 1.0

    def randint(self, high: int) -> int:
        return self.ctx.draw.integers("ball_start", high)


class Breakout(ReferenceEnv):
    """One game; state of Python integers.

    The engine carries out R1 (illegal actions) and R15 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._program: Any = Environment("breakout", sticky_action_prob=0.5)  # never played itself, only its copies

    def reset(self, ctx: Context) -> Any:
        outer = self._copy(Generator(ctx))
        outer.reset()
        return self._taken(outer)  # R2, R3

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        outer = self._put(state, Generator(ctx))
        reward, terminated = outer.act(action)  # R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14
        return Transition(self._taken(outer), Float32(reward), terminated)

    def observe(self, state: Any, ctx: Context) -> Any:
        return self._put(state, None).state().astype(int).tolist()  # R16

    def _copy(self, generator: Generator | None) -> Any:
        """A program that has not been played yet, with a bricks' map of its own."""
        outer = copy(self._program)
        outer.env = copy(self._program.env)
        outer.env.brick_map = self._program.env.brick_map.copy()
        outer.random = outer.env.random = generator
        return outer

    def _put(self, state: Any, generator: Generator | None) -> Any:
        """A program in that state."""
        outer = self._copy(generator)
        game = outer.env
        for name in PLAIN:
            setattr(game, name, getattr(state, name))
        game.brick_map[BRICKS] = [[row >> x & 1 for x in range(SIZE)] for row in state.bricks]
        outer.last_action = state.last_action
        return outer

    def _taken(self, outer: Any) -> Any:
        """The state that a program came to."""
        game = outer.env
        bricks = tuple(sum(1 << x for x in range(SIZE) if row[x]) for row in game.brick_map[BRICKS])
        plain = {name: getattr(game, name) for name in PLAIN}
        return self.State(**plain, bricks=bricks, last_action=outer.last_action)

    @invariant("the ball is next to where it was", rule="R17")
    def in_steps(self, state: Any, ctx: Context) -> bool:
        return abs(state.ball_x - state.last_x) <= 1 and abs(state.ball_y - state.last_y) <= 1

    @invariant("a ball on the paddle's row was missed", rule="R18")
    def missed(self, state: Any, ctx: Context) -> bool:
        if state.ball_y < PADDLE_ROW:
            return True
        return state.ball_dir >= 2 and state.last_y == PADDLE_ROW - 1 and state.ball_x != state.pos

    @invariant("a ball that met a brick is where bricks are met", rule="R19")
    def near_bricks(self, state: Any, ctx: Context) -> bool:
        lowest = TOP_BRICKS + BRICK_ROWS
        return not state.strike or (state.ball_y <= lowest and state.last_y <= lowest)

    @sometimes("bricks come back after the last one", rule="R11")
    def bricks_come_back(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return not any(state.bricks) and outcome.state.bricks == (FULL_ROW,) * BRICK_ROWS

    @sometimes("the ball flies into a brick", rule="R10")
    def flies_into_a_brick(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.strike and outcome.state.strike

    @sometimes("the ball comes back the way it came", rule="R11")
    def comes_back(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.ball_y == PADDLE_ROW - 1 and outcome.state.ball_dir == state.ball_dir ^ 2

    @sometimes("a sticky action moves the paddle against the chosen one", rule="R4")
    def sticks(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return (action, outcome.state.last_action) in ((LEFT, RIGHT), (RIGHT, LEFT))
