"""The generators that `generators.py` compares, in eager torch, with known answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from simulacrum.rng.batched import threefry2x32

LOW = 0xFFFFFFFF
ONES = (LOW,) * 4
ZEROS = (0,) * 4
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)

Words = tuple[Tensor, ...]


@dataclass(frozen=True)
class Generator:
    """`eager(k0, k1, c0, c1)`: tensors of `dtype` in, words out. `answers`: (key, counter, words)."""

    title: str
    symbol: str
    words: int
    dtype: torch.dtype
    eager: Callable[..., Words]
    answers: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]
    note: str


def philox2(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> Words:
    """Philox2x32-10 in int64 tensors; its key is k0 alone."""
    for number in range(10):
        product = c0 * 0xD256D193
        c0, c1 = ((product >> 32) & LOW) ^ ((k0 + number * 0x9E3779B9) & LOW) ^ c1, product & LOW
    return c0, c1


def philox4(
    k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor, c2: Tensor | int = 0, c3: Tensor | int = 0
) -> Words:
    """Philox4x32-10 in int64 tensors."""
    c2, c3 = c2 + torch.zeros_like(c0), c3 + torch.zeros_like(c0)
    for number in range(10):
        first, second = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        key0, key1 = (k0 + number * 0x9E3779B9) & LOW, (k1 + number * 0xBB67AE85) & LOW
        c0, c1 = ((second >> 32) & LOW) ^ c1 ^ key0, second & LOW
        c2, c3 = ((first >> 32) & LOW) ^ c3 ^ key1, first & LOW
    return c0, c1, c2, c3


def squares4(k0: Tensor, k1: Tensor, c0: Tensor, c1: Tensor) -> Words:
    """squares32 (4 rounds) in wrapping int64 tensors; key k1:k0, counter c0:c1."""

    def swap(x: Tensor) -> Tensor:
        return ((x >> 32) & LOW).add_(x << 32)

    key = (k1 << 32) + k0
    y = ((c0 << 32) + c1) * key
    z = y + key
    x = swap(y * y + y)
    x = swap(x * x + z)
    x = swap(x * x + y)
    return ((x * x + z >> 32) & LOW,)


def threefry(rounds: int) -> Callable[..., Words]:
    return lambda k0, k1, c0, c1: threefry2x32(k0, k1, c0, c1, rounds)


KEY2, KEY = (0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
SQUARES_KEY = (0xBCE65297, 0x548C9DEC)
# Philox and Threefry: kat_vectors of Random123. Squares: its paper has no vectors; independent libraries
# agree on 36d88366cee633a5, 944716e00e60dfaa, c8a8f4e0678654bf for the 64-bit form, whose upper half is the
# 32-bit form.
GENERATORS = (
    Generator(
        "Threefry2x32-13",
        "threefry13",
        2,
        torch.int32,
        threefry(13),
        (
            (ZEROS[:2], ZEROS[:2], (0x9D1C5EC6, 0x8BD50731)),
            (ONES[:2], ONES[:2], (0xFD36D048, 0x2D17272C)),
            (KEY2, PI[:2], (0xBA3E4725, 0xF27D669E)),
        ),
        "chosen",
    ),
    Generator(
        "Threefry2x32-20",
        "threefry20",
        2,
        torch.int32,
        threefry(20),
        (
            (ZEROS[:2], ZEROS[:2], (0x6B200159, 0x99BA4EFE)),
            (ONES[:2], ONES[:2], (0x1CB996FC, 0xBB002BE7)),
            (KEY2, PI[:2], (0xC4923A9C, 0x483DF7A0)),
        ),
        "the same with a margin of seven rounds",
    ),
    Generator(
        "Philox4x32-10",
        "philox4",
        4,
        torch.int64,
        philox4,
        (
            (ZEROS[:2], ZEROS, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
            (ONES[:2], ONES, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
            (KEY, PI[:4], (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
        ),
        "32 x 32 -> 64 products",
    ),
    Generator(
        "Philox2x32-10",
        "philox2",
        2,
        torch.int64,
        philox2,
        (
            ((0, 0), ZEROS[:2], (0xFF1DAE59, 0x6CD10DF2)),
            ((LOW, 0), ONES[:2], (0x2C3F628B, 0xAB4FD7AD)),
            ((0x13198A2E, 0), PI[:2], (0xDD7CE038, 0xF62A4C12)),
        ),
        "key of 32 bits only: too small here",
    ),
    Generator(
        "Squares (4 rounds)",
        "squares4",
        1,
        torch.int64,
        squares4,
        (
            (SQUARES_KEY, (0, 0), (0x36D88366,)),
            (SQUARES_KEY, (0, 1), (0x944716E0,)),
            (SQUARES_KEY, (0, 2), (0xC8A8F4E0,)),
        ),
        "64-bit products; needs keys of its own kind",
    ),
)
