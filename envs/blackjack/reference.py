"""blackjack, one table at a time: Gymnasium's own BlackjackEnv, hands put into it and read out again.

What the hands are worth, how the dealer plays and what it pays are Gymnasium's. Our draws are handed to it as the
generator that it asks. It looks at a hand's sum, at whether there is an ace in it, and at whether it is an ace and a
ten; so a hand that agrees in these and in the number of cards may stand for the one that was held (`hand`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gymnasium.envs.toy_text.blackjack import BlackjackEnv

from simulacrum.portable.scalar import Float32
from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.sometimes import sometimes

from . import DEALER_STANDS, MOST_DRAWS, RANK_STEP, RANKS, TARGET, TEN

STICK, HIT = 0, 1
DECK = 13  # cards in the list that Gymnasium draws from: an ace, 2 to 10, and three faces


class Generator:
    """The one method of NumPy's generator that the env asks for."""

    def __init__(self, draw: Any, slot: str) -> None:
        self.draw, self.slot, self.asked = draw, slot, 0

    def choice(self, options: Sequence[Any]) -> Any:
        """A card where the deck is given; else a suit or a face for Gymnasium's picture, which nobody looks at here."""
        if len(options) < DECK:
            return options[0]
        self.asked += 1
        rank = self.draw.integers(self.slot, RANKS, index=self.asked - 1)
        return options[min(RANK_STEP * rank, TEN - 1)]  # R2


@functools.cache
def table(natural: bool, sab: bool) -> Any:
    """Gymnasium's env; hands and generator are put into it before each of its steps."""
    return BlackjackEnv(natural=natural, sab=sab)


def hand(total: int, cards: int, *, ace: bool) -> list[int] | None:
    """Some cards with this sum, aces counted as 1, with an ace or without; None where there are no such cards."""
    values = [1 if ace else 2] * cards
    spare = total - sum(values)
    for k in range(1 if ace else 0, cards):
        more = min(max(spare, 0), TEN - values[k])
        values[k], spare = values[k] + more, spare - more
    return values if spare == 0 else None


class Blackjack(ReferenceEnv):
    """A player and a dealer; state of Python ints and bools.

    The engine carries out R1 (illegal actions).
    """

    def reset(self, ctx: Context) -> Any:
        gym = table(bool(ctx.params.natural), bool(ctx.params.sab))
        gym.np_random = Generator(ctx.draw, "deal")  # R2, R3
        gym.reset()
        return self._taken(gym)

    def step(self, state: Any, action: int, ctx: Context) -> Transition:
        gym = table(bool(ctx.params.natural), bool(ctx.params.sab))
        gym.player, gym.dealer = self._player(state), self._dealer(state)
        gym.np_random = Generator(ctx.draw, "card")  # R4
        _, reward, terminated, _, _ = gym.step(action)  # R5, R6, R7, R8, R9, R10, R11
        return Transition(self._taken(gym), Float32(reward), bool(terminated))

    def _player(self, state: Any) -> Any:
        return hand(state.player_sum, state.player_cards, ace=state.player_ace)

    def _dealer(self, state: Any) -> Any:
        """The card that shows, and others."""
        shown = state.dealer_card
        if shown == 1 and not state.dealer_ace:
            return None
        rest = state.dealer_sum - shown, state.dealer_cards - 1
        options = [hand(*rest, ace=True), hand(*rest, ace=False)] if shown == 1 else [hand(*rest, ace=state.dealer_ace)]
        return next(([shown, *others] for others in options if others is not None), None)

    def _taken(self, gym: Any) -> Any:
        return self.State(
            player_sum=sum(gym.player), player_ace=1 in gym.player, player_cards=len(gym.player),
            dealer_card=gym.dealer[0], dealer_sum=sum(gym.dealer), dealer_ace=1 in gym.dealer,
            dealer_cards=len(gym.dealer),
        )  # fmt: skip

    def observe(self, state: Any, ctx: Context) -> tuple[int, ...]:
        gym = table(natural=False, sab=False)
        gym.player, gym.dealer = self._player(state), [state.dealer_card]
        return tuple(int(number) for number in gym._get_obs())  # R12

    @invariant("the hands are hands of cards", rule="R13")
    def hands_are_hands(self, state: Any, ctx: Context) -> bool:
        return self._player(state) is not None and self._dealer(state) is not None

    @invariant("a dealer who has drawn stands", rule="R14")
    def dealer_stands(self, state: Any, ctx: Context) -> bool:
        soft = state.dealer_ace and state.dealer_sum + TEN <= TARGET
        return state.dealer_cards == 2 or state.dealer_sum + (TEN if soft else 0) >= DEALER_STANDS

    @invariant("each step but a last one gives the player one card", rule="R15")
    def cards_follow_the_clock(self, state: Any, ctx: Context) -> bool:
        return 2 <= state.player_cards <= 2 + ctx.t

    @invariant("the dealer draws no more cards than there are draws", rule="R16")
    def draws_suffice(self, state: Any, ctx: Context) -> bool:
        return 2 <= state.dealer_cards <= 2 + MOST_DRAWS

    @sometimes("the player wins with a natural", rule="R9")
    def natural(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        is_natural = state.player_ace and state.player_sum == TEN + 1 and state.player_cards == 2
        return action == STICK and is_natural and float(outcome.reward) > 0.0

    @sometimes("an ace that counted as 11 counts as 1", rule="R12")
    def ace_turns(self, state: Any, action: int, outcome: Transition, ctx: Context) -> bool:
        after = outcome.state
        return action == HIT and state.player_ace and state.player_sum + TEN <= TARGET < after.player_sum + TEN
