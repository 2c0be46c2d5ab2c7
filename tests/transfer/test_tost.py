"""Two one-sided tests against values of other programs, and their rates against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from simulacrum.errors import UsageError
from simulacrum.transfer.tost import power, seeds_needed, tost

pytest.importorskip("scipy")
A = [7.1, 6.4, 8.9, 7.7, 5.8, 6.9, 8.0]
B = [6.6, 7.0, 7.9, 6.1, 7.4, 8.8, 6.3]


# Computed with statsmodels 0.15.0: ttost_ind(A, B, -1.5, 1.5, usevar="unequal") and ttost_paired(A, B, -1.5, 1.5).
@pytest.mark.parametrize(
    ("b", "paired", "p", "degrees"),
    [
        (B, False, 0.011157369829759779, 11.9231073801368),
        (B[:5], False, 0.016222623643531216, 9.992802928725869),
        (B, True, 0.023230665951862618, 6.0),
    ],
)
def test_agrees_with_statsmodels(b, paired, p, degrees):
    found = tost(A, b, margin=1.5, paired=paired)
    assert found.p == pytest.approx(p, rel=1e-12)
    assert found.degrees == pytest.approx(degrees, rel=1e-12)
    assert found.verdict == "equivalent"


def test_interval_and_p_say_the_same():
    inside = tost(A, B, margin=1.5)
    assert -1.5 < inside.low < inside.difference < inside.high < 1.5
    edge = max(abs(inside.low), abs(inside.high))
    assert tost(A, B, margin=edge).p == pytest.approx(0.05, rel=1e-9)
    assert tost(A, B, margin=edge * 0.999).verdict == "not shown"
    assert tost(A, B, margin=edge * 1.001).verdict == "equivalent"


def test_no_difference_found_is_not_equivalence():
    few = tost([0.0, 10.0, 20.0], [1.0, 9.0, 22.0], margin=1.0)
    assert few.low < 0 < few.high
    assert few.verdict == "not shown"
    assert few.power < 0.01


def test_different_is_wholly_beyond_the_margin():
    assert tost([5.0, 5.1, 4.9], [1.0, 1.1, 0.9], margin=1.0).verdict == "different"
    assert tost([1.0, 1.1, 0.9], [5.0, 5.1, 4.9], margin=1.0).verdict == "different"
    beside = tost([2.05, 2.15, 1.95], [1.0, 1.1, 0.9], margin=1.0)  # the difference is real, the margin within reach
    assert beside.low > 0
    assert beside.verdict == "not shown"


def test_returns_without_spread():
    same = tost([500.0] * 3, [500.0] * 3, margin=1.0)
    assert (same.verdict, same.p, same.power, same.needed) == ("equivalent", 0.0, 1.0, 2)
    assert tost([500.0] * 3, [490.0] * 3, margin=1.0).verdict == "different"


# n for 80 % power with a margin of 1, 0.5 and 0.25 spreads; the normal approximation 2 (1.645 + 1.282)^2 / margin^2
# gives 18, 69 and 275.
@pytest.mark.parametrize(("margin", "n"), [(1.0, 18), (0.5, 69), (0.25, 275)])
def test_seeds_needed(margin, n):
    assert seeds_needed((1.0, 1.0), margin=margin) == pytest.approx(n, abs=1 + n / 100)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("difference", "margin"), [(0.0, 1.2), (0.5, 1.2), (1.2, 1.2)])
def test_power_is_what_repetitions_show(paired, difference, margin):
    generator, repetitions, n = np.random.default_rng(5), 1500, 10
    a = generator.normal(difference, 1.0, (repetitions, n))
    b = generator.normal(0.0, 0.0 if paired else 1.5, (repetitions, n))
    verdicts = [tost(x, y, margin=margin, paired=paired).verdict for x, y in zip(a, b, strict=True)]
    found = np.mean([one == "equivalent" for one in verdicts])
    stated = power(1.0 if paired else (1.0, 1.5), (n, n), margin=margin, difference=difference)
    assert found == pytest.approx(stated, abs=4 * (stated * (1 - stated) / repetitions) ** 0.5 + 0.002)
    if difference == margin:
        assert stated <= 0.053


@pytest.mark.parametrize(
    ("a", "b", "more", "message"),
    [
        (A, B, {"margin": 0.0}, "margin"),
        (A, B, {"margin": float("nan")}, "margin"),
        (A, B, {"margin": 1.0, "alpha": 0.5}, "alpha"),
        (A[:1], B, {"margin": 1.0}, "two values"),
        (A, B[:3], {"margin": 1.0, "paired": True}, "partner"),
        ([1.0, float("inf")], B, {"margin": 1.0}, "not a number"),
    ],
)
def test_refused(a, b, more, message):
    with pytest.raises(UsageError, match=message):
        tost(a, b, **more)
