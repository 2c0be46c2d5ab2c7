"""Over the items of a row: sums in order, any and all, extremes and their places, running sums, sorting."""

from __future__ import annotations

import pytest
import torch
from kit.lowering import DTYPES, FLOATS, INTEGERS, Bench, Case, items, small
from torch import Tensor

pytestmark = pytest.mark.long  # its library takes a minute to compile

SHAPES = ((5,), (3, 4), (2, 1, 3), (150,), (8, 20))  # the last two: too many to write out one by one
NUMBERS = DTYPES[1:]
USUAL = (torch.int32, torch.float32)


def shapes(dtype: torch.dtype) -> tuple[tuple[int, ...], ...]:
    """All of SHAPES for the usual types, one for the others."""
    return SHAPES if dtype in USUAL else ((3, 4),)


def sums(x: Tensor) -> dict[str, Tensor]:
    """Whole numbers: sum, prod, cumsum, cumprod over each dimension and several."""
    dims = range(1, x.dim())
    return {
        **{f"sum {dim}": x.sum(dim) for dim in dims},
        **{f"sum {dim} keep": x.sum(dim, keepdim=True) for dim in dims},
        "sum narrow": x.sum(-1, dtype=torch.int32),
        "sum all": x.sum(tuple(dims)),
        "prod": x.prod(-1),
        "prod narrow": x.prod(1, keepdim=True, dtype=torch.int32),
        **{f"cumsum {dim}": x.cumsum(dim) for dim in dims},
        "cumsum narrow": x.cumsum(-1, dtype=torch.int32),
        "cumprod": x.cumprod(1),
    }


def truths(x: Tensor) -> dict[str, Tensor]:
    """any, all and count_nonzero, of any dtype."""
    dims = range(1, x.dim())
    return {
        **{f"any {dim}": x.any(dim) for dim in dims},
        **{f"all {dim}": x.all(dim, keepdim=True) for dim in dims},
        "any all": torch.any(x, dim=tuple(dims)),
        "all all": torch.all(x, dim=tuple(dims)),
        "count": torch.count_nonzero(x, dim=-1),
        "count all": torch.count_nonzero(x, dim=tuple(dims)),
        "used": x.any(-1) + 1,
        "any of no dimension": torch.any(x, dim=()),
        "all of no dimension": torch.all(x, dim=(), keepdim=True),
    }


def extremes_of(x: Tensor) -> dict[str, Tensor]:
    """The largest and smallest and where they are: the first of equals, and NaN before all."""
    dims = range(1, x.dim())
    return {
        **{f"amax {dim}": x.amax(dim) for dim in dims},
        **{f"amin {dim}": x.amin(dim, keepdim=True) for dim in dims},
        "amax all": x.amax(tuple(dims)),
        "amin all": x.amin(tuple(dims), keepdim=True),
        **{f"max {dim} {part}": x.max(dim)[part] for dim in dims for part in (0, 1)},
        **{f"min {dim} {part}": x.min(-dim, keepdim=True)[part] for dim in dims for part in (0, 1)},
        **{f"argmax {dim}": x.argmax(dim) for dim in dims},
        **{f"argmin {dim}": x.argmin(-dim, keepdim=True) for dim in dims},
    }


def sorted_(x: Tensor) -> dict[str, Tensor]:
    made: dict[str, Tensor] = {}
    for dim in range(1, x.dim()):
        for descending in (False, True):
            values, places = torch.sort(x, dim=dim, stable=True, descending=descending)
            made |= {f"{dim} {descending}": values, f"{dim} {descending} places": places}
            made[f"argsort {dim} {descending}"] = torch.argsort(x, dim=dim, stable=True, descending=descending)
    return made


def at_places(x: Tensor, place: Tensor) -> dict[str, Tensor]:
    """What `cumsum`, `sort` and `argmax` give, looked up at places that the row computes."""
    running = x.cumsum(-1).gather(1, place[:, None])
    order = torch.sort(x, dim=-1, stable=True)
    return {
        "running": running,
        "sorted": order[0].gather(1, place[:, None]),
        "origin": order[1].gather(1, place[:, None]),
        "largest": x.gather(1, x.argmax(-1, keepdim=True)),
        "rank": torch.argsort(order[1], dim=-1, stable=True),
    }


def of_nothing(x: Tensor) -> dict[str, Tensor]:
    none = x[:, :0]
    sums = {"sum": none.sum(-1), "prod": none.prod(-1), "cumsum": none.cumsum(-1)}
    return {**sums, "any": none.any(-1), "all": none.all(-1)}


def without_zeros(dtype: torch.dtype, *shape: int) -> Tensor:
    """No -0.0: which of two zeros is larger torch decides by whether a vector took them."""
    x = items(dtype, *shape)
    return x + 0.0 if dtype.is_floating_point else x


def few(dtype: torch.dtype, *shape: int) -> Tensor:
    """Many ties, and some NaN among floats."""
    x = small(dtype, 0, 4, *shape)
    return torch.where(small(torch.int32, 0, 9, *shape, seed=7) == 0, float("nan"), x) if dtype in FLOATS else x


CASES = [
    *(Case(f"sums {d} {s}", sums, (items(d, *s),)) for d in (torch.bool, *INTEGERS) for s in shapes(d)),
    *(Case(f"truths {d} {s}", truths, (small(d, 0, 2, *s),)) for d in DTYPES for s in shapes(d)),
    *(Case(f"extremes {d} {s}", extremes_of, (without_zeros(d, *s),)) for d in NUMBERS for s in shapes(d)),
    *(Case(f"ties {d}", extremes_of, (few(d, 5),)) for d in NUMBERS),
    *(Case(f"many ties {d}", extremes_of, (few(d, 150),)) for d in USUAL),
    *(Case(f"sorted {d}", sorted_, (items(d, 2, 3),)) for d in DTYPES),
    *(Case(f"sorted {n} of {d}", sorted_, (items(d, n),)) for d in USUAL for n in (1, 6, 16)),
    *(Case(f"sorted ties {d}", sorted_, (few(d, 9),)) for d in NUMBERS),
    *(
        Case(f"at places {d} {n}", at_places, (small(d, -9, 9, n), small(torch.int64, 0, n)))
        for d in (torch.int32, torch.int64)
        for n in (5, 12)
    ),
    *(Case(f"of nothing {d}", of_nothing, (small(d, 0, 5, 3),)) for d in (torch.bool, torch.int32)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits_are_those_of_torch(bench: Bench, case: Case) -> None:
    assert bench.differences(case) == []
