"""orchard, all pickers at once: the rules of spec.md in their order, on tensors with a leading `[N]`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.portable.tensor import ordered_sum
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import BAG, BIRD, EMPTY, FULL, GATE, PRICE, TREES, WAGE

CLOSER, AWAY, PICK, SELL = 0, 1, 2, 3


class Orchard(BatchedEnv):
    """N pickers; `x`, `held` int32 `[N]`, `fruit` int32 `[N, 4]`, `bag` int32 `[N, 3]`.

    The engine carries out R1 (illegal actions) and R11 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        x = ctx.draw.integers("start_x", TREES)  # R2: int32 [N]
        fruit = ctx.draw.integers("start_fruit", FULL + 1)  # R3: int32 [N, 4]
        bag = torch.full_like(fruit[:, :BAG], EMPTY)  # int32 [N, 3]
        return self.State(x=x, fruit=fruit, bag=bag, held=torch.zeros_like(x))

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        x = self._walk(state, action)  # R4: int32 [N]
        fruit = self._grown(state.fruit, ctx.draw.integers("grows", TREES))  # R5: int32 [N, 4]
        fruit = self._eaten(fruit, ctx.draw.bernoulli("bird", BIRD))  # R6: int32 [N, 4]

        picks = (action == PICK) & (self._at(fruit, x) > 0) & (state.held < BAG)  # R7: bool [N]
        fruit = fruit - (self._is(x, TREES) & picks[:, None]).to(torch.int32)
        bag = torch.where(self._is(state.held, BAG) & picks[:, None], x[:, None], state.bag)  # int32 [N, 3]
        held = state.held + picks.to(torch.int32)

        sells = action == SELL  # bool [N]
        reward = torch.where(sells, self._price(bag), 0.0) - WAGE  # R9: float32 [N]
        full = held == BAG
        bag = torch.where(sells[:, None], EMPTY, bag)  # R8
        held = torch.where(sells, 0, held)
        x = torch.where(sells, x + self._halved(GATE - x), x)
        return Transition(self.State(x=x, fruit=fruit, bag=bag, held=held), reward, sells & full)  # R10

    def _is(self, index: Tensor, size: int) -> Tensor:
        return torch.arange(size, device=index.device) == index[:, None]  # bool [N, size]

    def _at(self, items: Tensor, index: Tensor) -> Tensor:
        return items.gather(1, index.to(torch.int64)[:, None])[:, 0]  # [N]

    def _walk(self, state: Any, action: Tensor) -> Tensor:
        move = (action == AWAY).to(torch.int32) - (action == CLOSER).to(torch.int32)  # [N]
        x = (state.x + move).clamp(0, TREES - 1)
        for _ in range(TREES - 2):  # no further can she come
            walks_on = (x > 0) & (x < TREES - 1) & (self._at(state.fruit, x) == 0)  # bool [N]
            x = torch.where(walks_on, x + move, x)
        return x

    def _grown(self, fruit: Tensor, grows: Tensor) -> Tensor:
        more = self._is(grows, TREES).to(torch.int32)  # [N, 4]
        return (fruit + more).clamp(max=FULL)

    def _eaten(self, fruit: Tensor, bird: Tensor) -> Tensor:
        most = fruit.argmax(dim=-1)  # int64 [N], the first of equals
        eaten = self._is(most, TREES) & bird[:, None]  # bool [N, 4]
        return (fruit - eaten.to(torch.int32)).clamp(min=0)

    def _halved(self, way: Tensor) -> Tensor:
        return torch.div(way, 2, rounding_mode="trunc")  # int32 [N]

    def _price(self, bag: Tensor) -> Tensor:
        prices = (bag + 1).to(torch.float32) * PRICE  # [N, 3]; EMPTY + 1 is 0
        return ordered_sum(prices)  # [N]

    def observe(self, state: Any, ctx: Context) -> Tensor:
        taken = state.bag != EMPTY  # bool [N, 3]
        kinds = torch.where(taken, state.bag, 0).sum(dim=-1, dtype=torch.int32)  # [N]
        mean = kinds.to(torch.float32) / state.held.clamp(min=1)  # [N]; 0 / 1 with an empty bag
        way = (GATE - state.x).to(torch.float32) / (TREES - 1)
        own = torch.stack([way, state.held.to(torch.float32) / BAG, mean], dim=-1)  # R12: [N, 3]
        trees = state.fruit.to(torch.float32) / FULL  # R13: [N, 4]
        counts = [(state.bag == kind).sum(dim=-1, dtype=torch.int32) for kind in range(TREES)]  # each [N]
        return torch.cat([own, trees, torch.stack(counts, dim=-1).to(torch.float32) / BAG], dim=-1)  # [N, 11]

    @invariant("the bag is filled from its first place on", rule="R14")
    def filled_in_order(self, state: Any, ctx: Context) -> Tensor:
        taken = state.bag != EMPTY  # bool [N, 3]
        below = torch.arange(BAG, device=taken.device) < state.held[:, None]  # bool [N, 3]
        return (taken == below).all(dim=-1)  # bool [N]
