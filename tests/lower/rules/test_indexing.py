"""Elements at computed places: gather, index, scatter, one_hot, and constant tables."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from kit.lowering import DTYPES, Bench, Case, items, small
from torch import Tensor

WEIGHTS = [0.5, -0.0, 1e-45, float("inf"), 0.1]


def looked_up(x: Tensor, place: Tensor, places: Tensor) -> dict[str, Tensor]:
    """In `[N, 5]`, at `place` `[N]` and `places` `[N, 3]`, 0..4."""
    n = x.shape[0]
    rows = torch.arange(n)
    return {
        "gather": x.gather(1, places),
        "gather -1": torch.gather(x, -1, place[:, None]).squeeze(-1),
        "gather stretched": x[:, :1].expand(-1, 5).gather(1, places),
        "index": x[rows, place],
        "index several": x[rows[:, None], places],
        "index from the end": x[rows, place - 5],
        "index int32": x[rows.int(), place.int()],
        "index_select": x.index_select(1, torch.tensor([3, 1, 3])),
        "index by constants": x[:, [4, -1, 0]],
        "masked": torch.where(places == 2, x[:, :3], x.gather(1, places)),
    }


def in_three(x: Tensor, place: Tensor, other: Tensor) -> dict[str, Tensor]:
    """In `[N, 3, 4]`, at `place` 0..2 and `other` 0..3."""
    rows = torch.arange(x.shape[0])
    flipped = x.flip(dims=(1,))
    return {
        "both": x[rows, place, other],
        "first": x[rows, place],
        "last": x[rows, :, other],
        "slice before": x[:, 1:][rows, place.clamp(max=1)],
        "computed": flipped[rows, place, other],
        "gather lines": x.gather(1, place[:, None, None].expand(-1, 1, 4)),
        "gather columns": x.gather(2, other[:, None, None].expand(-1, 3, 1)),
        "two constant lists": x[:, [0, 2, 1], [3, 0, 0]],
        "constant list at the end": x[:, :, [3, 0]],
        "lists apart": x[:, [0, 2]][:, :, [1, 1]],
    }


def written(x: Tensor, place: Tensor, places: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Into `[N, 5]`; the last of several writes to one place wins."""
    return {
        "scatter": x.scatter(1, places, value),
        "scatter one": x.scatter(1, place[:, None], value[:, :1]),
        "scatter a number": x.scatter(-1, places, 1),
        "scatter part": x.scatter(1, places[:, :2], value),
        "in the middle": x.unflatten(1, (5, 1)).scatter(1, places[:, :, None], value[:, :, None]),
    }


def added(x: Tensor, places: Tensor, value: Tensor) -> dict[str, Tensor]:
    none = torch.zeros_like(x)
    return {"scatter_add": x.scatter_add(1, places, value), "counted": none.scatter_add(1, places, value)}


def tables(place: Tensor, places: Tensor) -> dict[str, Tensor]:
    """Constants of the graph, at computed places 0..4, and whole."""
    return {
        "floats": torch.tensor(WEIGHTS)[place],
        "doubles": torch.tensor(WEIGHTS, dtype=torch.float64)[places],
        "whole": torch.tensor([1, -(2**63), 3, 2**63 - 1, 5])[place],
        "bytes": torch.tensor([-128, 127, 0, 1, 2], dtype=torch.int8)[place],
        "bools": torch.tensor([True, False, True, True, False])[places],
        "lines": torch.tensor([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]], dtype=torch.int32)[place],
        "pairs": torch.arange(25, dtype=torch.int32).reshape(5, 5)[place[:, None], places],
        "one line": torch.tensor([7, 8, 9])[None] + places,
        "one number": torch.tensor(7, dtype=torch.int32) + place,
        "index_select": torch.index_select(torch.tensor(WEIGHTS), 0, place),
        "to float": torch.tensor([2**54 + 2**30 + 1, 2**24 + 1, -(2**63)]).to(torch.float32) + places,
        "one_hot": F.one_hot(place, num_classes=5),
        "one_hot several": F.one_hot(places, num_classes=7),
        "one_hot at a place": F.one_hot(place, num_classes=5).gather(1, places),
        "compared": torch.arange(5) == place[:, None],
    }


def in_large(x: Tensor, y: Tensor, place: Tensor, places: Tensor) -> dict[str, Tensor]:
    """In `[N, 200]`, at `places` `[N, 140]`, 0..199."""
    computed = x * 2 + 1
    rows = torch.arange(x.shape[0])
    return {
        "gather": x.gather(1, places),
        "gather computed": computed.gather(1, places),
        "index": computed[rows, place],
        "scatter": x.scatter(1, place[:, None], y[:, :1]),
        "scatter many": x.scatter(1, places, y),
        "one_hot": F.one_hot(place, num_classes=200),
        "masked": torch.where(torch.arange(200) == place[:, None], 0, x),
        "table": torch.arange(200, dtype=torch.int32)[places],
    }


PLACE, PLACES = small(torch.int64, 0, 5), small(torch.int64, 0, 5, 3)
CASES = [
    *(Case(f"looked up {d}", looked_up, (items(d, 5), PLACE, PLACES)) for d in DTYPES),
    *(
        Case(f"in three {d}", in_three, (items(d, 3, 4), small(torch.int64, 0, 3), small(torch.int64, 0, 4)))
        for d in (torch.bool, torch.int16, torch.float32)
    ),
    *(Case(f"written {d}", written, (items(d, 5), PLACE, PLACES, items(d, 3, seed=1))) for d in DTYPES),
    *(Case(f"added {d}", added, (items(d, 5), PLACES, items(d, 3, seed=1))) for d in DTYPES[1:6]),
    Case("tables", tables, (PLACE, PLACES)),
    Case(
        "in large",
        in_large,
        (
            items(torch.int32, 200),
            items(torch.int32, 140, seed=1),
            small(torch.int64, 0, 200),
            small(torch.int64, 0, 200, 140),
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits_are_those_of_torch(bench: Bench, case: Case) -> None:
    assert bench.differences(case) == []
