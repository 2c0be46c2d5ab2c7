"""From words to values, a batch at a time. `values.py` is the same page for one value; the bits are equal.

Words are int32 tensors that hold unsigned 32-bit numbers: sums and products wrap, and a logical shift right
is an arithmetic one followed by a mask. One-word draws are given (w,), two-word draws (w0, w1), each [N] or
[N, K]. Plain numbers were checked and rounded by `arguments`; tensors are only converted to the slot's dtype,
since looking at their values would wait for the device. What a tensor out of range gives is said below.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from simulacrum.portable.tensor import cos, log, sqrt
from simulacrum.rng.arguments import SMALLEST
from simulacrum.rng.values import TWO_PI

Words = tuple[Tensor, ...]
Real = Tensor | float

DTYPES = {
    "bool": torch.bool,
    "int32": torch.int32,
    "int64": torch.int64,
    "float32": torch.float32,
    "float64": torch.float64,
}
_LOW = 0xFFFFFFFF
# Up to this many items a permutation compares all pairs: it fuses, and costs no more than a sort when eager.
PAIRWISE = 16


def logical_shift(word: Tensor, bits: int) -> Tensor:
    """word >> bits of an unsigned word."""
    return (word >> bits) & ((1 << (32 - bits)) - 1)


def unsigned(word: Tensor) -> Tensor:
    """The word as an int64 0..2**32-1."""
    return word.to(torch.int64) & _LOW


def unit(words: Words) -> Tensor:
    """Uniform in [0, 1): float32 from 24 bits of one word, float64 from 53 bits of two. Exact."""
    if len(words) == 1:
        return logical_shift(words[0], 8).to(torch.float32) * 2.0**-24
    high, low = logical_shift(words[0], 5).to(torch.float64), logical_shift(words[1], 6).to(torch.float64)
    return (high * 67108864.0 + low) * 2.0**-53


def uniform(words: Words, low: Real, high: Real, width: Real, dtype: str) -> Tensor:
    """low + u * width, and low where that reached high. Tensor bounds with high < low, or NaN, give low."""
    u = unit(words)
    value = u if isinstance(width, float) and width == 1.0 else u * width
    if isinstance(low, float) and low == 0.0 and isinstance(high, float) and high >= SMALLEST[dtype]:
        return value  # u * high stays below high, and adding 0.0 changes nothing
    if isinstance(low, Tensor):
        low = torch.where(low == 0, 0.0, low)  # -0.0 becomes 0.0
    value = value + low
    return torch.where(value < high, value, low)


def integers(words: Words, low: Tensor | int, size: Tensor | int, dtype: torch.dtype) -> Tensor:
    """low + (word * size >> 32), or of 64 bits with two words.

    Tensor bounds out of range go through the same formula in wrapping int64: a size of 0 gives low.
    """
    product = unsigned(words[-1]) * size >> 32
    if len(words) == 2:
        product = unsigned(words[0]) * size + (product & _LOW) >> 32
    if isinstance(low, Tensor) or low != 0:
        product = product + low
    return product.to(dtype)


def bernoulli(words: Words, p: Real) -> Tensor:
    """u < p. A tensor p below 0 or NaN is never true, above 1 always."""
    return unit(words) < p


def normal(words: Words, mean: Real, std: Real, dtype: torch.dtype) -> Tensor:
    """mean + std * z; z by Box and Muller in float64, rounded once. A negative tensor std mirrors z."""
    first, second = unsigned(words[0]).to(torch.float64), unsigned(words[1]).to(torch.float64)
    radius = sqrt(log((first + 0.5) * 2.0**-32) * -2.0)
    z = (radius * cos(second * (TWO_PI * 2.0**-32))).to(dtype)
    if isinstance(std, Tensor) or std != 1.0:
        z = z * std
    return z + mean


def partial_sums(weights: Sequence[Real]) -> list[Real]:
    """Sums of the first 1, 2, ... weights, from left to right."""
    sums = [weights[0]]
    for weight in weights[1:]:
        sums.append(sums[-1] + weight)
    return sums


def choice(words: Words, sums: Sequence[Real]) -> Tensor:
    """How many partial sums are at or below u * total, those that equal the total left out. int32.

    Tensor weights that sum to zero, are negative or NaN give some index 0..M-1, the same one in every form.
    """
    total = sums[-1]
    target = unit(words) * total
    index = torch.zeros_like(target, dtype=torch.int32)
    for edge in sums[:-1]:
        passed = target >= edge
        if isinstance(total, Tensor):
            # Where u * total rounded up to total, this stops at the last weight above zero.
            passed = passed & (edge < total)
        index = index + passed
    return index


def permutation(words: Tensor) -> Tensor:
    """Place of each item when items are sorted by (word, item), int32 [N, K], from words [N, K]."""
    count = words.shape[1]
    item = torch.arange(count, device=words.device)
    key = unsigned(words) * count + item  # distinct, and ordered as (word, item)
    if count > PAIRWISE:
        return key.argsort(dim=1).argsort(dim=1).to(torch.int32)
    return (key.unsqueeze(1) < key.unsqueeze(2)).sum(dim=2).to(torch.int32)
