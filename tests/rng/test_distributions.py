"""Exact properties of the arithmetic from words to values, at words chosen by hand, in both forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from simulacrum.portable.bits import round32
from simulacrum.rng import arguments, tensors, values
from simulacrum.rng.arguments import Span
from simulacrum.rng.layout import Slot

TOP = 2**32 - 1
EDGES = (0, 1, 255, 256, 2**31 - 1, 2**31, TOP - 256, TOP - 255, TOP)


def words(*numbers: int) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64).to(torch.int32)


def float32_slot(distribution: str) -> Slot:
    return Slot("x", "step", distribution, "float32")


def float64_slot(distribution: str) -> Slot:
    return Slot("x", "step", distribution, "float64")


def test_unit_is_exact_and_below_one() -> None:
    assert [values.unit((word,)) for word in EDGES] == tensors.unit((words(*EDGES),)).tolist()
    assert values.unit((TOP,)) == 1 - 2.0**-24
    pairs = list(itertools.product(EDGES, EDGES))
    first, second = words(*(a for a, _ in pairs)), words(*(b for _, b in pairs))
    assert [values.unit(pair) for pair in pairs] == tensors.unit((first, second)).tolist()
    assert values.unit((TOP, TOP)) == 1 - 2.0**-53
    assert values.unit((2**31, 0)) == 0.5


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 2.0), (1000.0, 1000.001), (-1.0, 1.0), (0.0, 1e-45), (3.0, 3.0)]
)
def test_uniform_never_reaches_high(low: float, high: float) -> None:
    bounds = arguments.uniform_bounds(low, high, float32_slot("uniform"))
    got = tensors.uniform((words(*EDGES),), bounds.low, bounds.high, bounds.width, "float32").tolist()
    assert got == [values.uniform((word,), bounds, round32) for word in EDGES]
    for value in got:
        assert bounds.low <= value < bounds.high or value == bounds.low == bounds.high


def test_without_the_guard_rounding_would_reach_high() -> None:
    # Why the guard is there: the largest u, scaled to [1, 2), rounds to 2.
    assert round32(1.0 + values.unit((TOP,))) == 2.0


def test_tensor_bounds_without_an_interval_give_low() -> None:
    low, high = torch.tensor([2.0, -0.0, math.nan]), torch.tensor([1.0, 0.0, 1.0])
    got = tensors.uniform((words(5, TOP, 7),), low, high, high - low, "float32").tolist()
    assert got[0] == 2.0
    assert math.copysign(1.0, got[1]) == 1.0
    assert math.isnan(got[2])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 52, 1000, 2**16 - 1, 2**16])
def test_integers_of_one_word_have_the_stated_bias(size: int) -> None:
    # The words that give k are those from ceil(k * 2**32 / size) on; counting them is counting the bias.
    starts = [-(-k * 2**32 // size) for k in range(size)] + [2**32]
    for k in {0, 1, size // 2, size - 1} & set(range(size)):
        assert values.integers((starts[k],), Span(0, size)) == k
        assert values.integers((starts[k + 1] - 1,), Span(0, size)) == k
    edges = sorted({word for start in starts for word in (start - 1, start) if 0 <= word <= TOP})
    got = tensors.integers((words(*edges),), 0, size, torch.int32).tolist()
    assert got == [values.integers((word,), Span(0, size)) for word in edges]
    for k in range(size):
        bias = Fraction(starts[k + 1] - starts[k], 2**32) - Fraction(1, size)
        assert abs(bias) < Fraction(1, 2**32)


@pytest.mark.parametrize("size", [1, 3, 1000, 2**31 - 1, 2**31])
def test_integers_of_two_words_are_the_high_half_of_a_128_bit_product(size: int) -> None:
    pairs = list(itertools.product(EDGES, EDGES))
    low = -(2**40)
    got = tensors.integers(
        (words(*(a for a, _ in pairs)), words(*(b for _, b in pairs))), low, size, torch.int64
    )
    assert got.tolist() == [low + ((a << 32 | b) * size >> 64) for a, b in pairs]
    assert got.tolist() == [values.integers(pair, Span(low, size)) for pair in pairs]


def test_bernoulli_at_its_ends_and_in_ulps_of_its_resolution() -> None:
    for p, expected in ((0.0, [False] * 9), (1.0, [True] * 9), (2.0**-24, [True] * 3 + [False] * 6)):
        assert [values.bernoulli((word,), p) for word in EDGES] == expected
        assert tensors.bernoulli((words(*EDGES),), p).tolist() == expected
    above, below, nan = torch.full((9,), 2.0), torch.full((9,), -1.0), torch.full((9,), math.nan)
    assert tensors.bernoulli((words(*EDGES),), above).all()
    assert not tensors.bernoulli((words(*EDGES),), below).any()
    assert not tensors.bernoulli((words(*EDGES),), nan).any()


WEIGHTS = [
    (0.0, 1.0, 0.0),
    (0.0, 0.1, 0.2, 0.0, 0.7, 0.0, 0.0),
    (1e8, 1.0, 1.0, 1.0),  # float32 absorbs the ones: they are as good as zero
    (3.0, 1e-30, 0.0),
    (2.0**-125, 0.0),
    (1.0,),
]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choice_never_gives_a_weight_of_zero(weights: tuple[float, ...], dtype: str) -> None:
    slot = Slot("x", "step", "choice", dtype)
    sums, real = arguments.cumulative(weights, slot), values.rounding(dtype)
    drawn = [(word,) if dtype == "float32" else (word, word) for word in EDGES]
    one = [values.choice(each, sums, real) for each in drawn]
    columns = tuple(words(*EDGES) for _ in drawn[0])
    several = tensors.choice(columns, sums)
    rows = [torch.full((9,), weight, dtype=tensors.DTYPES[dtype]) for weight in weights]
    by_tensor = tensors.choice(columns, tensors.partial_sums(rows))
    assert one == several.tolist() == by_tensor.tolist()
    assert several.dtype == torch.int32
    assert all(weights[index] > 0 for index in one)


def test_choice_by_subnormal_tensor_weights_stops_at_the_last_weight_above_zero() -> None:
    weights = [torch.tensor([value]) for value in (1e-45, 1e-45, 0.0)]
    assert tensors.choice((words(TOP),), tensors.partial_sums(weights)).tolist() == [1]


def test_choice_follows_the_weights() -> None:
    steps = range(0, 2**32, 2**20)
    sums = arguments.cumulative((1, 2, 3, 2), float32_slot("choice"))
    drawn = tensors.choice((words(*steps),), sums).bincount(minlength=4).tolist()
    assert drawn == [512, 1024, 1536, 1024]


@pytest.mark.parametrize("count", [1, 2, 5, 15, 16, 17, 80])
def test_permutation_is_the_place_by_word_then_item(count: int) -> None:
    generator = torch.Generator().manual_seed(count)
    for most in (2**32, 3):  # three distinct words: ties everywhere
        numbers = torch.randint(0, most, (50, count), generator=generator)
        if most == 3:
            numbers[numbers == 2] = TOP
        rows = tensors.permutation(numbers.to(torch.int32)).tolist()
        assert rows == [list(values.permutation(tuple(row))) for row in numbers.tolist()]
        assert all(sorted(row) == list(range(count)) for row in rows)


def test_every_permutation_of_three_comes_up_equally_often() -> None:
    found = [values.permutation(order) for order in itertools.permutations((10, 20, 30))]
    assert sorted(found) == sorted(itertools.permutations(range(3)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_at_the_edges(dtype: str) -> None:
    pairs = list(itertools.product(EDGES, EDGES))
    columns = words(*(a for a, _ in pairs)), words(*(b for _, b in pairs))
    got = tensors.normal(columns, 0.5, 3.0, tensors.DTYPES[dtype])
    assert got.dtype == tensors.DTYPES[dtype]
    assert got.tolist() == [values.normal(pair, 0.5, 3.0, values.rounding(dtype)) for pair in pairs]
    furthest = max(abs(values.normal(pair, 0.0, 1.0, float)) for pair in pairs)
    assert furthest == pytest.approx(math.sqrt(2 * math.log(2**33)), rel=1e-12)


def test_normal_has_no_negative_zero_and_no_spread_where_std_is_zero() -> None:
    columns = words(*EDGES), words(*reversed(EDGES))
    zeros = torch.zeros(9)
    for mean, std in ((0.0, 0.0), (0.0, zeros), (zeros, zeros), (zeros, 0.0)):
        assert tensors.normal(columns, mean, std, torch.float32).numpy().tobytes() == zeros.numpy().tobytes()


def test_normal_has_the_moments_of_the_normal_distribution() -> None:
    # A regular grid of words integrates the map itself: no sampling error, only that of the grid.
    grid = torch.arange(2**22, 2**32, 2**23)
    first, second = torch.meshgrid(grid, grid, indexing="ij")
    z = tensors.normal(
        (first.flatten().to(torch.int32), second.flatten().to(torch.int32)), 0.0, 1.0, torch.float64
    )
    moments = [float((z**k).mean()) for k in (1, 2, 3, 4)]
    # Midpoints of 512 cells a side flatten the tail: 1 in 1000 of the variance, 1 in 100 of the fourth.
    assert moments[0] == pytest.approx(0.0, abs=1e-12)
    assert moments[1] == pytest.approx(1.0, abs=2e-3)
    assert moments[2] == pytest.approx(0.0, abs=1e-12)
    assert moments[3] == pytest.approx(3.0, abs=6e-2)
