"""blackjack, rule by rule: steps worked out by hand from spec.md, in both twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit.toytext import Both

from simulacrum.contract.package import load_package

STICK, HIT = 0, 1
NATURAL = {"natural": True, "sab": False}
PLAIN = {"natural": False, "sab": False}
LONGEST = [1, 1, 1, 1, 6, 1, 1, 1, 1, 1]  # as many cards as a dealer can draw


@pytest.fixture(scope="module")
def both() -> Both:
    return Both("blackjack")


def table(player: list[int], dealer: list[int]) -> dict[str, Any]:
    """The state of two hands, aces written as 1; the dealer's first card shows."""
    return {
        "player_sum": sum(player), "player_ace": 1 in player, "player_cards": len(player),
        "dealer_card": dealer[0], "dealer_sum": sum(dealer), "dealer_ace": 1 in dealer, "dealer_cards": len(dealer),
    }  # fmt: skip


def ranks(*cards: int) -> list[int]:
    """Ten draws that give these cards first, then twos."""
    return [card - 1 for card in cards] + [1] * (10 - len(cards))


def test_r2_r3_deal(both: Both) -> None:
    seen = both.reset(deal=[0, 11, 8, 12])
    assert seen == table([9, 10], [1, 10]) | {"observation": [19, 1, 0]}
    cards = [both.reset(deal=[rank, 5, 5, 5])["dealer_card"] for rank in range(13)]
    assert cards == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


@pytest.mark.parametrize(
    ("player", "card", "observed", "reward", "over"),
    [
        ([5, 6], 9, [20, 7, 0], 0.0, False), ([5, 6], 10, [21, 7, 0], 0.0, False),
        ([10, 6], 5, [21, 7, 0], 0.0, False), ([10, 6], 6, [22, 7, 0], -1.0, True),  # R6: 21 goes on, 22 is bust
        ([1, 6], 4, [21, 7, 1], 0.0, False), ([1, 6], 5, [12, 7, 0], 0.0, False),  # an ace of 11 becomes one of 1
        ([4, 6], 1, [21, 7, 1], 0.0, False), ([5, 6], 1, [12, 7, 0], 0.0, False), ([1, 1], 1, [13, 7, 1], 0.0, False),
        ([10, 1, 10], 1, [22, 7, 0], -1.0, True),
    ],
)  # fmt: skip
def test_r5_r6_hits(both: Both, player: list[int], card: int, observed: list[int], reward: float, over: bool) -> None:
    seen = both.step(table(player, [7, 9]), HIT, card=ranks(card))
    assert (seen["observation"], seen["reward"], seen["terminated"]) == (observed, reward, over)
    assert seen["player_cards"] == len(player) + 1
    assert (seen["dealer_sum"], seen["dealer_cards"]) == (16, 2)  # the dealer waits


@pytest.mark.parametrize(
    ("dealer", "drawn", "hand"),
    [
        ([10, 7], [5], [10, 7]), ([10, 6], [5], [10, 6, 5]), ([10, 6], [10], [10, 6, 10]),
        ([1, 6], [5], [1, 6]), ([1, 5], [10, 5], [1, 5, 10, 5]), ([1, 5], [1], [1, 5, 1]),
        ([2, 2], [2, 2, 2, 2, 2, 2, 2], [2] * 9), ([1, 1], LONGEST, [1, 1, *LONGEST]),
    ],
)  # fmt: skip
def test_r7_the_dealer(both: Both, dealer: list[int], drawn: list[int], hand: list[int]) -> None:
    seen = both.step(table([10, 9], dealer), STICK, card=ranks(*drawn))
    assert {name: seen[name] for name in ("dealer_sum", "dealer_ace", "dealer_cards")} == {
        "dealer_sum": sum(hand), "dealer_ace": 1 in hand, "dealer_cards": len(hand),
    }  # fmt: skip
    assert seen["terminated"]
    assert both.invariants(seen, "draws_suffice", t=1)


def test_r7_ten_draws_are_as_many_as_there_can_be() -> None:
    def most(total: int, ace: bool) -> int:
        worth = total + 10 if ace and total + 10 <= 21 else total
        return 0 if worth >= 17 else 1 + max(most(total + card, ace or card == 1) for card in range(1, 11))

    assert max(most(a + b, 1 in (a, b)) for a in range(1, 11) for b in range(1, 11)) == 10


@pytest.mark.parametrize(
    ("player", "dealer", "drawn", "reward"),
    [
        ([10, 9], [10, 8], [], 1.0), ([10, 8], [10, 8], [], 0.0), ([10, 7], [10, 8], [], -1.0),
        ([2, 2], [10, 6], [10], 1.0), ([10, 10], [10, 6], [5], -1.0),  # a bust dealer loses to anything
        ([1, 7], [10, 8], [], 0.0), ([1, 7, 10], [10, 7], [], 1.0),
    ],
)  # fmt: skip
def test_r8_who_is_nearer(both: Both, player: list[int], dealer: list[int], drawn: list[int], reward: float) -> None:
    for params in ({}, NATURAL, PLAIN):
        assert both.step(table(player, dealer), STICK, params, card=ranks(*drawn))["reward"] == reward


@pytest.mark.parametrize(
    ("player", "dealer", "drawn", "sab", "paid", "plain"),
    [
        ([1, 10], [10, 9], [], 1.0, 1.5, 1.0),
        ([10, 1], [1, 10], [], 0.0, 0.0, 0.0),  # both have a natural
        ([1, 10], [10, 6], [5], 1.0, 0.0, 0.0),  # 21 of three cards: R9 alone lets the natural win
        ([1, 5, 5], [10, 9], [], 1.0, 1.0, 1.0),  # 21 of three cards is no natural
        ([1, 5, 5], [10, 1], [], 0.0, 0.0, 0.0),  # the reverse of R9 is no rule
    ],
)
def test_r9_r10_naturals(
    both: Both, player: list[int], dealer: list[int], drawn: list[int], sab: float, paid: float, plain: float
) -> None:
    wanted = ((NATURAL, paid), (PLAIN, plain), ({"sab": True}, sab), ({"sab": True, "natural": True}, sab))
    for params, reward in wanted:
        assert both.step(table(player, dealer), STICK, params, card=ranks(*drawn))["reward"] == reward


def test_defaults_are_those_of_the_id() -> None:
    schema = load_package("blackjack").schema
    assert {name: param.default for name, param in schema.params.items()} == {"natural": False, "sab": True}
    assert schema.max_episode_steps is None


def test_r13_hands_of_cards(both: Both) -> None:
    """Every sum, with an ace and without, of two to four cards: a hand exactly where there are such cards."""
    possible: dict[int, set[tuple[int, bool]]] = {0: {(0, False)}}
    for count in range(1, 5):
        possible[count] = {(s + c, ace or c == 1) for s, ace in possible[count - 1] for c in range(1, 11)}
    for count in (2, 3, 4):
        for total in range(2, 32):
            for ace in (False, True):
                state = table([2, 2], [5, 5]) | {"player_sum": total, "player_ace": ace, "player_cards": count}
                assert both.invariants(state, "hands_are_hands", t=4) is ((total, ace) in possible[count])


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True), ({"dealer_sum": 5}, False), ({"dealer_sum": 16}, False), ({"dealer_ace": True}, False),
        ({"dealer_sum": 6, "dealer_ace": True}, True), ({"dealer_card": 1}, False),
        ({"dealer_card": 1, "dealer_sum": 11, "dealer_ace": True}, True),
        ({"dealer_card": 1, "dealer_sum": 2, "dealer_ace": True}, True),
    ],
)  # fmt: skip
def test_r13_the_dealers_hand(both: Both, change: dict[str, Any], holds: bool) -> None:
    assert both.invariants(table([2, 2], [5, 5]) | change, "hands_are_hands") is holds


def test_r14_to_r16_invariants(both: Both) -> None:
    assert both.invariants(table([2, 2], [5, 5, 7]), "dealer_stands", t=1)
    assert not both.invariants(table([2, 2], [5, 5, 6]), "dealer_stands", t=1)
    assert both.invariants(table([2, 2], [5, 1, 1]), "dealer_stands", t=1)
    assert both.invariants(table([2, 2, 2], [5, 5]), "cards_follow_the_clock", t=1)
    assert not both.invariants(table([2, 2, 2], [5, 5]), "cards_follow_the_clock", t=0)


def test_drawings() -> None:
    package = load_package("blackjack")
    render, make = package.module("render"), package.reference().State
    assert render.text(make(**table([1, 7], [10, 3]))) == (
        "dealer  10 and a card face down\nplayer  18 with an ace as 11 in 2 cards"
    )
    assert render.text(make(**table([10, 7, 7], [1, 3, 4]))) == (
        "dealer  A and 2 others: 18\nplayer  24 in 3 cards, bust"
    )
    states = ([[1, 7], [10, 3]], [[8, 10], [10, 3]], [[1, 7], [10, 3, 9]], [[10, 7, 7], [10, 3]])
    images = [render.rgb(make(**table(*hands))) for hands in states]
    assert len({image.tobytes() for image in images}) == 4
    assert {(image.shape, image.dtype.name) for image in images} == {((320, 360, 3), "uint8")}
    most = render.rgb(make(**table([1] * 22, [1] * 12)))
    assert np.array_equal(most[:6], images[0][:6])
