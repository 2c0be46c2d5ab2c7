"""minatar_spaceinvaders, all games at once: the rules of spec.md in their order, on int32 tensors.

What is on the screen is kept by rows, as bits: whole blocks of aliens and bullets move by shifts.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    FIRE,
    FIRE_WAIT,
    LAST_RAMP,
    LAST_ROW,
    LEFT,
    MOVE_WAIT,
    RIGHT,
    SHOT_WAIT,
    SIZE,
    START_POS,
    WAVE_ROW,
    WAVE_ROWS,
)

LAST = SIZE - 1
FAR = 2 * SIZE  # beyond every distance


class SpaceInvaders(BatchedEnv):
    """N games; `shots`, `bombs` and `aliens` are `[N, SIZE]`, all else `[N]`; int32, but for `to_right`, which is bool.

    The engine carries out R1 (illegal actions) and R17 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        zero = torch.zeros_like(ctx.t)  # R2: int32 [N]
        none = zero[:, None].repeat(1, SIZE)
        return self.State(
            pos=zero + START_POS,
            shots=none,
            bombs=none,
            aliens=self._wave(none),
            to_right=zero != 0,
            fire_timer=zero,
            move_timer=zero + MOVE_WAIT,
            shot_timer=zero + SHOT_WAIT,
            ramp_index=zero,
            last_action=zero,
        )

    def _wave(self, like: Tensor) -> Tensor:
        """A new block of aliens, as `like`."""
        rows = torch.arange(SIZE, dtype=torch.int32, device=like.device)
        return torch.where(rows < WAVE_ROWS, WAVE_ROW, torch.zeros_like(like))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        sticky = ctx.draw.bernoulli("sticky", ctx.params.sticky_action_prob)  # R3: bool [N]
        act = torch.where(sticky, state.last_action, action.to(torch.int32))  # [N]
        fires = (act == FIRE) & (state.fire_timer == 0)  # R4: bool [N]
        pos = state.pos - (act == LEFT).to(torch.int32) + (act == RIGHT).to(torch.int32)
        pos = pos.clamp(0, LAST)
        here = torch.ones_like(pos) << pos  # [N]; a shot leaves the cannon where it stands, which then does not move
        above = torch.where(fires, here, 0)  # R5: the row that it moves to
        shots = torch.cat([state.shots[:, 1:LAST], (state.shots[:, LAST] | above)[:, None]], dim=-1)  # [N, SIZE - 1]
        shots = torch.cat([shots, torch.zeros_like(shots[:, :1])], dim=-1)
        bombs = torch.cat([torch.zeros_like(state.bombs[:, :1]), state.bombs[:, :LAST]], dim=-1)  # R6
        hit = ((bombs[:, LAST_ROW] | state.aliens[:, LAST_ROW]) & here) != 0  # R6, R7: bool [N]
        aliens, to_right, landed = self._marched(state)  # R8, R9, R10
        moves = state.move_timer == 0
        most = torch.minimum(self._count(state.aliens), MOVE_WAIT - state.ramp_index)  # R9: [N]
        hit = hit | landed | ((aliens[:, LAST_ROW] & here) != 0)  # R11
        bombs = bombs | self._bomb(aliens, pos, state.shot_timer == 0)  # R12
        shot = aliens & shots  # R13: [N, SIZE]
        aliens, shots = aliens ^ shot, shots ^ shot
        cleared = (aliens == 0).all(dim=-1)  # R14: bool [N]
        faster = cleared & ctx.params.difficulty_ramping & (state.ramp_index < LAST_RAMP)
        after = self.State(
            pos=pos,
            shots=shots,
            bombs=bombs,
            aliens=torch.where(cleared[:, None], self._wave(aliens), aliens),
            to_right=to_right,
            fire_timer=(torch.where(fires, FIRE_WAIT, state.fire_timer) - 1).clamp(min=0),
            move_timer=torch.where(moves, most, state.move_timer) - 1,
            shot_timer=torch.where(state.shot_timer == 0, SHOT_WAIT, state.shot_timer) - 1,
            ramp_index=state.ramp_index + faster.to(torch.int32),
            last_action=act,
        )
        return Transition(after, self._count(shot).to(torch.float32), hit)  # R15, R16

    def _marched(self, state: Any) -> tuple[Tensor, Tensor, Tensor]:
        """R8, R10: aliens `[N, SIZE]`, their direction `[N]`, whether they have come down from the last row `[N]`."""
        aliens, moves = state.aliens, state.move_timer == 0
        edge = torch.where(state.to_right, 1 << LAST, 1)[:, None]  # [N, 1]
        turns = moves & ((aliens & edge) != 0).any(dim=-1)
        sideways = torch.where(state.to_right[:, None], aliens << 1, aliens >> 1)
        down = torch.cat([aliens[:, LAST:], aliens[:, :LAST]], dim=-1)
        marched = torch.where(turns[:, None], down, torch.where(moves[:, None], sideways, aliens))
        return marched, state.to_right ^ turns, turns & (aliens[:, LAST_ROW] != 0)

    def _bomb(self, aliens: Tensor, pos: Tensor, due: Tensor) -> Tensor:
        """R12: the new bullet of the aliens `[N, SIZE]`, none where it is not due."""
        columns = aliens[:, 0]
        for row in range(1, SIZE):
            columns = columns | aliens[:, row]  # [N]: those with an alien
        nearest = torch.full_like(pos, FAR)  # twice the distance, 1 more to the right: the left of two comes first
        for x in range(SIZE):
            far = torch.where(pos < x, 2 * (x - pos) + 1, 2 * (pos - x))
            nearest = torch.where(((columns >> x) & 1) == 1, torch.minimum(nearest, far), nearest)
        distance = nearest >> 1
        x = torch.where((nearest & 1) == 1, pos + distance, pos - distance).clamp(0, LAST)  # [N]
        bit = torch.where(due, torch.ones_like(x) << x, 0)
        rows: list[Tensor] = []
        for row in reversed(range(SIZE)):  # the lowest alien of that column shoots
            here = aliens[:, row] & bit
            rows.append(here)
            bit = bit ^ here
        return torch.stack(rows[::-1], dim=-1)

    def _count(self, rows: Tensor) -> Tensor:
        """How many bits are set in rows of ten bits `[N, SIZE]`, int32 `[N]`: pairs, fours, eights, all."""
        pairs = rows - ((rows >> 1) & 0x155)
        fours = (pairs & 0x333) + ((pairs >> 2) & 0x333)
        eights = (fours & 0x30F) + ((fours >> 4) & 0x0F)
        return ((eights & 0xFF) + (eights >> 8)).sum(dim=-1, dtype=torch.int32)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        places = torch.arange(SIZE, dtype=torch.int32, device=state.pos.device)  # R18
        row, column = places[None, :, None], places[None, None, :]  # [1, SIZE, 1], [1, 1, SIZE]
        cannon = (row == LAST_ROW) & (column == state.pos[:, None, None])  # bool [N, SIZE, SIZE] each
        aliens, shots, bombs = (
            ((rows[:, :, None] >> column) & 1) == 1 for rows in (state.aliens, state.shots, state.bombs)
        )
        to_right = state.to_right[:, None, None]
        layers = [cannon, aliens, aliens & ~to_right, aliens & to_right, shots, bombs]
        return torch.stack(layers, dim=-1).to(torch.int8)  # [N, SIZE, SIZE, 6]

    @invariant("there is an alien", rule="R19")
    def aliens_left(self, state: Any, ctx: Context) -> Tensor:
        return (state.aliens != 0).any(dim=-1)  # bool [N]

    @invariant("the cannon's bullets have left it", rule="R20")
    def shots_on_their_way(self, state: Any, ctx: Context) -> Tensor:
        return state.shots[:, LAST_ROW] == 0  # bool [N]

    @invariant("the aliens wait no longer than they may", rule="R21")
    def moves_in_time(self, state: Any, ctx: Context) -> Tensor:
        return state.move_timer <= MOVE_WAIT - state.ramp_index  # bool [N]
