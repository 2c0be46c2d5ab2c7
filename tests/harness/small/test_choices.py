"""Chosen draws: every sequence once, ends and thresholds among the options, and questions that must not change."""

from __future__ import annotations

import math
from typing import Any

import pytest

from simulacrum.errors import DrawError, TwinError
from simulacrum.harness.small.choices import ChoosingDraw, every, spread
from simulacrum.harness.small.options import Options
from simulacrum.portable.scalar import Float32
from simulacrum.rng.layout import Layout, Slot

LAYOUT = Layout([
    Slot("coin", "step", "bernoulli", "float32"),
    Slot("die", "step", "integers", "int32"),
    Slot("wide", "step", "integers", "int32"),
    Slot("pair", "step", "integers", "int32", 2),
    Slot("u", "step", "uniform", "float32"),
    Slot("v", "step", "uniform", "float64"),
    Slot("z", "step", "normal", "float32"),
    Slot("kind", "step", "choice", "float32"),
    Slot("order", "step", "permutation", "int32", 3),
    Slot("long", "step", "permutation", "int32", 6),
])  # fmt: skip


def all_of(call: Any, **options: Any) -> list[Any]:
    return [made for _, made in every(LAYOUT, "step", Options(**options), call)]


def test_every_sequence_comes_once_also_where_later_questions_depend_on_earlier_answers() -> None:
    def call(draw: ChoosingDraw) -> Any:
        return (True, draw.integers("die", 3)) if draw.bernoulli("coin", 0.5) else (False, draw.integers("pair", 2))

    made = all_of(call)
    assert made == [(False, (0, 0)), (False, (0, 1)), (False, (1, 0)), (False, (1, 1)), (True, 0), (True, 1), (True, 2)]


def test_what_was_taken_names_slot_index_and_value() -> None:
    taken = [one for one, _ in every(LAYOUT, "step", Options(), lambda draw: draw.integers("pair", 2, index=1))]
    assert taken == [(("pair", 1, 0),), (("pair", 1, 1),)]


def test_a_sure_coin_has_one_side() -> None:
    assert all_of(lambda draw: draw.bernoulli("coin", 0.0)) == [False]
    assert all_of(lambda draw: draw.bernoulli("coin", 1.0)) == [True]
    assert all_of(lambda draw: draw.bernoulli("coin", Float32(0.1))) == [False, True]


def test_a_slot_asked_twice_answers_the_same() -> None:
    assert all_of(lambda draw: (draw.integers("die", 2), draw.integers("die", 2))) == [(0, 0), (1, 1)]


def test_wide_spans_have_ends_neighbours_and_a_middle() -> None:
    assert all_of(lambda draw: draw.integers("wide", 1000, low=10)) == [10, 11, 505, 998, 999]


def test_uniform_numbers_have_ends_and_both_sides_of_the_middle_and_of_thresholds() -> None:
    for slot, step in (("u", 2.0**-24), ("v", 2.0**-53)):
        made = all_of(lambda draw, slot=slot: draw.uniform(slot), thresholds=[0.3, 7.0])
        assert made[:5] == [0.0, step, 0.5 - step, 0.5, 1.0 - step]
        near = sorted(float(value) for value in made[5:])
        assert len(near) == 3
        assert near[0] < near[1] < near[2]
        assert math.isclose(near[1], 0.3, rel_tol=1e-7)
    assert type(all_of(lambda draw: draw.uniform("u"))[0]) is Float32


def test_normal_numbers_have_both_signs_and_sizes() -> None:
    made = [float(value) for value in all_of(lambda draw: draw.normal("z", 1.0, 2.0))]
    assert made == [1.0, -12.0, 14.0, -1.0, 3.0]


def test_only_weights_that_can_be_chosen_are() -> None:
    assert all_of(lambda draw: draw.choice("kind", [0.0, 1.0, 0.0, 2.0])) == [1, 3]


def test_short_permutations_come_whole_and_long_ones_in_four_ways() -> None:
    assert len(set(all_of(lambda draw: draw.permutation("order")))) == 6
    assert len(set(all_of(lambda draw: draw.permutation("long")))) == 4


def test_other_questions_given_the_same_are_an_error() -> None:
    sizes = iter([2, 3])
    with pytest.raises(TwinError, match="asks otherwise"):
        all_of(lambda draw: (draw.integers("die", 2), draw.integers("wide", next(sizes))))


def test_a_slot_that_is_not_declared_is_refused() -> None:
    with pytest.raises(DrawError, match="'dice' is not declared"):
        all_of(lambda draw: draw.integers("dice", 2))


def test_a_bounded_number_of_sequences_has_both_ends_and_is_the_same_each_time() -> None:
    def some() -> list[Any]:
        return [made for _, made in spread(LAYOUT, "step", Options(), lambda d: d.integers("pair", 9), 5)]

    assert len(some()) == 5
    assert some()[:2] == [(0, 0), (8, 8)]
    assert some() == some()
    assert [made for _, made in spread(LAYOUT, "step", Options(), lambda d: 1, 5)] == [1]


def test_each_seed_leaves_out_others_so_that_all_options_are_tried_somewhere() -> None:
    def some(seed: int) -> set[Any]:
        return {made for _, made in spread(LAYOUT, "step", Options(), lambda d: d.integers("pair", 9), 5, seed)}

    assert len(set.union(*(some(seed) for seed in range(200)))) == 81
