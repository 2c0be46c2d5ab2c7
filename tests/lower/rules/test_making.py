"""Tensors from nothing, and choices between them."""

from __future__ import annotations

import pytest
import torch
from kit.lowering import DTYPES, Bench, Case, items
from torch import Tensor


def made(x: Tensor) -> dict[str, Tensor]:
    """Beside `[N, 3]`."""
    n = x.shape[0]
    return {
        "zeros": torch.zeros(n, 2, dtype=x.dtype),
        "ones": torch.ones((n, 2), dtype=x.dtype),
        "full": torch.full((n,), 3, dtype=x.dtype),
        "zeros_like": torch.zeros_like(x),
        "ones_like": torch.ones_like(x, dtype=torch.int16),
        "full_like": torch.full_like(x, 1),
        "new_zeros": x.new_zeros(n, 2),
        "new_ones": x.new_ones((n, 2)),
        "new_full": x.new_full((n,), 1, dtype=torch.float32),
        "as_tensor": torch.as_tensor([1, 0, 1], dtype=x.dtype) == x,
        "new_tensor": x.new_tensor([1, 0, 1]) == x,
        "scalar": torch.where(x == 1, torch.scalar_tensor(2, dtype=x.dtype), x),
        "lifted": torch.tensor(1).to(x.dtype) == x,
        "repeated": torch.tensor([[1, 2, 3]]).repeat(n, 1),
        "expanded": torch.tensor([1, 2, 3]).expand(n, 3),
    }


def ranges(x: Tensor) -> dict[str, Tensor]:
    """Beside int32 `[N, 3]`."""
    n = x.shape[0]
    return {
        "arange": x + torch.arange(3),
        "arange from": x + torch.arange(-4, 2, 2),
        "arange down": x + torch.arange(3, 0, -1, dtype=torch.int32),
        "arange to float": x * torch.arange(3).to(torch.float32) * 0.1,
        "rows": torch.arange(n),
        "rows narrow": torch.arange(n, dtype=torch.int32),
        "eye": torch.eye(3) * x[:, None],
        "eye not square": torch.eye(2, 3, dtype=torch.int32) + x[:, None],
        "zeros of a shape": torch.zeros((2, 3), dtype=torch.int32) + x[:, None],
        "tile": torch.arange(2).tile(3)[:3] + x,
    }


def chosen(x: Tensor) -> dict[str, Tensor]:
    """`where` and `masked_fill` where the choice is known, in part, or not at all."""
    yes, no = torch.ones_like(x, dtype=torch.bool), torch.zeros_like(x, dtype=torch.bool)
    some = torch.tensor([True, False, True])
    return {
        "yes": torch.where(yes, x, 1),
        "no": torch.where(no, x, 1),
        "some": torch.where(some, x, 0),
        "bools": torch.where(x == 1, True, some),
        "numbers": torch.where(x == 1, 2, 3),
        "floats": torch.where(x == 1, 0.1, 0.2),
        "mixed numbers": torch.where(x == 1, 2, 0.5),
        "nested": torch.where(x == 0, 1, torch.where(x == 1, 2, torch.where(yes, x, 5))),
        "same": torch.where(x == 1, x, x),
        "stretched": torch.where((x == 1)[:, :, None], x[:, None, :], torch.tensor(1).to(x.dtype)),
        "fill": x.masked_fill(some, 1),
        "fill stretched": x.masked_fill((x == 1)[:, :1], 0),
    }


CASES = [
    *(Case(f"made {d}", made, (items(d, 3),)) for d in DTYPES),
    *(Case(f"chosen {d}", chosen, (items(d, 3),)) for d in DTYPES),
    Case("ranges", ranges, (items(torch.int32, 3),)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits_are_those_of_torch(bench: Bench, case: Case) -> None:
    assert bench.differences(case) == []
