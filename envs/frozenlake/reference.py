"""frozenlake, one player at a time: Gymnasium's own FrozenLakeEnv, a state put into it and read out again.

The map, its transitions with their probabilities, what they pay and where they end are Gymnasium's. Our draws are
handed to it as the generator that it asks. Its transition table is made anew for each map; the last few are kept.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from .maps import desc_of, lines_of, mask_of


class Generator:
    """The one method of NumPy's generator that the env asks for."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


@functools.lru_cache(maxsize=1024)
def lake(desc: tuple[str, ...], slippery: bool, success_rate: float, rewards: tuple[float, ...]) -> Any:
    """Gymnasium's env of this map. A map without an S has no distribution of starts, and none is asked for."""
    letters: Any = [list(line) for line in desc]  # of one column, Gymnasium understands no strings
    schedule: Any = rewards
    with np.errstate(invalid="ignore"):
        return FrozenLakeEnv(
            desc=letters, is_slippery=slippery, success_rate=success_rate, reward_schedule=schedule
        )  # fmt: skip


class FrozenLake(ReferenceEnv):
    """A player on the ice; state of Python ints.

    The engine carries out R1 (illegal actions) and R12 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        desc = desc_of(ctx.params._asdict())  # R2, R3
        gym = self._lake(desc, ctx)
        gym.np_random = Generator(0.0)  # R4: there is one start, whatever is drawn
        gym.reset()
        rows, columns = gym.desc.shape
        row, column = divmod(int(gym.s), columns)
        holes, goals = (mask_of(np.flatnonzero(gym.desc == letter).tolist()) for letter in (b"H", b"G"))
        return self.State(row=row, column=column, rows=rows, columns=columns, holes=holes, goals=goals)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        gym = self._lake(lines_of(state.rows, state.columns, state.holes, state.goals), ctx)
        gym.s = state.row * state.columns + state.column
        gym.np_random = Generator(ctx.draw.uniform("slip"))  # R5
        after, reward, terminated, _, _ = gym.step(action)  # R6, R7, R8, R9, R10, R11
        row, column = divmod(after, state.columns)
        return Transition(state.replace(row=row, column=column), Float32(reward), bool(terminated))

    def _lake(self, desc: list[str], ctx: Context) -> Any:
        params = ctx.params
        rewards = tuple(float(x) for x in (params.goal_reward, params.hole_reward, params.frozen_reward))
        return lake(tuple(desc), bool(params.slippery), float(params.success_rate), rewards)

    def observe(self, state: Any, ctx: Context) -> int:
        return state.row * state.columns + state.column  # R13

    @invariant("the player is on the lake", rule="R14")
    def on_the_lake(self, state: Any, ctx: Context) -> bool:
        return state.row < state.rows and state.column < state.columns

    @invariant("no cell is both a hole and a goal", rule="R15")
    def one_thing_a_cell(self, state: Any, ctx: Context) -> bool:
        return state.holes & state.goals == 0

    @invariant("an episode begins on ice", rule="R16")
    def begins_on_ice(self, state: Any, ctx: Context) -> bool:
        return ctx.t > 0 or (state.holes | state.goals) >> self.observe(state, ctx) & 1 == 0

    @sometimes("the player gets to a goal", rule="R10")
    def arrives(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return bool(outcome.state.goals >> self.observe(outcome.state, ctx) & 1) and outcome.terminated

    @sometimes("the edge keeps the player where it is", rule="R8")
    def held_by_the_edge(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return outcome.state == state and not outcome.terminated
