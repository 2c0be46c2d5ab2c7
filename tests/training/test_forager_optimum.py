"""The planner against cases that can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

import simulacrum


@pytest.fixture
def optimum(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("forager_optimum")


def test_without_wind_the_fewest_steps_are_the_shortest_round(optimum: ModuleType) -> None:
    far, near = 7 * 8 + 7, 0 * 8 + 2  # (7, 7) and (0, 2)
    steps = optimum.fewest_steps(np.array([[far, near]]), gust=0.0, size=8)
    assert steps[0, 0] == pytest.approx(2 + 7 + 5)  # from (0, 0) by (0, 2)
    assert steps[0, 1 * 8 + 0] == pytest.approx(3 + 12)
    # A berry under the start, in a corner: a step against the edge stays there and eats it.
    assert steps[0, far] == pytest.approx(1 + 12)


def test_wind_costs_what_a_geometric_series_says(optimum: ModuleType) -> None:
    """On a 2 x 2 grid with a berry next door and wind in half of all moves."""
    steps = optimum.fewest_steps(np.array([[1]]), gust=0.5, size=2)  # cell 1 is (0, 1), north of (0, 0)
    # West stays at (0, 0) or is turned north: one success in two tries.
    assert steps[0, 0] == pytest.approx(2.0, abs=1e-4)


def test_the_optimum_is_above_greedy_in_the_same_episodes(
    optimum: ModuleType, script: Callable[[str], ModuleType]
) -> None:
    common = script("common")
    best = optimum.main(optimum.Args(eval_episodes=40, eval_seeds=1))
    greedy = common.scripted_policies(simulacrum.load_package("forager"))["greedy, scripted"]
    returns, _ = common.measure(common.RunArgs(eval_episodes=40, eval_seeds=1), greedy)
    assert returns.mean() < best < returns.mean() + 1
