"""Word numbers, and the errors for what was not declared."""

from __future__ import annotations

import pytest

from simulacrum.errors import DrawError
from simulacrum.rng.layout import Layout, Slot

LAYOUT = Layout(
    [
        Slot("spawn_x", "reset", "uniform", "float32"),
        Slot("spawn_y", "reset", "uniform", "float64", 3),
        Slot("kind", "reset", "integers", "int32", 4),
        Slot("order", "reset", "permutation", "int32", 5),
        Slot("gust", "step", "bernoulli", "float32"),
        Slot("noise", "step", "normal", "float32"),
    ]
)


def test_words_are_numbered_in_order_of_declaration_and_two_word_draws_begin_even() -> None:
    assert [LAYOUT.offset(slot) for slot in LAYOUT.slots] == [0, 2, 8, 12, 0, 2]
    assert LAYOUT.words("reset") == 17
    assert LAYOUT.blocks("reset") == 9
    assert LAYOUT.words("step") == 4
    assert LAYOUT.blocks("step") == 2
    assert LAYOUT.offset("kind") == 8


def test_no_two_draws_share_a_word() -> None:
    for phase in ("reset", "step"):
        taken = [
            word
            for slot in LAYOUT.slots
            if slot.phase == phase
            for word in range(LAYOUT.offset(slot), LAYOUT.offset(slot) + slot.words)
        ]
        assert len(taken) == len(set(taken))


def test_an_environment_without_draws_has_an_empty_layout() -> None:
    empty = Layout([])
    assert (empty.words("reset"), empty.blocks("step"), empty.slots) == (0, 0, ())


def test_layouts_compare_by_their_slots() -> None:
    assert Layout(LAYOUT.slots) == LAYOUT
    assert Layout(LAYOUT.slots[:-1]) != LAYOUT
    assert hash(Layout(LAYOUT.slots)) == hash(LAYOUT)


@pytest.mark.parametrize(
    ("call", "fragments"),
    [
        (
            ("reset", "spawn_z", "uniform"),
            ["'spawn_z' is not declared", "reset: spawn_x, spawn_y", "mean 'spawn_"],
        ),
        (("step", "qqq", "uniform"), ["'qqq' is not declared", "step: gust, noise", "next: declare 'qqq'"]),
        (("step", "kind", "integers"), ["asked for at step, but is declared for reset", "gust, noise"]),
        (("reset", "kind", "uniform"), ["declared as integers", "draw.integers('kind', ...)"]),
    ],
)
def test_lookup_errors_name_slot_phase_and_what_is_declared(
    call: tuple[str, str, str], fragments: list[str]
) -> None:
    with pytest.raises(DrawError) as caught:
        LAYOUT.lookup(*call)
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize("index", [4, -1, 1.0, "0"])
def test_an_index_that_the_slot_does_not_have(index: object) -> None:
    with pytest.raises(DrawError, match=r"index out of range for slot 'kind'\n  expected: an int 0\.\.3"):
        LAYOUT.check_index(LAYOUT.lookup("reset", "kind", "integers"), index)


def test_an_index_for_a_slot_without_a_count() -> None:
    with pytest.raises(DrawError, match="slot 'spawn_x' has no indices"):
        LAYOUT.check_index(LAYOUT.lookup("reset", "spawn_x", "uniform"), 0)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (("a", "middle", "uniform", "float32"), "unknown phase"),
        (("a", "step", "gamma", "float32"), "unknown distribution"),
        (("a", "step", "integers", "float32"), "cannot have this dtype"),
        (("a", "step", "uniform", "float32", 0), "at least one index"),
        (("a", "step", "permutation", "int32"), "of how many items"),
    ],
)
def test_declarations_that_cannot_be(arguments: tuple[str, ...], fragment: str) -> None:
    with pytest.raises(DrawError, match=fragment):
        Slot(*arguments)


def test_two_slots_of_one_name() -> None:
    with pytest.raises(DrawError, match="two draw slots have one name"):
        Layout([Slot("a", "step", "uniform", "float32"), Slot("a", "reset", "uniform", "float32")])


def test_too_many_words() -> None:
    with pytest.raises(DrawError, match="too many words"):
        Layout([Slot("a", "step", "uniform", "float64", 2**24)])
