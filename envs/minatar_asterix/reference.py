"""minatar_asterix, one game at a time: MinAtar's own program, a state put into it and read out again.

The rules R2 to R15 are carried out by `reset`, `act` and `state` of MinAtar's classes: `Environment`, which makes
actions sticky, around the game. Nothing in them is changed. What they ask of their random generators is answered by our
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

from . import ENEMY, GOLD, GOLD_CHANCE, LAST_RAMP, MOVE_SPEED, RAMP_STEPS, SIZE, SLOTS, SPAWN_SPEED

PLAIN = ("player_x", "player_y", "spawn_timer", "move_timer")  # named alike there and here
RAMP_CLOCK = RAMP_STEPS - 2  # where MinAtar's clock of the difficulty starts: it goes on to -1, and one step more
YES, NO = 0.0, 1.0  # what `rand` gives, below and above every threshold that it is held against


class Sticky:
    """The generator of MinAtar's wrapper."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def rand(self) -> float:
        return YES if self.ctx.draw.bernoulli("sticky", self.ctx.params.sticky_action_prob) else NO


class Spawn:
    """The generator of the game, which asks it for a direction, then for a kind, then for one of the empty slots."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.asked = ctx, 0

    def rand(self) -> float:
        slot, chance = (("to_right", 0.5), ("gold", GOLD_CHANCE))[self.asked]
        self.asked += 1
        return YES if self.ctx.draw.bernoulli(slot, chance) else NO

    def randint(self, high: int) -> int:
        return self.ctx.draw.integers("place", high)


class Asterix(ReferenceEnv):
    """One game; state of Python integers and bools, and tuples with one for each slot.

    The engine carries out R1 (illegal actions) and R14 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._program: Any = Environment("asterix", sticky_action_prob=0.5)  # never played itself, only its copies

    def reset(self, ctx: Context) -> Any:
        outer = self._copy()
        outer.reset()
        return self._taken(outer)  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        outer = self._put(state)
        outer.random, outer.env.random = Sticky(ctx), Spawn(ctx)
        self._set_difficulty(outer.env, ctx)  # R3
        reward, terminated = outer.act(action)  # R4, R5, R6, R7, R8, R9, R10, R11, R12, R13
        assert outer.env.ramp_index == level(ctx, ctx.t + 1)
        return Transition(self._taken(outer), Float32(reward), terminated)

    def observe(self, state: Any, ctx: Context) -> Any:
        return self._put(state).state().astype(int).tolist()  # R15

    def _set_difficulty(self, game: Any, ctx: Context) -> None:
        """MinAtar's clock of the difficulty and what it has led to, after so many steps."""
        game.ramping, game.ramp_index = ctx.params.difficulty_ramping, level(ctx, ctx.t)
        risen_to_the_end = game.ramp_index == LAST_RAMP or not game.ramping
        game.ramp_timer = RAMP_CLOCK - (0 if risen_to_the_end else ctx.t % RAMP_STEPS)
        game.spawn_speed, game.move_speed = speeds(game.ramp_index)

    def _copy(self) -> Any:
        """A program that has not been played yet and cannot draw. Its entities are shared, and have to be replaced."""
        outer = copy(self._program)
        outer.env = copy(self._program.env)
        outer.random = outer.env.random = None
        return outer

    def _put(self, state: Any) -> Any:
        """A program in that state, but for its difficulty."""
        outer = self._copy()
        game = outer.env
        for name in PLAIN:
            setattr(game, name, getattr(state, name))
        game.entities = [
            [state.x[k], k + 1, state.to_right[k], state.kind[k] == GOLD] if state.kind[k] else None
            for k in range(SLOTS)
        ]
        outer.last_action = state.last_action
        return outer

    def _taken(self, outer: Any) -> Any:
        """The state that a program came to."""
        things = [(0, None, False, None) if thing is None else thing for thing in outer.env.entities]
        return self.State(
            **{name: getattr(outer.env, name) for name in PLAIN},
            kind=tuple(0 if gold is None else GOLD if gold else ENEMY for _, _, _, gold in things),
            x=tuple(x for x, _, _, _ in things),
            to_right=tuple(to_right for _, _, to_right, _ in things),
            last_action=outer.last_action,
        )

    @invariant("an empty slot is empty", rule="R16")
    def empty_slots(self, state: Any, ctx: Context) -> bool:
        return all(state.kind[k] or (state.x[k] == 0 and not state.to_right[k]) for k in range(SLOTS))

    @invariant("timers are within their speeds", rule="R17")
    def timers_bounded(self, state: Any, ctx: Context) -> bool:
        spawn_speed, move_speed = speeds(level(ctx, ctx.t))
        return state.spawn_timer <= spawn_speed and state.move_timer <= move_speed

    @sometimes("gold runs into the player", rule="R10")
    def gold_comes(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.reward > 0 and self._came_by_itself(state, outcome)

    @sometimes("an enemy runs into the player", rule="R10")
    def enemy_comes(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.terminated and self._came_by_itself(state, outcome)

    def _came_by_itself(self, state: Any, outcome: Transition) -> bool:
        """Whether what the player met stood elsewhere before it moved."""
        after, k = outcome.state, outcome.state.player_y - 1
        return all((state.move_timer == 0, state.kind[k] != 0, state.x[k] != after.player_x))

    @sometimes("the player steps on what has just come", rule="R8")
    def met_at_the_edge(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        k, ended = outcome.state.player_y - 1, outcome.terminated or outcome.reward > 0
        return ended and state.kind[k] == 0

    @sometimes("something leaves the screen", rule="R9")
    def leaves(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        edge = [SIZE - 1 if state.to_right[k] else 0 for k in range(SLOTS)]
        here = [k for k in range(SLOTS) if state.kind[k] and state.x[k] == edge[k]]
        return any(outcome.state.kind[k] == 0 and outcome.state.player_y != k + 1 for k in here)


def level(ctx: Context, t: int) -> int:
    """R3: how often the difficulty has risen after t steps."""
    return min(t // RAMP_STEPS, LAST_RAMP) if ctx.params.difficulty_ramping else 0


def speeds(level: int) -> tuple[int, int]:
    """R3: spawn speed and move speed."""
    return SPAWN_SPEED - level, MOVE_SPEED - level // 2
