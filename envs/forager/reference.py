"""forager, one at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import (
    BERRIES,
    GAIN_LARGE,
    GAIN_MEDIUM,
    GAIN_REWARD,
    GAIN_SMALL,
    LEDGER_SLACK,
    MAX_EPISODE_STEPS,
    SIZE,
    START_ENERGY,
    STEP_COST,
    STEP_ENERGY,
)

NORTH, EAST, SOUTH = 0, 1, 2  # and 3 is west
KINDS = 3


class Forager(ReferenceEnv):
    """A forager among berries; state of Python scalars and tuples, one entry for each berry.

    The engine carries out R1 (illegal actions) and R15 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        draw, berries = ctx.draw, range(BERRIES)
        return self.State(
            x=draw.integers("start_x", SIZE),  # R2
            y=draw.integers("start_y", SIZE),
            berry_x=tuple(draw.integers("berry_x", SIZE, index=k) for k in berries),  # R3
            berry_y=tuple(draw.integers("berry_y", SIZE, index=k) for k in berries),
            berry_kind=tuple(draw.integers("berry_kind", KINDS, index=k) for k in berries),  # R4
            energy=Float32(START_ENERGY),  # R5
            alive=tuple(True for _ in berries),
        )

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        gust = ctx.draw.bernoulli("gust", ctx.params.gust)  # R6
        direction = (action + 1) % 4 if gust else action  # R7
        x, y = self._move(state.x, state.y, direction)  # R8
        eaten = self._eaten(state, x, y)  # R9
        gain = self._gain(state.berry_kind, eaten)  # R10
        energy = self._spend(state.energy, gain)  # R11, R12
        reward = Float32(GAIN_REWARD) * gain - STEP_COST  # R13
        alive = tuple(state.alive[k] and not eaten[k] for k in range(BERRIES))
        terminated = not any(alive) or energy <= 0.0  # R14
        return Transition(state.replace(x=x, y=y, energy=energy, alive=alive), reward, terminated)

    def _move(self, x: int, y: int, direction: int) -> tuple[int, int]:
        if direction == NORTH:
            y = y + 1
        elif direction == EAST:
            x = x + 1
        elif direction == SOUTH:
            y = y - 1
        else:  # west
            x = x - 1
        return min(max(x, 0), SIZE - 1), min(max(y, 0), SIZE - 1)

    def _eaten(self, state: Any, x: int, y: int) -> tuple[bool, ...]:
        return tuple(
            state.alive[k] and state.berry_x[k] == x and state.berry_y[k] == y for k in range(BERRIES)
        )

    def _gain(self, kinds: tuple[int, ...], counted: tuple[bool, ...]) -> Float32:
        gain = Float32(0.0)
        for k in range(BERRIES):
            if counted[k]:
                gain = gain + self._worth(kinds[k])
        return gain

    def _worth(self, kind: int) -> Float32:
        if kind == 0:
            return Float32(GAIN_SMALL)
        if kind == 1:
            return Float32(GAIN_MEDIUM)
        return Float32(GAIN_LARGE)

    def _spend(self, energy: Float32, gain: Float32) -> Float32:
        energy = energy - STEP_ENERGY + gain
        return Float32(0.0) if energy < 0.0 else energy

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        elapsed = min(ctx.t, MAX_EPISODE_STEPS)
        berries = [self._offered(state, k) for k in range(BERRIES)]  # R17
        return (
            Float32(state.x) / (SIZE - 1),  # R16
            Float32(state.y) / (SIZE - 1),
            state.energy,
            Float32(sum(state.alive)) / BERRIES,
            Float32(elapsed) / MAX_EPISODE_STEPS,
            *(east for east, _, _ in berries),
            *(north for _, north, _ in berries),
            *(worth for _, _, worth in berries),
        )

    def _offered(self, state: Any, k: int) -> tuple[Float32, Float32, Float32]:
        if not state.alive[k]:
            return Float32(0.0), Float32(0.0), Float32(0.0)
        east = Float32(state.berry_x[k] - state.x) / (SIZE - 1)
        north = Float32(state.berry_y[k] - state.y) / (SIZE - 1)
        return east, north, self._worth(state.berry_kind[k]) / GAIN_LARGE

    def info(self, state: Any, ctx: Context) -> dict[str, Any]:
        return {"eaten": BERRIES - sum(state.alive), "gain": self._gain_so_far(state)}  # R18, R19

    def _gain_so_far(self, state: Any) -> Float32:
        return self._gain(state.berry_kind, tuple(not alive for alive in state.alive))

    @invariant("the forager is on the grid", rule="R20")
    def on_the_grid(self, state: Any, ctx: Context) -> bool:
        return 0 <= state.x < SIZE and 0 <= state.y < SIZE

    @invariant("energy is between nothing and the start energy plus all gains", rule="R21")
    def energy_bounded(self, state: Any, ctx: Context) -> bool:
        return 0.0 <= state.energy <= self._gain_so_far(state) + START_ENERGY

    @invariant("after a step no living berry is under the forager", rule="R22")
    def nothing_left_under_foot(self, state: Any, ctx: Context) -> bool:
        return ctx.t == 0 or not any(self._eaten(state, state.x, state.y))

    @invariant("energy is start energy minus steps plus gains, until it is used up", rule="R23")
    def energy_accounted(self, state: Any, ctx: Context) -> bool:
        account = START_ENERGY - Float32(STEP_ENERGY) * ctx.t + self._gain_so_far(state)
        return state.energy == 0.0 or abs(state.energy - account) < LEDGER_SLACK

    @sometimes("two berries are eaten in one step", rule="R9")
    def two_at_once(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        return sum(state.alive) - sum(outcome.state.alive) >= 2

    @sometimes("a step against the edge ends on a berry", rule="R8")
    def eaten_at_the_edge(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        stays = (outcome.state.x, outcome.state.y) == (state.x, state.y)
        return stays and outcome.state.alive != state.alive
