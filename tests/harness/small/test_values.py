"""Which actions, and which values of a state, single steps are tried with."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from kit import package

from simulacrum.harness.bench import Bench
from simulacrum.harness.small.actions import legal_actions
from simulacrum.harness.small.boundary import param_sets
from simulacrum.harness.small.pushes import Push, Values, beside, clock_values, pushed, visited
from simulacrum.harness.small.thresholds import thresholds_of


def test_a_discrete_space_is_tried_whole() -> None:
    assert legal_actions(package("forager").schema, 64).tolist() == [0, 1, 2, 3]
    assert len({tuple(row) for row in legal_actions(package("rivals").schema, 64).tolist()}) == 9


def test_real_actions_have_ends_middle_and_neighbours_in_every_combination() -> None:
    made = legal_actions(package("glider").schema, 64)
    one = np.float32(1.0)
    inside = float(np.nextafter(one, np.float32(0.0)))
    assert made.dtype == np.float32
    assert {float(value) for value in made[:, 0]} == {-1.0, 1.0, 0.0, -inside, inside}
    assert len(made) == 25


def test_too_many_combinations_become_all_together_and_one_alone() -> None:
    made = legal_actions(package("canvas").schema, 64)
    assert len(made["ink"]) == len(made["cell"]) <= 64
    assert set(made["cell"].tolist()) == set(range(-1, 16)) or {-1, 15} <= set(made["cell"].tolist())
    assert {0, 255} <= {int(value) for value in made["ink"][:, 1]}
    assert made["ink"].dtype == np.uint8


def test_integers_are_pushed_to_their_ends_one_inside_and_beside_what_the_rules_know() -> None:
    toywalk = package("toywalk")
    values = [push.value for push in Values(toywalk, [{"position": 0}]).pushes()]
    assert values[:4] == [-5, 5, -4, 4]
    assert set(values) <= set(range(-5, 6))
    assert {-3, -2, -1, 1, 2, 3} <= set(values)  # beside START_LOW and START_HIGH


def test_reals_are_pushed_to_both_sides_of_what_the_rules_know() -> None:
    cartpole = package("cartpole")
    seen = [{"x": 0.1, "x_dot": -0.5, "theta": 0.0, "theta_dot": 0.25}]
    values = [push.value for push in Values(cartpole, seen).pushes() if push.element == ("x", ())]
    assert {-4.8, 4.8, 2.4, float(np.nextafter(2.4, 9)), float(np.nextafter(2.4, 0)), -2.4, 0.0} <= set(values)
    assert all(-4.8 <= value <= 4.8 for value in values)
    assert 2.4 in thresholds_of(cartpole)


def test_an_element_inside_a_field_is_set_alone() -> None:
    state: dict[str, Any] = {"grid": [[1, 2], [3, 4]], "x": 0}
    made = pushed(state, [Push(("grid", (1, 0)), 9), Push(("x", ()), 5)])
    assert made == {"grid": [[1, 2], [9, 4]], "x": 5}
    assert state == {"grid": [[1, 2], [3, 4]], "x": 0}


def test_the_clock_goes_to_both_sides_of_the_limit() -> None:
    assert clock_values(60) == [0, 1, 58, 59, 60, 61]
    assert clock_values(1) == [0, 1, 2]
    assert clock_values(None) == [0, 1]


def test_parameters_go_to_their_ends_alone_and_together_and_inside() -> None:
    assert param_sets(package("toywalk").schema) == [{}, {"slip": 0.0}, {"slip": 1.0}, {"slip": 0.37}]
    sets = param_sets(package("counter").schema)
    assert {"goal": 1, "cut": 1, "spread": 0} in sets
    assert {"spread": 1} in sets
    assert {"rainy": True} in param_sets(package("taxi").schema)
    assert {"rainy": False} not in param_sets(package("taxi").schema)  # as by default
    inside = {"rainy": True, "rainy_probability": 0.37, "fickle_passenger": True, "fickle_probability": 0.37}
    assert inside in param_sets(package("taxi").schema)


def test_visited_states_come_from_one_end_of_an_episode_to_the_other() -> None:
    places = visited(Bench(package("toywalk")), 12)
    assert places == visited(Bench(package("toywalk")), 12)
    assert len(places) == 12
    assert min(t for t, _ in places) == 0
    assert max(t for t, _ in places) > 20


@pytest.mark.parametrize("name", ["forager", "rivals"])
def test_integers_are_put_beside_each_other(name: str) -> None:
    bench = Bench(package(name))
    (_, state), *_ = visited(bench, 2)
    generator = random.Random(1)
    for _ in range(50):
        pushes = beside(bench.schema, state, generator)
        assert pushes is not None
        assert len({push.element[0] for push in pushes}) == len(pushes)


def test_a_state_without_integers_has_nothing_to_put_beside() -> None:
    cartpole = package("cartpole")
    assert beside(cartpole.schema, {}, random.Random(1)) is None
