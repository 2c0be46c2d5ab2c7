"""orchard, one picker at a time: the rules of spec.md in their order."""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32, ordered_sum
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition

from . import BAG, BIRD, EMPTY, FULL, GATE, PRICE, TREES, WAGE

CLOSER, AWAY, PICK, SELL = 0, 1, 2, 3


class Orchard(ReferenceEnv):
    """One picker; state of Python scalars and tuples.

    The engine carries out R1 (illegal actions) and R11 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        x = ctx.draw.integers("start_x", TREES)  # R2
        fruit = ctx.draw.integers("start_fruit", FULL + 1)  # R3
        return self.State(x=x, fruit=tuple(fruit), bag=(EMPTY,) * BAG, held=0)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        x = self._walk(state, action)  # R4
        fruit = list(state.fruit)
        grows = ctx.draw.integers("grows", TREES)
        fruit[grows] = min(fruit[grows] + 1, FULL)  # R5
        if ctx.draw.bernoulli("bird", BIRD):  # R6
            most = fruit.index(max(fruit))
            fruit[most] = max(fruit[most] - 1, 0)
        bag, held = list(state.bag), state.held
        if action == PICK and fruit[x] > 0 and held < BAG:  # R7
            fruit[x] -= 1
            bag[held] = x
            held += 1
        reward = Float32(0.0) - WAGE  # R9
        full = held == BAG
        if action == SELL:
            reward = self._price(bag[:held]) - WAGE
            bag, held = [EMPTY] * BAG, 0  # R8
            x = x + int((GATE - x) / 2)
        after = self.State(x=x, fruit=tuple(fruit), bag=tuple(bag), held=held)
        return Transition(after, reward, action == SELL and full)  # R10

    def _walk(self, state: Any, action: int) -> int:
        if action not in (CLOSER, AWAY):
            return state.x
        move = 1 if action == AWAY else -1
        x = min(max(state.x + move, 0), TREES - 1)
        while 0 < x < TREES - 1 and state.fruit[x] == 0:
            x += move
        return x

    def _price(self, kinds: list[int]) -> Float32:
        if not kinds:
            return Float32(0.0)
        return ordered_sum(Float32(kind + 1) * PRICE for kind in kinds)

    def observe(self, state: Any, ctx: Context) -> tuple[Float32, ...]:
        kinds = [kind for kind in state.bag if kind != EMPTY]
        mean = Float32(sum(kinds)) / len(kinds) if kinds else Float32(0.0)
        own = (Float32(GATE - state.x) / (TREES - 1), Float32(state.held) / BAG, mean)  # R12
        trees = tuple(Float32(number) / FULL for number in state.fruit)  # R13
        counts = tuple(Float32(kinds.count(kind)) / BAG for kind in range(TREES))
        return own + trees + counts

    @invariant("the bag is filled from its first place on", rule="R14")
    def filled_in_order(self, state: Any, ctx: Context) -> bool:
        return all((kind != EMPTY) == (place < state.held) for place, kind in enumerate(state.bag))
