"""Two one-sided t-tests (TOST): are two mean returns shown to differ by less than a margin that was stated before?

The null hypothesis is that they differ by the margin or more; what is shown is equivalence, never "no difference was
found". Equivalence at level alpha is the same as the 1 - 2 alpha interval of the difference lying within the margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from simulacrum.errors import UsageError

Verdict = Literal["equivalent", "not shown", "different"]
_SPREADS, _FEW = 20_000, 4_000  # draws of the two spreads over which power is averaged; fewer while n is looked for
_MOST_SEEDS = 10_000


@dataclass(frozen=True)
class Tost:
    """One comparison of two means. Returns are in the environment's own units.

    paired: whether the i-th values of both sides belong together. n: values a side. mean_a, mean_b, sd_a, sd_b: of each
    side; sd: of the paired differences, None where they are not paired. difference: mean_a - mean_b.
    low, high: the 1 - 2 alpha interval of the difference. p: the larger of the two one-sided p-values.
    verdict: "equivalent" - the interval lies within the margin; "different" - wholly outside it; else "not shown".
    """

    paired: bool
    margin: float
    alpha: float
    n: tuple[int, int]
    mean_a: float
    mean_b: float
    sd_a: float
    sd_b: float
    sd: float | None
    difference: float
    standard_error: float
    degrees: float
    low: float
    high: float
    p: float
    verdict: Verdict

    @property
    def spread(self) -> float | tuple[float, float]:
        """What the power is about: the spread of the differences, or those of both sides."""
        return (self.sd_a, self.sd_b) if self.sd is None else self.sd

    @cached_property
    def power(self) -> float:
        """The chance of "equivalent" if there were no difference, at this spread and this n."""
        return power(self.spread, self.n, margin=self.margin, alpha=self.alpha)

    @cached_property
    def needed(self) -> int | None:
        """Values a side for a power of 0.8 at this spread, None for more than 10,000."""
        return seeds_needed(self.spread, margin=self.margin, alpha=self.alpha)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {**asdict(self), "n": list(self.n), "power": self.power, "needed": self.needed}


def tost(a: Sequence[float], b: Sequence[float], *, margin: float, alpha: float = 0.05, paired: bool = False) -> Tost:
    """Compare the means of `a` and `b`, at least two values each.

    Args:
        a, b: one value for each independent unit: for policies, a training seed with its episodes averaged.
        margin: the smallest difference that matters, above 0; stated before the values were looked at.
        alpha: the chance of "equivalent" that is accepted where the true difference is the margin; below 0.5.
        paired: whether a[i] and b[i] belong together; else the Welch form, which lets the spreads differ.

    Raises:
        UsageError: too few values, values that are not finite, a margin or alpha out of range.
    """
    x, y = _checked(a, b, margin, alpha, paired)
    differences = x - y if paired else None
    difference = float(x.mean() - y.mean() if differences is None else differences.mean())
    if differences is not None:
        error, degrees = float(differences.std(ddof=1)) / math.sqrt(len(x)), float(len(x) - 1)
    else:
        error, degrees = _welch(x.var(ddof=1), y.var(ddof=1), len(x), len(y))
    half = _t_quantile(1 - alpha, degrees) * error
    low, high = difference - half, difference + half
    sd = None if differences is None else float(differences.std(ddof=1))
    spreads = (float(x.std(ddof=1)), float(y.std(ddof=1)))
    sizes = (len(x), len(y))
    return Tost(
        paired, margin, alpha, sizes, float(x.mean()), float(y.mean()), *spreads, sd, difference, error, degrees,
        float(low), float(high), _p(difference, error, degrees, margin), _verdict(low, high, margin),
    )  # fmt: skip


def power(
    spread: float | tuple[float, float],
    n: tuple[int, int],
    *,
    margin: float,
    alpha: float = 0.05,
    difference: float = 0.0,
    draws: int = _SPREADS,
) -> float:
    """The chance of "equivalent" for normal values.

    Args:
        spread: the standard deviation of paired differences, or those of both sides.
        n: values a side.
        margin, alpha: as of `tost`.
        difference: the true one; at the margin this is the rate of false acceptance.
        draws: of the spreads that a sample shows, from a fixed seed; given them, the chance is exact.
    """
    generator = np.random.default_rng(0)
    if isinstance(spread, tuple):
        variances = [
            (sd**2) * generator.chisquare(size - 1, draws) / (size - 1)
            for sd, size in zip(spread, n, strict=True)
        ]
        error, degrees = _welch(variances[0], variances[1], *n)
        true_error = math.sqrt(spread[0] ** 2 / n[0] + spread[1] ** 2 / n[1])
    else:
        error = spread * np.sqrt(generator.chisquare(n[0] - 1, draws) / (n[0] - 1) / n[0])
        degrees, true_error = np.full(draws, n[0] - 1.0), spread / math.sqrt(n[0])
    if true_error == 0:
        return float(abs(difference) < margin)
    room = margin - _t_quantile(1 - alpha, degrees) * error
    normal = _stats().norm.cdf
    chance = normal((room - difference) / true_error) - normal((-room - difference) / true_error)
    return float(np.where(room > 0, chance, 0.0).mean())


def seeds_needed(
    spread: float | tuple[float, float], *, margin: float, alpha: float = 0.05, wanted: float = 0.8
) -> int | None:
    """Values a side with which `power` reaches `wanted` where there is no difference; None for more than 10,000."""

    def reached(n: int) -> bool:
        return power(spread, (n, n), margin=margin, alpha=alpha, draws=_FEW) >= wanted

    low, high = 1, 2
    while not reached(high):
        low, high = high, high * 2
        if high > _MOST_SEEDS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _checked(
    a: Sequence[float], b: Sequence[float], margin: float, alpha: float, paired: bool
) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not (math.isfinite(margin) and margin > 0):
        raise UsageError("the margin is the difference that matters", expected="a number above 0", found=margin)
    if not 0 < alpha < 0.5:
        raise UsageError("alpha is a level", expected="above 0 and below 0.5", found=alpha)
    if min(len(x), len(y)) < 2:
        raise UsageError("a spread needs two values a side", expected="2 or more", found=f"{len(x)} and {len(y)}")
    if paired and len(x) != len(y):
        raise UsageError("pairs need a partner each", expected="as many on both sides", found=f"{len(x)} and {len(y)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise UsageError("a mean return is not a number", expected="finite returns", found=[*a, *b])
    return x, y


def _welch(variance_a: Any, variance_b: Any, n_a: int, n_b: int) -> tuple[Any, Any]:
    """Standard error of a difference of means, and the degrees of freedom of Welch and Satterthwaite."""
    part_a, part_b = variance_a / n_a, variance_b / n_b
    whole = part_a + part_b
    below = part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1)
    degrees = np.where(below > 0, whole**2 / np.where(below > 0, below, 1.0), n_a + n_b - 2.0)
    if np.ndim(whole) == 0:
        return float(np.sqrt(whole)), float(degrees)
    return np.sqrt(whole), degrees


def _p(difference: float, error: float, degrees: float, margin: float) -> float:
    if error == 0:
        return 0.0 if abs(difference) < margin else 1.0
    t = _stats().t
    above = t.sf((difference + margin) / error, degrees)  # against: it is -margin or less
    below = t.cdf((difference - margin) / error, degrees)  # against: it is margin or more
    return float(max(above, below))


def _verdict(low: float, high: float, margin: float) -> Verdict:
    if -margin < low and high < margin:
        return "equivalent"
    return "different" if low > margin or high < -margin else "not shown"


def _t_quantile(level: float, degrees: Any) -> Any:
    return _stats().t.ppf(level, degrees)


def _stats() -> Any:
    try:
        from scipy import stats
    except ModuleNotFoundError as error:
        raise UsageError(
            "the statistical form needs SciPy", next_step="pip install 'simulacrum[transfer]'"
        ) from error
    return stats
