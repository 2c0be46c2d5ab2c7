"""Pickers choose what they say they choose."""

from __future__ import annotations

import math

import pytest

from simulacrum.errors import UsageError
from simulacrum.trace import PICKERS, EpisodeRow, cut_out, pick, summarise


def row(number, total, length, ending="terminated", **more):
    return EpisodeRow(number, seed=number, episode=0, total=total, length=length, ending=ending, **more)


ROWS = [
    row(0, 1.0, 5),
    row(1, -3.0, 9, "open"),
    row(2, 7.0, 2, broken=("energy is bounded",), first_divergence=4),
    row(3, 2.0, 7, broken=("energy is bounded",), first_divergence=1),
    row(4, 2.0, 1, "open"),
]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("worst", [1, 0, 3]),
        ("best", [2, 3, 4]),
        ("longest", [1, 3, 0]),
        ("shortest", [2, 0, 3]),
        ("broken", [2, 3]),
        ("divergent", [3, 2]),
    ],
)
def test_pickers(how, expected):
    assert [item.trajectory for item in pick(ROWS, how, 3)] == expected


def test_a_nan_return_is_the_worst_and_never_the_best():
    rows = [*ROWS, row(5, math.nan, 3), row(6, -math.inf, 3)]
    assert pick(rows, "worst")[0].trajectory == 5
    assert pick(rows, "best", 7)[-1].trajectory in (5, 6)


def test_random_is_repeatable_and_without_repetition():
    one = pick(ROWS, "random", 4, seed=7)
    assert one == pick(ROWS, "random", 4, seed=7)
    assert len({item.trajectory for item in one}) == 4
    assert len(pick(ROWS, "random", 99)) == len(ROWS)
    assert any(pick(ROWS, "random", 4, seed=seed) != one for seed in range(5))


def test_wrong_requests():
    with pytest.raises(UsageError, match="no such way") as caught:
        pick(ROWS, "nicest")
    assert all(name in str(caught.value) for name in PICKERS)
    with pytest.raises(UsageError, match="nothing would be picked"):
        pick(ROWS, "best", 0)


def test_summaries(trajectory):
    def broken(row, moment):
        return ["distance is small"] * 2 if moment.info["distance"] == 3 else []

    first, second = summarise([trajectory], broken=broken, divergences={0: (1, 1)})
    assert (first.total, first.length, first.ending) == (1.5, 3, "terminated")
    assert (second.total, second.length, second.ending) == (2.0, 2, "open")
    assert (first.broken, second.broken) == (("distance is small",), ())
    assert (first.first_divergence, second.first_divergence) == (None, 1)


def test_one_episode_of_several(trajectory):
    part = cut_out(trajectory, 1)
    assert part.steps == trajectory.steps[3:]
    assert part.seed == trajectory.seed
    with pytest.raises(UsageError, match="no such episode"):
        cut_out(trajectory, 5)
