"""The portable functions and the draws, lowered from the torch operations that they are made of."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from kit.lowering import FLOATS, ROWS, Bench, Case, items, pairs, small
from torch import Tensor

from simulacrum.portable import tensor as portable
from simulacrum.rng import golden
from simulacrum.rng.batched import BatchedDraw, episode_key

pytestmark = [pytest.mark.long, pytest.mark.nightly]

UNARY = ("sqrt", "exp", "log", "tanh", "sin", "cos", "tan", "positive_zero")


def functions(x: Tensor) -> dict[str, Tensor]:
    return {name: getattr(portable, name)(x) for name in UNARY}


def arguments(dtype: torch.dtype) -> Tensor:
    """Extreme values, and angles and exponents of the usual size."""
    x = pairs(dtype)[0]
    x[64:] = torch.linspace(-9, 9, ROWS - 64, dtype=dtype)
    return x


def of_two(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    return {"atan2": portable.atan2(x, y), "pow": portable.pow(x, y), "pow 2.5": portable.pow(x.abs(), 2.5)}


def sums(x: Tensor) -> dict[str, Tensor]:
    return {"sum": portable.ordered_sum(x), "over the first": portable.ordered_sum(x.unflatten(1, (3, 4)), dim=1)}


# Slots of `golden`; p is float32 [N] in 0..1, n int32 [N] above 0.
DRAWS: dict[str, Any] = {
    "unit": lambda d, p, n: d.uniform("unit"),
    "unit between": lambda d, p, n: d.uniform("unit", -p, p),
    "float64": lambda d, p, n: d.uniform("angle", -3.5, 3.5),
    "position": lambda d, p, n: d.uniform("position", p, 9.0),
    "one position": lambda d, p, n: d.uniform("position", -0.3, 0.1, index=2),
    "die": lambda d, p, n: d.integers("die", 7, low=1),
    "die of n": lambda d, p, n: d.integers("die", n),
    "cells": lambda d, p, n: d.integers("cell", 2**16),
    "cell": lambda d, p, n: d.integers("cell", n, index=3),
    "wide": lambda d, p, n: d.integers("wide", 2**31 - 2**40, low=-(2**40)),
    "wide below n": lambda d, p, n: d.integers("wide", n, index=1),
    "gust": lambda d, p, n: d.bernoulli("gust", 0.1),
    "fault": lambda d, p, n: d.bernoulli("fault", p),
    "kind": lambda d, p, n: d.choice("kind", (0.5, 0, 1.25, 0.1, 0)),
    "kind by tensors": lambda d, p, n: d.choice("kind", (p, 1.0, p, 0.0), index=1),
    "rare": lambda d, p, n: d.choice("rare", (1, 2, 3, 4)),
}


def draws(phase: str, names: tuple[str, ...]) -> Any:
    def drawn(seed: Tensor, episode: Tensor, t: Tensor, p: Tensor, n: Tensor) -> dict[str, Tensor]:
        key = episode_key(seed, episode)
        layout = golden.layout(phase)
        draw = BatchedDraw(layout, phase, key, t)
        made = {name: DRAWS[name](draw, p, n) for name in names}
        for slot in layout.slots:
            if slot.distribution == "normal":
                made[f"normal {slot.name}"] = draw.normal(slot.name)
            if slot.distribution == "permutation":
                made[f"permutation {slot.name}"] = draw.permutation(slot.name)
        return {**made, "key": key}

    return drawn


KEYED = (
    items(torch.int32, 2),
    items(torch.int32, seed=1),
    small(torch.int32, 0, 1000),
    torch.rand(ROWS, generator=torch.Generator().manual_seed(0)),
    small(torch.int32, 1, 2**15),
)
CASES = [
    *(Case(f"functions {d}", functions, (arguments(d),)) for d in FLOATS),
    *(Case(f"of two {d}", of_two, pairs(d)) for d in FLOATS),
    *(Case(f"sums {d}", sums, (items(d, 12),)) for d in (*FLOATS, torch.int32)),
    Case("draws at a step", draws("step", tuple(DRAWS)), KEYED),
    Case("draws at reset", draws("reset", ("unit", "cells")), KEYED),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits_are_those_of_torch(bench: Bench, case: Case) -> None:
    assert bench.differences(case) == []
