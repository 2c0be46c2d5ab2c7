"""Are words at neighbouring addresses independent? Small tests over the environment's own addressing.

Each statistic is turned into a probability p under independence; a test passes when p > 1e-6 in every order
of addresses. All inputs are fixed, so a test that passes once passes always. Each statistic is also shown a
planted bad generator, which it must reject: a test of randomness that cannot fail proves nothing.
`tests/benchmarks/statistics_large.py` does the same with TestU01 over gigabytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from scipy import stats
from torch import Tensor

from simulacrum.rng.batched import episode_key, split_seed, threefry2x32
from simulacrum.rng.layout import RESET_BLOCKS
from simulacrum.rng.tensors import unsigned

LEAST_P = 1e-6
Generator = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
RESET = RESET_BLOCKS - 2**32


def words(seeds: Tensor, episodes: Tensor, steps: Tensor, blocks: Tensor, generator: Generator) -> Tensor:
    """Unsigned words int64 [..., 2] at broadcast coordinates; `seeds` int64 with the upper word 0."""
    seed = torch.stack((seeds.to(torch.int32), torch.zeros_like(seeds, dtype=torch.int32)), -1)
    episode = episodes.to(torch.int32).expand(seeds.shape)
    key = torch.stack(
        generator(seed[..., 0], seed[..., 1], episode, torch.full_like(episode, 0x45504953)), -1
    )
    pair = generator(key[..., 0], key[..., 1], steps.to(torch.int32), blocks.to(torch.int32))
    return unsigned(torch.stack(pair, -1))


def count(n: int) -> Tensor:
    return torch.arange(n)


# Each order is a grid of addresses: the last axis varies fastest. 2**17 blocks of two words each.
def rows_then_steps(g: Generator) -> Tensor:
    return words(count(2**11)[None, :], torch.tensor(0), count(64)[:, None], torch.tensor(0), g)


def steps_of_one_row(g: Generator) -> Tensor:
    return words(torch.tensor([[9]]), torch.tensor(0), count(2**17)[None, :], torch.tensor(0), g)


def episodes_of_one_row(g: Generator) -> Tensor:
    return words(torch.full((1, 2**17), 9), count(2**17)[None, :], torch.tensor(0), torch.tensor(RESET), g)


def slots_then_steps(g: Generator) -> Tensor:
    return words(torch.tensor([[9]]), torch.tensor(0), count(2**11)[:, None], count(64)[None, :], g)


def seeds_one_bit_apart(g: Generator) -> Tensor:
    seeds = count(2**12)[:, None] * 7919 ^ (1 << count(32))[None, :]
    return words(seeds, torch.tensor(0), torch.tensor(0), torch.tensor(0), g)


def resets_between_steps(g: Generator) -> Tensor:
    seeds, none = count(2**10)[None, :], torch.tensor(0)
    reset = words(seeds.expand(64, -1), count(64)[:, None], none, torch.tensor(RESET), g)
    step = words(seeds.expand(64, -1), count(64)[:, None], none, none, g)
    return torch.stack((reset, step), 2).flatten(1, 2)


ORDERS = (
    rows_then_steps,
    steps_of_one_row,
    episodes_of_one_row,
    slots_then_steps,
    seeds_one_bit_apart,
    resets_between_steps,
)


def equal_bytes(sequence: Tensor) -> float:
    """Chi-square of the 256 byte values, for each of the four bytes of a word; the least p of the four."""
    worst = 1.0
    for shift in (0, 8, 16, 24):
        counts = (sequence.flatten() >> shift & 255).bincount(minlength=256)
        worst = min(worst, float(stats.chisquare(counts.numpy()).pvalue))
    return 1 - (1 - worst) ** 4


def correlation(first: Tensor, second: Tensor) -> float:
    """p of the sum of products of centred words: normal, variance known."""
    a, b = (part.flatten().to(torch.float64) / 2**32 - 0.5 for part in (first, second))
    return math.erfc(abs(float((a * b).mean())) * 12 * math.sqrt(a.numel()) / math.sqrt(2))


def serial(sequence: Tensor) -> float:
    """Correlation with the word 1, 2 and 3 places on, in the order given; the least p of the three."""
    flat = sequence.flatten()
    worst = min(correlation(flat[:-lag], flat[lag:]) for lag in (1, 2, 3))
    return 1 - (1 - worst) ** 3


def alike_bits(sequence: Tensor) -> float:
    """How many bits neighbouring words have in common: binomial, half of all."""
    flat = sequence.flatten()
    different = flat[1:] ^ flat[:-1]
    ones = sum(int((different >> bit & 1).sum()) for bit in range(32))
    total = 32 * different.numel()
    return math.erfc(abs(ones - total / 2) / math.sqrt(total / 4) / math.sqrt(2))


STATISTICS = (equal_bytes, serial, alike_bits)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_words_pass(order: Callable[[Generator], Tensor], statistic: Callable[[Tensor], float]) -> None:
    assert statistic(order(threefry2x32)) > LEAST_P


def test_the_grid_is_the_addressing_of_the_draws() -> None:
    seeds = torch.arange(5)
    key = episode_key(split_seed(range(5)), torch.full((5,), 3, dtype=torch.int32))
    want = threefry2x32(key[:, 0], key[:, 1], torch.full((5,), 8, dtype=torch.int32), RESET + 2)
    got = words(seeds, torch.tensor(3), torch.tensor(8), torch.tensor(RESET + 2), threefry2x32)
    assert torch.equal(got, unsigned(torch.stack(want, -1)))


def few_rounds(rounds: int) -> Generator:
    return lambda k0, k1, c0, c1: threefry2x32(k0, k1, c0, c1, rounds)


def coordinates_added(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
    """A sum of coordinates times odd constants: every coordinate matters, none is mixed."""
    return k0 * -1640531527 + c0 * 668265263 + c1, k1 * 40503 + c0 + c1 * -862048943


def low_byte_counts(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
    """Good words whose last byte is the counter's."""
    x0, x1 = threefry2x32(k0, k1, c0, c1)
    return x0 & ~255 | (c0 + k0) & 127, x1


def time_is_forgotten(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
    """Neighbouring steps share their words."""
    return threefry2x32(k0, k1, c0 >> 1, c1)


@pytest.mark.parametrize(
    ("statistic", "order", "generator"),
    [
        (equal_bytes, rows_then_steps, low_byte_counts),
        (equal_bytes, steps_of_one_row, coordinates_added),
        (serial, steps_of_one_row, coordinates_added),
        (serial, steps_of_one_row, time_is_forgotten),
        (alike_bits, steps_of_one_row, few_rounds(4)),
        (alike_bits, slots_then_steps, few_rounds(4)),
    ],
)
def test_planted_bad_generators_are_rejected(
    statistic: Callable[[Tensor], float], order: Callable[[Generator], Tensor], generator: Generator
) -> None:
    assert statistic(order(generator)) < LEAST_P


def slot_words(generator: Generator) -> Tensor:
    """Words of 8 one-word slots over 2**15 rows: [rows, 8]."""
    seeds = torch.arange(2**15)[:, None]
    return words(seeds, torch.tensor(0), torch.tensor(5), torch.arange(4)[None, :], generator).flatten(1)


def least_pair(columns: Tensor) -> float:
    slots = columns.shape[1]
    pairs = [(a, b) for a in range(slots) for b in range(a)]
    worst = min(correlation(columns[:, a], columns[:, b]) for a, b in pairs)
    return 1 - (1 - worst) ** len(pairs)


def test_no_two_slots_are_correlated_over_rows() -> None:
    assert least_pair(slot_words(threefry2x32)) > LEAST_P


def test_the_pair_test_rejects_slots_that_share_a_word() -> None:
    def shared(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
        return threefry2x32(k0, k1, c0, torch.where(c1 == 3, 1, c1).to(torch.int32))

    assert least_pair(slot_words(shared)) < LEAST_P


def key_collisions(bits: int, generator: Generator) -> tuple[int, float]:
    """Pairs of equal keys among 2**18 (row, episode), looking at `bits` bits, and how many chance gives."""
    seed, episode = (
        part.flatten() for part in torch.meshgrid(torch.arange(2**9), torch.arange(2**9), indexing="ij")
    )
    low, high = generator(
        seed.to(torch.int32),
        torch.zeros_like(seed, dtype=torch.int32),
        episode.to(torch.int32),
        torch.full_like(seed, 0x45504953, dtype=torch.int32),
    )
    half = bits // 2
    keys = (unsigned(low) >> 32 - half << half) | (unsigned(high) >> 32 - half)
    same = keys.unique(return_counts=True)[1]
    return int((same * (same - 1) // 2).sum()), math.comb(2**18, 2) / 2.0**bits


def test_episode_keys_collide_as_often_as_chance_has_it() -> None:
    found, expected = key_collisions(32, threefry2x32)  # 8 expected in 32 of the 64 bits
    assert min(stats.poisson.cdf(found, expected), stats.poisson.sf(found - 1, expected)) > LEAST_P
    assert key_collisions(64, threefry2x32)[0] == 0


def test_the_collision_test_rejects_keys_that_add_seed_and_episode() -> None:
    def added(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> tuple[Tensor, Tensor]:
        return threefry2x32(k0 + c0, k1, torch.zeros_like(c0), c1)

    found, expected = key_collisions(64, added)
    assert found > 1e6 * expected
    assert stats.poisson.sf(key_collisions(32, added)[0] - 1, key_collisions(32, added)[1]) < LEAST_P
