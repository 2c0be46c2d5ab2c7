"""blackjack, all tables at once: the rules of spec.md in their order, on tensors `[N]`.

The dealer's cards are drawn one after the other in an unrolled loop; who stands draws no more.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import DEALER_STANDS, MOST_DRAWS, NATURAL_REWARD, RANK_STEP, RANKS, TARGET, TEN

HIT = 1


class Blackjack(BatchedEnv):
    """N tables; all fields are int32 `[N]`, but `player_ace` and `dealer_ace`, which are bool `[N]`.

    The engine carries out R1 (illegal actions).
    """

    def reset(self, ctx: Context) -> Any:
        first, hole, one, other = self._cards(ctx, "deal").unbind(-1)  # R2, R3: int32 [N] each
        two = torch.full_like(first, 2)
        return self.State(
            player_sum=one + other, player_ace=(one == 1) | (other == 1), player_cards=two,
            dealer_card=first, dealer_sum=first + hole, dealer_ace=(first == 1) | (hole == 1), dealer_cards=two,
        )  # fmt: skip

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        cards, hits = self._cards(ctx, "card"), action == HIT  # R4: int32 [N, 10], bool [N]
        card = torch.where(hits, cards[:, 0], 0)
        player_sum = state.player_sum + card  # R5
        dealer_sum, dealer_ace, dealer_cards = self._dealer_plays(state, ~hits, cards)  # R7
        after = state.replace(
            player_sum=player_sum, player_ace=state.player_ace | (card == 1),
            player_cards=state.player_cards + hits.to(torch.int32),
            dealer_sum=dealer_sum, dealer_ace=dealer_ace, dealer_cards=dealer_cards,
        )  # fmt: skip
        bust = player_sum > TARGET  # R6: bool [N]; an ace never makes a hand worth more than 21
        hit_reward = torch.where(bust, -1.0, torch.zeros_like(bust, dtype=torch.float32))
        reward = torch.where(hits, hit_reward, self._stick_reward(after, ctx.params))
        return Transition(after, reward, ~hits | bust)  # R11

    def _cards(self, ctx: Context, slot: str) -> Tensor:
        """Values of cards: int32 `[N, K]`."""
        return (ctx.draw.integers(slot, RANKS) * RANK_STEP + 1).clamp(max=TEN)  # R2

    def _dealer_plays(self, state: Any, plays: Tensor, cards: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        total, ace, count = state.dealer_sum, state.dealer_ace, state.dealer_cards
        for k in range(MOST_DRAWS):
            draws = plays & (self._worth(total, ace) < DEALER_STANDS)  # bool [N]
            card = torch.where(draws, cards[:, k], 0)
            total, ace, count = total + card, ace | (card == 1), count + draws.to(torch.int32)
        return total, ace, count

    def _worth(self, total: Tensor, ace: Tensor) -> Tensor:
        """R12: what a hand is worth, an ace counted as 11 where that is no bust: int32 `[N]`."""
        return torch.where(ace & (total + TEN <= TARGET), total + TEN, total)

    def _stick_reward(self, state: Any, params: Any) -> Tensor:
        """R8, R9, R10: float32 `[N]`, once the dealer has played."""
        player = self._score(state.player_sum, state.player_ace)
        dealer = self._score(state.dealer_sum, state.dealer_ace)
        reward = (player > dealer).to(torch.float32) - (player < dealer).to(torch.float32)  # R8
        natural = self._natural(state.player_sum, state.player_ace, state.player_cards)
        dealers = self._natural(state.dealer_sum, state.dealer_ace, state.dealer_cards)
        wins = params.sab & natural & ~dealers  # R9: bool [N]
        paid = ~params.sab & params.natural & natural & (reward == 1.0)  # R10
        return torch.where(wins, 1.0, torch.where(paid, NATURAL_REWARD, reward))

    def _score(self, total: Tensor, ace: Tensor) -> Tensor:
        """0 for a bust hand: int32 `[N]`."""
        return torch.where(total > TARGET, 0, self._worth(total, ace))

    def _natural(self, total: Tensor, ace: Tensor, count: Tensor) -> Tensor:
        return ace & (total == TEN + 1) & (count == 2)  # bool [N]

    def observe(self, state: Any, ctx: Context) -> Tensor:
        usable = state.player_ace & (state.player_sum + TEN <= TARGET)  # R12
        seen = [self._worth(state.player_sum, state.player_ace), state.dealer_card, usable.to(torch.int32)]
        return torch.stack(seen, dim=-1).to(torch.int64)  # [N, 3]

    @invariant("the hands are hands of cards", rule="R13")
    def hands_are_hands(self, state: Any, ctx: Context) -> Tensor:
        rest, others = state.dealer_sum - state.dealer_card, state.dealer_cards - 1
        shows_ace = state.dealer_card == 1
        with_ace = self._can_be(rest, others, torch.ones_like(shows_ace))
        without = self._can_be(rest, others, torch.zeros_like(shows_ace))
        dealer = torch.where(
            shows_ace, state.dealer_ace & (with_ace | without), torch.where(state.dealer_ace, with_ace, without)
        )
        return self._can_be(state.player_sum, state.player_cards, state.player_ace) & dealer  # bool [N]

    def _can_be(self, total: Tensor, count: Tensor, ace: Tensor) -> Tensor:
        """Whether so many cards have this sum, with an ace among them or without: bool `[N]`."""
        with_ace = (total >= count) & (total <= TEN * (count - 1) + 1)
        without = (total >= 2 * count) & (total <= TEN * count)
        return (count >= 1) & torch.where(ace, with_ace, without)

    @invariant("a dealer who has drawn stands", rule="R14")
    def dealer_stands(self, state: Any, ctx: Context) -> Tensor:
        stands = self._worth(state.dealer_sum, state.dealer_ace) >= DEALER_STANDS
        return (state.dealer_cards == 2) | stands  # bool [N]

    @invariant("each step but a last one gives the player one card", rule="R15")
    def cards_follow_the_clock(self, state: Any, ctx: Context) -> Tensor:
        return (state.player_cards >= 2) & (state.player_cards <= 2 + ctx.t)  # bool [N]

    @invariant("the dealer draws no more cards than there are draws", rule="R16")
    def draws_suffice(self, state: Any, ctx: Context) -> Tensor:
        return (state.dealer_cards >= 2) & (state.dealer_cards <= 2 + MOST_DRAWS)  # bool [N]
