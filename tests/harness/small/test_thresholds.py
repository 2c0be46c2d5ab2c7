"""Numbers that nobody wrote down: the reference is seen to hold its draws against them."""

from __future__ import annotations

import bisect
from collections import Counter
from typing import Any

import numpy as np
import pytest
from kit import package

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench
from simulacrum.harness.small.boundary import Boundary
from simulacrum.harness.small.nodes import Scalar
from simulacrum.harness.small.options import Options
from simulacrum.harness.small.pushes import visited
from simulacrum.harness.small.thresholds import NotingDraw, thresholds_of_draws
from simulacrum.portable.scalar import Float32
from simulacrum.rng.layout import Layout, Slot

LAYOUT = Layout(
    [
        Slot("wide", "step", "uniform", "float64"),
        Slot("narrow", "step", "uniform", "float32"),
        Slot("several", "step", "uniform", "float64", count=2),
        Slot("whole", "step", "integers", "int32"),
    ]
)


@pytest.fixture
def noted() -> dict[str, Counter[float]]:
    return {}


@pytest.fixture
def draw(noted: dict[str, Counter[float]]) -> NotingDraw:
    return NotingDraw(LAYOUT, "step", Options(), lambda size: size // 2, noted)


def test_each_comparison_is_noted_and_comes_out_as_ever(draw: NotingDraw, noted: dict[str, Counter[float]]) -> None:
    u = draw.uniform("wide")
    assert float(u) == 0.5 - 2**-53
    assert (u < 0.7, u <= 0.1, u > np.float64(0.2), u >= np.float32(0.75)) == (True, False, True, False)
    assert (u > 0.3, u < 1, np.float64(0.6) > u, np.float32(0.25) >= u) == (True, True, True, False)
    assert noted["wide"] == Counter([0.7, 0.1, 0.2, 0.75, 0.3, 1.0, 0.6, 0.25])


def test_float32_stays_float32(draw: NotingDraw, noted: dict[str, Counter[float]]) -> None:
    u = draw.uniform("narrow")
    assert isinstance(u, Float32)
    assert type(u + 0.1) is Float32
    assert u + 0.1 == Float32(float(u)) + 0.1
    assert (u < Float32(0.6), u < 0.1) == (True, False)
    assert noted["narrow"] == Counter([float(Float32(0.6)), 0.1])


def test_arrays_and_searches_are_noted(draw: NotingDraw, noted: dict[str, Counter[float]]) -> None:
    u, sums = draw.uniform("wide"), np.cumsum([0.25, 0.5, 0.25])
    assert (sums > u).argmax() == 1
    assert np.searchsorted(sums, u, side="right") == 1
    assert noted["wide"] == Counter({0.25: 2, 0.75: 2, 1.0: 2})
    assert bisect.bisect([0.1, 0.4, 0.9], u) == 2
    assert {0.4, 0.9} <= set(noted["wide"])
    assert np.float32(2.0) * u == np.float32(2.0) * float(u)  # other arithmetic notes nothing
    assert u * np.ones(2) == pytest.approx(0.5)


def test_what_is_no_number_is_not_noted(draw: NotingDraw, noted: dict[str, Counter[float]]) -> None:
    u = draw.uniform("several", index=1)
    assert (u < float("inf"), u > float("nan")) == (True, False)
    with pytest.raises(TypeError):
        assert u < "0.5"
    assert not noted["several"]
    first, second = draw.uniform("several")
    assert first < 0.9 > second
    assert noted["several"] == Counter({0.9: 2})
    assert draw.integers("whole", 4) < 3  # only uniform draws are held against numbers that could be any
    assert set(noted) == {"several"}


def told(name: str, **params: Any) -> dict[str, tuple[float, ...]]:
    judged = package(name)
    scalar = Scalar(judged, [params])
    states = [(0, state) for state in _states(judged)]
    return thresholds_of_draws(scalar, Options(), states, range(4))


def _states(judged: EnvPackage) -> list[dict[str, Any]]:
    return [state for _, state in visited(Bench(judged, check="differential", forms=("eager",)), 4)]


def test_numbers_that_another_program_works_out_are_found() -> None:
    pytest.importorskip("gymnasium.envs.toy_text")
    assert told("taxi", rainy=True, rainy_probability=0.5)["slip"] == (0.5, 0.75, 1.0)
    assert 0.3 in told("taxi", fickle_passenger=True)["fickle"]
    assert told("taxi")["slip"] == (1.0,)  # the way of the action is sure
    assert told("frozenlake")["slip"] == (pytest.approx(1 / 3), pytest.approx(2 / 3), pytest.approx(1.0))
    assert told("toywalk") == {}  # no uniform draws


def test_a_tie_with_a_number_that_stands_nowhere_is_found(changed: Any) -> None:
    """In taxi's rain one of 2**53 draws is neither left nor right of the sum of two probabilities."""
    judged = changed("taxi", ("fast.py", "(u >= first) & (u < first + side)", "(u > first) & (u < first + side)"))
    boundary = Boundary(Bench(judged, check="differential", forms=("eager",)), 4_000)
    boundary.singles()
    assert boundary.found is not None
    assert boundary.evidence()["draws_held_against"]["slip"] == (0.37, 0.685, 0.8, 0.9, 1.0)
