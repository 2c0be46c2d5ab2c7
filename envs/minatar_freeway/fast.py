"""minatar_freeway, all games at once: the rules of spec.md in their order, on int32 tensors; K = 8 cars.

Cars never meet and each has a row of its own, so that all are moved at once; at most one can be on the chicken's row.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import CARS, COLUMN, DIGITS, DOWN, MOVE_WAIT, SIZE, START_POS, TOP_SPEED, UP

LAST = SIZE - 1


class Freeway(BatchedEnv):
    """N games; what belongs to cars is int32 `[N, K]`, all else int32 `[N]`.

    The engine carries out R1 (illegal actions).
    """

    def reset(self, ctx: Context) -> Any:
        speed = self._speeds(ctx.draw.integers("start_speeds", 10**DIGITS))  # R2: [N, K]
        pos = torch.full_like(speed[:, 0], START_POS)  # R3
        return self.State(
            pos=pos,
            move_timer=torch.full_like(pos, MOVE_WAIT),
            car_x=torch.zeros_like(speed),
            car_timer=speed.abs(),
            car_speed=speed,
            last_action=torch.zeros_like(pos),
        )

    def _speeds(self, drawn: Tensor) -> Tensor:
        """R2: of numbers of four digits `[N, 2]` the speeds `[N, K]`."""
        digits = [drawn[:, k // DIGITS] // 10 ** (k % DIGITS) % 10 for k in range(CARS)]
        digit = torch.stack(digits, dim=-1)
        return torch.where(digit < TOP_SPEED, digit + 1, TOP_SPEED - 1 - digit)

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        sticky = ctx.draw.bernoulli("sticky", ctx.params.sticky_action_prob)  # R4: bool [N]
        act = torch.where(sticky, state.last_action, action.to(torch.int32))  # [N]
        moves = ((act == UP) | (act == DOWN)) & (state.move_timer == 0)  # R5: bool [N]
        move_timer = torch.where(moves, MOVE_WAIT, state.move_timer)
        way = torch.where(act == UP, -1, 1).to(torch.int32)
        pos = torch.where(moves, state.pos + way, state.pos).clamp(max=LAST)
        crossed = pos == 0  # R6: bool [N]
        drawn = self._speeds(ctx.draw.integers("new_speeds", 10**DIGITS))  # [N, K]
        speed = torch.where(crossed[:, None], drawn, state.car_speed)
        timer = torch.where(crossed[:, None], drawn.abs(), state.car_timer)
        pos = torch.where(crossed, START_POS, pos)
        pos = self._hit(pos, state.car_x)  # R7
        x, timer = self._driven(state.car_x, timer, speed)  # R8
        pos = self._hit(pos, x)  # R9
        move_timer = (move_timer - 1).clamp(min=0)  # R10
        after = self.State(pos, move_timer, x, timer, speed, act)
        reward = crossed.to(torch.float32)  # R11
        return Transition(after, reward, ctx.t >= ctx.params.time_limit)  # R12

    def _hit(self, pos: Tensor, x: Tensor) -> Tensor:
        """R7, R9: the row of the chicken `[N]`, back at the start where a car is on it."""
        hit = torch.zeros_like(pos, dtype=torch.bool)
        for k in range(CARS):
            hit = hit | ((pos == k + 1) & (x[:, k] == COLUMN))
        return torch.where(hit, START_POS, pos)

    def _driven(self, x: Tensor, timer: Tensor, speed: Tensor) -> tuple[Tensor, Tensor]:
        """R8: columns and timers `[N, K]` after the cars have moved."""
        due = timer == 0
        moved = x + torch.where(speed > 0, 1, -1).to(torch.int32)
        moved = torch.where(moved < 0, LAST, torch.where(moved > LAST, 0, moved))
        return torch.where(due, moved, x), torch.where(due, speed.abs(), timer - 1)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        places = torch.arange(SIZE, dtype=torch.int32, device=state.pos.device)  # R13
        row, column = places[None, :, None], places[None, None, :]  # [1, SIZE, 1], [1, 1, SIZE]
        chicken = (row == state.pos[:, None, None]) & (column == COLUMN)  # bool [N, SIZE, SIZE]
        nothing = torch.full_like(state.pos[:, None], -1)  # [N, 1]: on the first and last row
        behind = state.car_x - torch.where(state.car_speed > 0, 1, -1).to(torch.int32)
        behind = torch.where(behind < 0, LAST, torch.where(behind > LAST, 0, behind))
        x, behind, slow = (
            torch.cat([nothing, value, nothing], dim=-1)[:, :, None]  # [N, SIZE, 1]
            for value in (state.car_x, behind, state.car_speed.abs())
        )
        came = behind == column  # bool [N, SIZE, SIZE]
        trails = [came & (slow == speed) for speed in range(1, TOP_SPEED + 1)]
        return torch.stack([chicken, x == column, *trails], dim=-1).to(torch.int8)  # [N, SIZE, SIZE, 7]

    @invariant("no car is on the chicken", rule="R14")
    def alive(self, state: Any, ctx: Context) -> Tensor:
        rows = torch.arange(1, CARS + 1, dtype=torch.int32, device=state.pos.device)
        return ~((state.car_x == COLUMN) & (state.pos[:, None] == rows)).any(dim=-1)  # bool [N]

    @invariant("cars have a speed, and wait no longer than it says", rule="R15")
    def cars_in_time(self, state: Any, ctx: Context) -> Tensor:
        slow = state.car_speed.abs()
        return ((state.car_timer <= slow) & (slow != 0)).all(dim=-1)  # bool [N]
