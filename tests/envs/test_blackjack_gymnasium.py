"""blackjack's batched twin beside Gymnasium's Blackjack as `gymnasium.make` gives it: no number may differ.

Gymnasium holds hands as lists of cards, all of them dealt in these tests; the twin has their sums.
"""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest
from kit.toytext import Rows

DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
RULES = [{"sab": True, "natural": False}, {"sab": False, "natural": False}, {"sab": False, "natural": True}]


class Dealt:
    """A generator that deals these ranks; suits and faces are of no account."""

    def __init__(self, ranks: list[int]) -> None:
        self.ranks = list(ranks)

    def choice(self, options: list[Any]) -> Any:
        return options[self.ranks.pop(0)] if len(options) == 13 else options[0]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows("blackjack")


def state_of(hands: list[tuple[list[int], list[int]]]) -> dict[str, Any]:
    """The twin's state for pairs of a player's and a dealer's cards."""
    return {
        "player_sum": np.array([sum(player) for player, _ in hands]),
        "player_ace": np.array([1 in player for player, _ in hands]),
        "player_cards": np.array([len(player) for player, _ in hands]),
        "dealer_card": np.array([dealer[0] for _, dealer in hands]),
        "dealer_sum": np.array([sum(dealer) for _, dealer in hands]),
        "dealer_ace": np.array([1 in dealer for _, dealer in hands]),
        "dealer_cards": np.array([len(dealer) for _, dealer in hands]),
    }


def sequences(hand: list[int]) -> list[list[int]]:
    """Every sequence of cards that a dealer with this hand draws."""
    total = sum(hand)
    if (total + 10 if 1 in hand and total <= 11 else total) >= 17:
        return [[]]
    return [[card, *rest] for card in range(1, 11) for rest in sequences([*hand, card])]


def compare(rows: Rows, params: dict[str, Any], hands: list[Any], action: int, ranks: Any) -> Any:
    """One step of each from these hands, with these ten ranks `[N, 10]`; the rewards."""
    env: Any = gymnasium.make("Blackjack-v1", **params).unwrapped
    made = rows.step(state_of(hands), np.full(len(hands), action), params, t=20, card=ranks)
    after, theirs = [], []
    for (player, dealer), cards in zip(hands, ranks.tolist(), strict=True):
        env.player, env.dealer, env.np_random = list(player), list(dealer), Dealt(cards)
        theirs.append(env.step(action)[:3])
        after.append((env.player, env.dealer))
    assert np.array_equal(made.observation, [step[0] for step in theirs])
    assert np.array_equal(made.reward, [step[1] for step in theirs])
    assert np.array_equal(made.terminated, [step[2] for step in theirs])
    for name, values in state_of(after).items():
        assert np.array_equal(made.state[name], values), name
    return made.reward


def players() -> list[list[int]]:
    """Hands of each worth, soft and hard, of two cards and of more."""
    two = [[a, b] for a in range(1, 11) for b in range(a, 11)]
    three = [[1, 5, 5], [1, 1, 9], [10, 10, 1], [7, 7, 7], [2, 9, 10], [1, 2, 3, 4], [1] * 9, [1] * 20, [2] * 10]
    return two + three


@pytest.mark.parametrize("params", RULES, ids=str)
def test_every_two_hands(rows: Rows, params: dict[str, Any]) -> None:
    """All pairs of the hands above with all of the dealer's two cards; one sequence of draws for each."""
    dealers = [[a, b] for a in range(1, 11) for b in range(1, 11)]
    hands = list(itertools.product(players(), dealers))
    ranks = np.random.default_rng(1).integers(0, 13, (len(hands), 10))
    rewards = compare(rows, params, hands, 0, ranks)
    assert set(rewards.tolist()) == ({-1.0, 0.0, 1.0, 1.5} if params["natural"] else {-1.0, 0.0, 1.0})


def test_every_card_to_every_hand(rows: Rows) -> None:
    hands = list(itertools.product(players(), [[1, 10], [10, 6], [2, 2]], range(13)))
    ranks = np.zeros((len(hands), 10), dtype=np.int64)
    ranks[:, 0] = [rank for _, _, rank in hands]
    rewards = compare(rows, RULES[0], [(player, dealer) for player, dealer, _ in hands], 1, ranks)
    assert set(rewards.tolist()) == {-1.0, 0.0}


@pytest.mark.parametrize("dealer", [[10, 6], [1, 5], [9, 3], [6, 5]], ids=str)
def test_every_sequence_of_a_dealer(rows: Rows, dealer: list[int]) -> None:
    drawn = sequences(dealer)
    hands = [([[10, 9], [1, 10], [5, 6, 10], [8, 9]][k % 4], dealer) for k in range(len(drawn))]
    ranks = np.array([[card - 1 for card in cards] + [0] * (10 - len(cards)) for cards in drawn])
    compare(rows, RULES[0], hands, 0, ranks)


def test_the_longest_sequences_of_a_dealer(rows: Rows) -> None:
    drawn = [cards for cards in sequences([1, 1]) if len(cards) >= 9]
    assert max(len(cards) for cards in drawn) == 10
    ranks = np.array([[card - 1 for card in cards] + [0] * (10 - len(cards)) for cards in drawn])
    compare(rows, RULES[0], [([10, 9], [1, 1])] * len(drawn), 0, ranks)


def test_every_deal(rows: Rows) -> None:
    env: Any = gymnasium.make("Blackjack-v1").unwrapped
    deals = np.random.default_rng(2).integers(0, 13, (600, 4))
    made = rows.reset(len(deals), deal=deals)
    hands = []
    for row, deal in enumerate(deals.tolist()):
        env.np_random = Dealt(deal)
        assert tuple(made.observation[row].tolist()) == env.reset()[0]
        hands.append((env.player, env.dealer))
    for name, values in state_of(hands).items():
        assert np.array_equal(made.state[name], values), name


@pytest.mark.parametrize("params", RULES, ids=str)
def test_whole_games_from_gymnasiums_own_generator(rows: Rows, params: dict[str, Any]) -> None:
    """Gymnasium plays seeded games; the twin is handed the cards that it drew."""
    env: Any = gymnasium.make("Blackjack-v1", **params)
    choose, lengths = np.random.default_rng(4), []
    for seed in range(30):
        seen, _ = env.reset(seed=seed)
        inner = env.unwrapped
        now = rows.reset(1, params, deal=[[DECK.index(card) for card in (*inner.dealer, *inner.player)]])
        for t in itertools.count():
            assert tuple(now.observation[0].tolist()) == seen
            action, had = int(choose.random() < 0.6), len(inner.dealer)
            seen, reward, terminated, truncated, _ = env.step(action)
            new = inner.player[-1:] if action else inner.dealer[had:]
            ranks = [DECK.index(card) for card in new]
            now = rows.step(now.state, [action], params, t=t, card=[ranks + [0] * (10 - len(ranks))])
            assert now.reward is not None
            assert now.terminated is not None
            assert (now.reward[0], now.terminated[0], truncated) == (reward, terminated, False)
            if terminated:
                lengths.append(t + 1)
                break
    assert max(lengths) > 2


def test_the_id_and_the_class_have_other_rules() -> None:
    """A difference: the documentation gives `sab=False` as the default, which is the class's; the id says True."""
    from gymnasium.envs.toy_text.blackjack import BlackjackEnv

    assert gymnasium.make("Blackjack-v1").unwrapped.sab is True
    assert BlackjackEnv().sab is False
