"""minatar_asterix, all games at once: the rules of spec.md in their order, on tensors; K = 8 slots."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    DOWN,
    ENEMY,
    GOLD,
    GOLD_CHANCE,
    LAST_RAMP,
    LEFT,
    MOVE_SPEED,
    RAMP_STEPS,
    RIGHT,
    SIZE,
    SLOTS,
    SPAWN_SPEED,
    START,
    UP,
)

LAST = SIZE - 1


class Asterix(BatchedEnv):
    """N games; what belongs to slots is `[N, K]`, all else `[N]`; int32, but for `to_right`, which is bool.

    The engine carries out R1 (illegal actions) and R14 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        zero = torch.zeros_like(ctx.t)  # int32 [N]
        slots = zero[:, None].repeat(1, SLOTS)  # [N, K]
        return self.State(  # R2
            player_x=zero + START,
            player_y=zero + START,
            kind=slots,
            x=slots,
            to_right=slots != 0,
            spawn_timer=zero + SPAWN_SPEED,
            move_timer=zero + MOVE_SPEED,
            last_action=zero,
        )

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        spawn_speed, move_speed = self._speeds(ctx)  # R3: int32 [N] each
        sticky = ctx.draw.bernoulli("sticky", ctx.params.sticky_action_prob)  # R4: bool [N]
        act = torch.where(sticky, state.last_action, action.to(torch.int32))  # [N]
        kind, x, to_right = self._spawned(state, ctx)  # R5, R6: [N, K] each
        spawn_timer = torch.where(state.spawn_timer == 0, spawn_speed, state.spawn_timer)
        player_x = state.player_x - (act == LEFT).to(torch.int32) + (act == RIGHT).to(torch.int32)  # R7: [N]
        player_y = state.player_y - (act == UP).to(torch.int32) + (act == DOWN).to(torch.int32)
        player_x, player_y = player_x.clamp(0, LAST), player_y.clamp(1, SLOTS)
        row = torch.arange(1, SLOTS + 1, dtype=torch.int32, device=x.device) == player_y[:, None]  # bool [N, K]
        met = row & (x == player_x[:, None]) & (kind != 0)  # R8: bool [N, K]
        taken, hurt = met & (kind == GOLD), met & (kind == ENEMY)
        kind = torch.where(taken, 0, kind)
        move = state.move_timer == 0  # R9: bool [N]
        moved = x + torch.where(to_right, 1, -1).to(torch.int32)  # [N, K]
        x = torch.where(move[:, None], moved, x)
        kind = torch.where((x < 0) | (x > LAST), 0, kind)
        met = row & (x == player_x[:, None]) & (kind != 0) & move[:, None]  # R10
        taken, hurt = taken | (met & (kind == GOLD)), hurt | (met & (kind == ENEMY))
        kind = torch.where(met & (kind == GOLD), 0, kind)
        move_timer = torch.where(move, move_speed, state.move_timer)
        after = self.State(
            player_x=player_x,
            player_y=player_y,
            kind=kind,
            x=torch.where(kind == 0, 0, x),
            to_right=to_right & (kind != 0),
            spawn_timer=spawn_timer - 1,  # R11
            move_timer=move_timer - 1,
            last_action=act,
        )
        return Transition(after, taken.any(dim=-1).to(torch.float32), hurt.any(dim=-1))  # R12, R13

    def _speeds(self, ctx: Context) -> tuple[Tensor, Tensor]:
        """R3: spawn speed and move speed, int32 `[N]` each."""
        level = (ctx.t // RAMP_STEPS).clamp(max=LAST_RAMP)
        level = torch.where(ctx.params.difficulty_ramping, level, 0)
        return SPAWN_SPEED - level, MOVE_SPEED - level // 2

    def _spawned(self, state: Any, ctx: Context) -> tuple[Tensor, Tensor, Tensor]:
        """R5, R6: kind, column and direction `[N, K]` with the new thing among them."""
        draw, due = ctx.draw, state.spawn_timer == 0
        to_right, gold = draw.bernoulli("to_right", 0.5), draw.bernoulli("gold", GOLD_CHANCE)  # bool [N]
        empty = state.kind == 0  # bool [N, K]
        count = empty.sum(dim=-1, dtype=torch.int32)  # [N]
        place = draw.integers("place", count.clamp(min=1))
        before = empty.to(torch.int32).cumsum(dim=-1, dtype=torch.int32) - 1  # empty slots before each: [N, K]
        new = empty & (before == place[:, None]) & due[:, None]
        edge, what = torch.where(to_right, 0, LAST), torch.where(gold, GOLD, ENEMY)
        kind = torch.where(new, what[:, None].to(torch.int32), state.kind)
        x = torch.where(new, edge[:, None].to(torch.int32), state.x)
        return kind, x, torch.where(new, to_right[:, None], state.to_right)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        places = torch.arange(SIZE, dtype=torch.int32, device=state.x.device)  # R15
        row, column = places[None, :, None], places[None, None, :]  # [1, SIZE, 1], [1, 1, SIZE]
        player = (row == state.player_y[:, None, None]) & (column == state.player_x[:, None, None])
        behind = state.x - torch.where(state.to_right, 1, -1).to(torch.int32)  # [N, K]
        enemy, gold, trail = (  # columns of each row, -1 where there is none: [N, SIZE, 1]
            torch.nn.functional.pad(torch.where(there, value, -1), (1, 1), value=-1)[:, :, None]
            for there, value in (
                (state.kind == ENEMY, state.x),
                (state.kind == GOLD, state.x),
                (state.kind != 0, behind),
            )
        )
        layers = [player, enemy == column, trail == column, gold == column]  # bool [N, SIZE, SIZE] each
        return torch.stack(layers, dim=-1).to(torch.int8)  # [N, SIZE, SIZE, 4]

    @invariant("an empty slot is empty", rule="R16")
    def empty_slots(self, state: Any, ctx: Context) -> Tensor:
        return ((state.kind != 0) | ((state.x == 0) & ~state.to_right)).all(dim=-1)  # bool [N]

    @invariant("timers are within their speeds", rule="R17")
    def timers_bounded(self, state: Any, ctx: Context) -> Tensor:
        spawn_speed, move_speed = self._speeds(ctx)
        return (state.spawn_timer <= spawn_speed) & (state.move_timer <= move_speed)  # bool [N]
