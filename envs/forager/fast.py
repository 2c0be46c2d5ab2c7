"""forager, all at once: the rules of spec.md in their order, on tensors `[N, ...]`; K = 6 berries.

R9 and R10 go from berry to berry, on columns `[N]`, as the reference does. The same on `[N, K]` was tried: a
compiled step took several times as long, since six do not fill a vector and their masks go through memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

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

NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3
KINDS = 3


class Forager(BatchedEnv):
    """N foragers; `x`, `y` int32 `[N]`, `energy` float32 `[N]`, what belongs to berries `[N, K]`.

    The engine carries out R1 (illegal actions) and R15 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        draw = ctx.draw
        x = draw.integers("start_x", SIZE)  # R2: int32 [N]
        kind = draw.integers("berry_kind", KINDS)  # R4: int32 [N, K]
        return self.State(
            x=x,
            y=draw.integers("start_y", SIZE),
            berry_x=draw.integers("berry_x", SIZE),  # R3: int32 [N, K]
            berry_y=draw.integers("berry_y", SIZE),
            berry_kind=kind,
            energy=torch.full_like(x, START_ENERGY, dtype=torch.float32),  # R5: [N]
            alive=torch.ones_like(kind, dtype=torch.bool),  # [N, K]
        )

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        gust = ctx.draw.bernoulli("gust", ctx.params.gust)  # R6: bool [N]
        direction = (action.to(torch.int32) + gust.to(torch.int32)) % 4  # R7: int32 [N]
        x, y = self._move(state.x, state.y, direction)  # R8: int32 [N] each
        eaten = self._eaten(state, x, y)  # R9: K times bool [N]
        gain = self._gain(state.berry_kind, eaten)  # R10: float32 [N]
        energy = (state.energy - STEP_ENERGY + gain).clamp(min=0.0)  # R11, R12: float32 [N]
        reward = gain * GAIN_REWARD - STEP_COST  # R13: float32 [N]
        alive = self._left(state, eaten)  # bool [N, K]
        terminated = ~alive.any(dim=-1) | (energy <= 0.0)  # R14: bool [N]
        return Transition(state.replace(x=x, y=y, energy=energy, alive=alive), reward, terminated)

    def _move(self, x: Tensor, y: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        east_west = (direction == EAST).to(torch.int32) - (direction == WEST).to(torch.int32)  # [N]
        north_south = (direction == NORTH).to(torch.int32) - (direction == SOUTH).to(torch.int32)  # [N]
        return (x + east_west).clamp(0, SIZE - 1), (y + north_south).clamp(0, SIZE - 1)

    def _eaten(self, state: Any, x: Tensor, y: Tensor) -> list[Tensor]:
        here = [(state.berry_x[:, k] == x) & (state.berry_y[:, k] == y) for k in range(BERRIES)]
        return [state.alive[:, k] & here[k] for k in range(BERRIES)]  # K times bool [N]

    def _gain(self, kind: Tensor, counted: Sequence[Tensor]) -> Tensor:
        gain = torch.zeros_like(kind[:, 0], dtype=torch.float32)  # [N]
        for k in range(BERRIES):
            # A berry that does not count adds 0.0, which leaves a sum of gains as it was, to the bit.
            gain = gain + torch.where(counted[k], self._worth(kind[:, k]), 0.0)
        return gain

    def _worth(self, kind: Tensor) -> Tensor:
        small = torch.full_like(kind, GAIN_SMALL, dtype=torch.float32)  # as kind, [N] or [N, K]
        medium_or_small = torch.where(kind == 1, GAIN_MEDIUM, small)
        return torch.where(kind == 2, GAIN_LARGE, medium_or_small)

    def _left(self, state: Any, eaten: Sequence[Tensor]) -> Tensor:
        left = [state.alive[:, k] & ~eaten[k] for k in range(BERRIES)]
        return torch.stack(left, dim=-1)  # bool [N, K]

    def observe(self, state: Any, ctx: Context) -> Tensor:
        own = [
            state.x.to(torch.float32) / (SIZE - 1),  # R16: float32 [N] each
            state.y.to(torch.float32) / (SIZE - 1),
            state.energy,
            self._living(state).to(torch.float32) / BERRIES,
            ctx.t.clamp(max=MAX_EPISODE_STEPS).to(torch.float32) / MAX_EPISODE_STEPS,
        ]
        east = (state.berry_x - state.x[:, None]).to(torch.float32) / (SIZE - 1)  # R17: float32 [N, K] each
        north = (state.berry_y - state.y[:, None]).to(torch.float32) / (SIZE - 1)
        worth = self._worth(state.berry_kind) / GAIN_LARGE
        berries = [torch.where(state.alive, column, 0.0) for column in (east, north, worth)]
        return torch.cat([torch.stack(own, dim=-1), *berries], dim=-1)  # [N, 23]

    def info(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        eaten = BERRIES - self._living(state)  # R18: int32 [N]
        return {"eaten": eaten, "gain": self._gain_so_far(state)}  # R19: float32 [N]

    def _living(self, state: Any) -> Tensor:
        return state.alive.sum(dim=-1, dtype=torch.int32)  # [N], a sum of integers: exact in any order

    def _gain_so_far(self, state: Any) -> Tensor:
        return self._gain(state.berry_kind, (~state.alive).unbind(-1))  # float32 [N]

    @invariant("the forager is on the grid", rule="R20")
    def on_the_grid(self, state: Any, ctx: Context) -> Tensor:
        return (state.x >= 0) & (state.x < SIZE) & (state.y >= 0) & (state.y < SIZE)  # bool [N]

    @invariant("energy is between nothing and the start energy plus all gains", rule="R21")
    def energy_bounded(self, state: Any, ctx: Context) -> Tensor:
        return (state.energy >= 0.0) & (state.energy <= self._gain_so_far(state) + START_ENERGY)  # bool [N]

    @invariant("after a step no living berry is under the forager", rule="R22")
    def nothing_left_under_foot(self, state: Any, ctx: Context) -> Tensor:
        under_foot = torch.stack(self._eaten(state, state.x, state.y), dim=-1)  # bool [N, K]
        return (ctx.t == 0) | ~under_foot.any(dim=-1)  # bool [N]

    @invariant("energy is start energy minus steps plus gains, until it is used up", rule="R23")
    def energy_accounted(self, state: Any, ctx: Context) -> Tensor:
        spent = ctx.t.to(torch.float32) * STEP_ENERGY  # float32 [N]
        account = START_ENERGY - spent + self._gain_so_far(state)  # float32 [N]
        return (state.energy == 0.0) | ((state.energy - account).abs() < LEDGER_SLACK)  # bool [N]
