"""minatar_seaquest, one game at a time: MinAtar's own program, a state put into it and read out again.

The rules R2 to R21 are carried out by `reset`, `act` and `state` of MinAtar's classes: `Environment`, which makes
actions sticky, around the game. Nothing in them is changed. What they ask of their random generators is answered by our
draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from minatar import Environment

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import (
    DIVER_MOVE,
    DIVER_SPAWN,
    FASTEST,
    LANES,
    MOST_DIVERS,
    MOVE_WAIT,
    SHOT_WAIT,
    SIZE,
    SPAWN_WAIT,
    SUB_CHANCE,
    TIMERS,
)

LAST = SIZE - 1
# Names of fields here and there.
PLAIN = {"player_x": "sub_x", "player_y": "sub_y", "faces_right": "sub_or", "oxygen": "oxygen"}
PLAIN |= {"diver_count": "diver_count", "fire_timer": "shot_timer", "spawn_timer": "e_spawn_timer"}
PLAIN["ramp_index"] = "ramp_index"
LISTS = ("f_bullets", "e_bullets", "e_fish", "e_subs", "divers")
YES, NO = 0.0, 1.0  # what `rand` gives, below and above every threshold that it is held against


class Sticky:
    """The generator of MinAtar's wrapper."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def rand(self) -> float:
        return YES if self.ctx.draw.bernoulli("sticky", self.ctx.params.sticky_action_prob) else NO


class Spawn:
    """The generator of the game, which asks it for what an enemy is, if one is due, then for what a diver is."""

    def __init__(self, ctx: Context, enemy: bool) -> None:
        self.ctx = ctx
        chances = [("enemy_right", 0.5), ("enemy_sub", SUB_CHANCE)] if enemy else []
        self.chances = iter([*chances, ("diver_right", 0.5)])
        self.rows = iter([*(["enemy_row"] if enemy else []), "diver_row"])

    def rand(self) -> float:
        slot, chance = next(self.chances)
        return YES if self.ctx.draw.bernoulli(slot, chance) else NO

    def randint(self, low: int, high: int) -> int:
        return self.ctx.draw.integers(next(self.rows), high, low=low)


class Seaquest(ReferenceEnv):
    """One game; state of Python integers and bools, and tuples of them.

    The engine carries out R1 (illegal actions) and R20 (the time limit).
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(schema)
        self._program: Any = Environment("seaquest", sticky_action_prob=0.5)  # never played itself, only its copies

    def reset(self, ctx: Context) -> Any:
        outer = self._copy()
        outer.reset()
        return self._taken(outer)  # R2

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        outer = self._put(state, ctx.t)
        outer.random, outer.env.random = Sticky(ctx), Spawn(ctx, state.spawn_timer == 0)
        outer.env.ramping = ctx.params.difficulty_ramping
        # R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18, R19
        reward, terminated = outer.act(action)
        after = self._taken(outer)
        assert (outer.env.move_speed, outer.env.e_spawn_speed) == speeds(after.ramp_index)
        assert (outer.env.d_spawn_timer, *{diver[3] for diver in outer.env.divers}) in diver_clocks(ctx.t + 1)
        return Transition(after, Float32(reward), terminated)

    def observe(self, state: Any, ctx: Context) -> Any:
        return self._put(state, ctx.t).state().astype(int).tolist()  # R21

    def _copy(self) -> Any:
        """A program that has not been played yet and cannot draw. Its lists are shared, and have to be replaced."""
        outer = copy(self._program)
        outer.env = copy(self._program.env)
        outer.random = outer.env.random = None
        return outer

    def _put(self, state: Any, t: int) -> Any:
        """A program in that state after t steps."""
        outer = self._copy()
        game = outer.env
        for ours, theirs in PLAIN.items():
            setattr(game, theirs, getattr(state, ours))
        game.move_speed, game.e_spawn_speed = speeds(state.ramp_index)  # R3
        game.d_spawn_timer, wait = diver_clocks(t)[1]
        game.surface = state.player_y == 0
        game.f_bullets = bullets(state.shots_left, state.shots_right, 0)
        game.f_bullets.sort(key=lambda bullet: -abs(bullet[0] - state.player_x))  # the one that was fired first
        game.e_bullets = bullets(state.bombs_left, state.bombs_right, 1)
        there = list(enemies(state))
        game.e_fish = [[x, y, to_right, m] for x, y, to_right, m, kind in there if not kind]
        game.e_subs = [[x, y, to_right, m, kind - 1] for x, y, to_right, m, kind in there if kind]
        game.divers = [[state.diver_x[k], state.diver_y[k], state.diver_right[k], wait] for k in (0, 1)]
        game.divers = [diver for diver in game.divers if diver[1]]
        outer.last_action = state.last_action
        return outer

    def _taken(self, outer: Any) -> Any:
        """The state that a program came to."""
        game = outer.env
        fish, subs = ([[0] * LANES for _ in range(TIMERS)] for _ in range(2))
        to_right = [False] * LANES
        for x, y, right, m, *shot in [*game.e_fish, *game.e_subs]:
            to_right[y - 1] = right
            if shot:
                subs[m][y - 1] |= (shot[0] + 1) * 16**x
            else:
                fish[m][y - 1] |= 1 << x
        x, y, right = zip(*([*(diver[:3] for diver in game.divers), *[(0, 0, False)] * 2][:2]), strict=True)
        return self.State(
            **{ours: getattr(game, theirs) for ours, theirs in PLAIN.items()},
            **dict(zip(("shots_left", "shots_right"), rows_of(game.f_bullets, 0, LANES + 1), strict=True)),
            **dict(zip(("bombs_left", "bombs_right"), rows_of(game.e_bullets, 1, LANES), strict=True)),
            to_right=tuple(to_right),
            fish=tuple(map(tuple, fish)),
            subs=tuple(map(tuple, subs)),
            diver_x=x,
            diver_y=y,
            diver_right=right,
            last_action=outer.last_action,
        )

    @invariant("the player faces the middle from where the screen ends", rule="R22")
    def faces_in(self, state: Any, ctx: Context) -> bool:
        return (state.player_x > 0 or not state.faces_right) and (state.player_x < LAST or state.faces_right)

    @invariant("the player's bullets are two at most and fly away from it", rule="R23")
    def shots_fly_away(self, state: Any, ctx: Context) -> bool:
        flying = bullets(state.shots_left, state.shots_right, 0)
        return len(flying) <= 2 and all(x > state.player_x if right else x < state.player_x for x, _, right in flying)

    @invariant("where nothing is, nothing is kept of it", rule="R24")
    def empty_places(self, state: Any, ctx: Context) -> bool:
        lanes = {y - 1 for _, y, _, _, _ in enemies(state)}
        return (
            all(k in lanes or not state.to_right[k] for k in range(LANES))
            and all(kind <= SHOT_WAIT + 1 for *_, kind in enemies(state))
            and all(state.diver_y[k] or not (state.diver_x[k] or state.diver_right[k]) for k in (0, 1))
            and (state.diver_y[0] > 0 or state.diver_y[1] == 0)
        )

    @invariant("no enemy overtakes another", rule="R25")
    def in_file(self, state: Any, ctx: Context) -> bool:
        wait, _ = speeds(state.ramp_index)
        places = [(y, gone(x, right) * (wait + 1) - m) for x, y, right, m, _ in enemies(state)]
        new = {(y, -wait) for y in range(1, LANES + 1)} if state.spawn_timer == 0 else set()
        return len(set(places)) == len(places) and not new.intersection(places)

    @invariant("subs that are close do not shoot together", rule="R26")
    def shoot_apart(self, state: Any, ctx: Context) -> bool:
        subs = [(x, y, kind) for x, y, _, _, kind in enemies(state) if kind]
        return not any(
            one[1:] == other[1:] and abs(one[0] - other[0]) <= 1
            for number, one in enumerate(subs)
            for other in subs[:number]
        )

    @invariant("divers come and go by the clock", rule="R27")
    def divers_in_time(self, state: Any, ctx: Context) -> bool:
        come = [gone(state.diver_x[k], state.diver_right[k]) for k in (0, 1)]
        in_time = all(
            (come[k] - ctx.t // DIVER_MOVE) % 5 == 0 and (come[k] > 0 or ctx.t % DIVER_SPAWN != 0)
            for k in (0, 1)
            if state.diver_y[k]
        )
        return in_time and (state.diver_y[1] == 0 or come[0] == come[1] + 5)

    @invariant("divers are owed for two steps each", rule="R28")
    def divers_owed(self, state: Any, ctx: Context) -> bool:
        return -2 * state.diver_count <= ctx.t

    @sometimes("six divers are brought up", rule="R17")
    def brought_up(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.diver_count == MOST_DIVERS and outcome.state.diver_count == -1

    @sometimes("the player comes up for air alone, after six divers", rule="R17")
    def alone(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.diver_count < 0 and outcome.state.diver_count == state.diver_count - 1

    @sometimes("the oxygen is used up", rule="R16")
    def drowned(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return state.oxygen == 0 and outcome.terminated

    @sometimes("an enemy moves into a bullet", rule="R11")
    def moved_into_a_bullet(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        flown = {(x + (1 if right else -1), y) for x, y, right in bullets(state.shots_left, state.shots_right, 0)}
        ahead = {(x + (1 if right else -1), y) for x, y, right, m, _ in enemies(state) if m == 0}
        there = {(x, y) for x, y, _, _, _ in enemies(state)}
        return outcome.reward > 0 and bool((flown - there) & ahead)

    @sometimes("a sub hits the player with a bullet", rule="R13")
    def bombed(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        after = outcome.state
        met = [bombs[after.player_y - 1] >> after.player_x & 1 for bombs in (after.bombs_left, after.bombs_right)]
        return outcome.terminated and after.player_y > 0 and any(met)

    @sometimes("nothing comes, since a lane's enemies move the other way", rule="R5")
    def opposed(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        def number(of: Any) -> int:
            return sum(1 for _ in enemies(of))

        return state.spawn_timer == 0 and not outcome.reward and number(outcome.state) == number(state)


def speeds(ramp_index: int) -> tuple[int, int]:
    """R3: move wait and spawn wait."""
    return MOVE_WAIT - min(ramp_index, FASTEST) // 2, SPAWN_WAIT - ramp_index


def diver_clocks(t: int) -> list[tuple[int, ...]]:
    """MinAtar's steps until the next diver comes, alone and with those until all divers move, after t steps."""
    spawn = DIVER_SPAWN - 1 - (t - 1) % DIVER_SPAWN if t else DIVER_SPAWN
    return [(spawn,), (spawn, DIVER_MOVE - 1 - t % DIVER_MOVE)]


def gone(x: int, to_right: bool) -> int:
    """How many columns have been come from where things come in."""
    return x if to_right else LAST - x


def bullets(left: Any, right: Any, first: int) -> list[list[Any]]:
    """Bullets as MinAtar has them, from two tuples of rows, of which row `first` of the screen is the first."""
    ways = ((left, False), (right, True))
    return [
        [x, first + number, way] for rows, way in ways for number, row in enumerate(rows)
        for x in range(SIZE) if row >> x & 1
    ]  # fmt: skip


def rows_of(flying: list[list[Any]], first: int, count: int) -> tuple[tuple[int, ...], ...]:
    """`bullets` the other way round: the rows of those that fly left, and of those that fly right."""
    rows = {way: [0] * count for way in (False, True)}
    for x, y, way in flying:
        rows[way][y - first] |= 1 << x
    return tuple(rows[False]), tuple(rows[True])


def enemies(state: Any) -> Iterator[tuple[int, int, bool, int, int]]:
    """(x, y, to the right, steps until it moves, digit of a sub or 0), of each lane those first that came first."""
    for k in range(LANES):
        right = state.to_right[k]
        there = [(m, state.fish[m][k], state.subs[m][k]) for m in range(TIMERS)]
        there = [one for one in there if any(one[1:])]  # most lanes are empty
        for x in reversed(range(SIZE)) if right else range(SIZE):
            for m, fish, subs in there:
                if fish >> x & 1:
                    yield x, k + 1, right, m, 0
                if kind := subs // 16**x % 16:
                    yield x, k + 1, right, m, kind
