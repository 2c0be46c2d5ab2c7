"""taxi, all at once: the rules of spec.md in their order, on tensors `[N]`.

The walls are one mask of bits, so that whether a way is open is a shift, and nothing is looked up in a table.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import ABOARD, DELIVERY_REWARD, ILLEGAL_REWARD, OPEN_EAST, SIZE, STARTS, STEP_REWARD

SOUTH, NORTH, EAST, WEST, PICK_UP, DROP_OFF = 0, 1, 2, 3, 4, 5
LAST = SIZE - 1


class Taxi(BatchedEnv):
    """N taxis; all fields are int32 `[N]` but `fickle`, which is bool `[N]`.

    The engine carries out R1 (illegal actions) and R15 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        start = ctx.draw.integers("start", STARTS)  # R2: int32 [N]
        cell = start // 12
        row = cell // SIZE
        passenger, other = start // 3 % 4, start % 3
        fickle = ctx.params.fickle_passenger & (ctx.draw.uniform("fickle") < ctx.params.fickle_probability)  # R3
        return self.State(
            row=row, column=cell - row * SIZE, passenger=passenger,
            destination=other + (other >= passenger).to(torch.int32), fickle=fickle,
        )  # fmt: skip

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        action = action.to(torch.int32)
        heading = self._heading(action, ctx)  # R5, R6: int32 [N]
        goes = (action < PICK_UP) & self._is_open(state, action) & self._is_open(state, heading)  # R4, R7: bool [N]
        down = (heading == SOUTH).to(torch.int32) - (heading == NORTH).to(torch.int32)  # R8: int32 [N] each
        right = (heading == EAST).to(torch.int32) - (heading == WEST).to(torch.int32)
        row, column = state.row + torch.where(goes, down, 0), state.column + torch.where(goes, right, 0)
        here = self._place(state)  # int32 [N]
        aboard = state.passenger == ABOARD  # bool [N]
        picked = (action == PICK_UP) & ~aboard & (here == state.passenger)  # R9
        dropped = (action == DROP_OFF) & aboard & (here >= 0)  # R10
        delivered = dropped & (here == state.destination)
        passenger = torch.where(picked, ABOARD, torch.where(dropped, here, state.passenger))
        turns = ctx.params.fickle_passenger & state.fickle & aboard & goes  # R11: bool [N]
        after = self.State(
            row=row, column=column, passenger=passenger,
            destination=torch.where(turns, self._other(state, ctx), state.destination), fickle=state.fickle & ~turns,
        )  # fmt: skip
        illegal = (action >= PICK_UP) & ~picked & ~dropped
        return Transition(after, self._reward(delivered, illegal), delivered)  # R12, R13, R14

    def _heading(self, action: Tensor, ctx: Context) -> Tensor:
        """Where a taxi that moves goes: int32 `[N]`."""
        u, ahead = ctx.draw.uniform("slip"), ctx.params.rainy_probability  # R5: float64 [N] each
        side = (1.0 - ahead) / 2.0  # R6: the sums that NumPy's cumsum makes, in its order
        first = ahead + side
        left, right = (u >= ahead) & (u < first), (u >= first) & (u < first + side)
        along = action < EAST  # south and north
        to_left = torch.where(along, action + 2, 3 - action)
        to_right = torch.where(along, 3 - action, action - 2)
        slipped = torch.where(left, to_left, torch.where(right, to_right, action))
        return torch.where(ctx.params.rainy, slipped, action)

    def _is_open(self, state: Any, heading: Tensor) -> Tensor:
        """R7: bool `[N]`."""
        cell = state.row * SIZE + state.column  # int32 [N]
        east = (torch.full_like(cell, OPEN_EAST) >> cell) & 1
        west = (torch.full_like(cell, OPEN_EAST * 2) >> cell) & 1
        south, north = state.row < LAST, state.row > 0
        sideways = torch.where(heading == EAST, east, west) == 1
        return torch.where(heading == SOUTH, south, torch.where(heading == NORTH, north, sideways))

    def _place(self, state: Any) -> Tensor:
        """Number of the place where the taxi stands, -1 on the road: int32 `[N]`."""
        top, bottom = state.row == 0, state.row == LAST
        none = torch.full_like(state.row, -1)
        in_top = torch.where(state.column == 0, 0, torch.where(state.column == LAST, 1, none))
        in_bottom = torch.where(state.column == 0, 2, torch.where(state.column == 3, 3, none))
        return torch.where(top, in_top, torch.where(bottom, in_bottom, none))

    def _other(self, state: Any, ctx: Context) -> Tensor:
        whim = ctx.draw.integers("whim", 3)  # R11: int32 [N]
        return whim + (whim >= state.destination).to(torch.int32)

    def _reward(self, delivered: Tensor, illegal: Tensor) -> Tensor:
        usual = torch.full_like(delivered, STEP_REWARD, dtype=torch.float32)  # [N]
        return torch.where(delivered, DELIVERY_REWARD, torch.where(illegal, ILLEGAL_REWARD, usual))

    def observe(self, state: Any, ctx: Context) -> Tensor:
        cell = state.row * SIZE + state.column
        return ((cell * 5 + state.passenger) * 4 + state.destination).to(torch.int64)  # R16: [N]

    def action_mask(self, state: Any, ctx: Context) -> Tensor:
        headings = [torch.full_like(state.row, heading) for heading in (SOUTH, NORTH, EAST, WEST)]
        here, aboard = self._place(state), state.passenger == ABOARD
        able = [self._is_open(state, heading) for heading in headings]  # R17: bool [N] each
        return torch.stack([*able, ~aboard & (here == state.passenger), aboard & (here >= 0)], dim=-1)  # [N, 6]

    @invariant("nobody waits where they want to go, unless just delivered", rule="R18")
    def wants_to_go_elsewhere(self, state: Any, ctx: Context) -> Tensor:
        delivered = (ctx.t > 0) & (self._place(state) == state.destination)
        return (state.passenger != state.destination) | delivered  # bool [N]

    @invariant("an episode begins with the passenger outside", rule="R19")
    def begins_outside(self, state: Any, ctx: Context) -> Tensor:
        return (ctx.t > 0) | (state.passenger != ABOARD)  # bool [N]
