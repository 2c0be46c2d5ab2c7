"""Random programs: expressions over a few inputs of mixed types and shapes, lowered and compared bit for bit.

A program is a list of steps, each an operation on earlier values; Hypothesis makes the list, and `run` gives it meaning
in torch. Many programs share one library, so that one call of the compiler serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kit.lowering import Bench, Case, items, small
from torch import Tensor

TYPES = (torch.bool, torch.int8, torch.uint8, torch.int32, torch.int64, torch.float32, torch.float64)
INPUTS = (
    items(torch.int32),
    items(torch.float32, 4),
    items(torch.int64, 3),
    items(torch.bool, 4),
    items(torch.uint8, 3),
    items(torch.float64, 3, 4) + 0.0,
    items(torch.int8, 3, 4),
    small(torch.int32, 0, 90, 140),  # more elements than are written out
)
WINDOWS = ((0, 1), (64, 128), (0, 1030))

Step = tuple[str, int, int, int]  # an operation, two earlier values, and a number that it may use


def whole(x: Tensor) -> Tensor:
    """`x` as int32 where it is a float; a float beyond the integers has another value alone and in a batch of torch."""
    return torch.where(x.abs() < 1000, x, 7).to(torch.int32) if x.is_floating_point() else x


def number(x: Tensor) -> Tensor:
    """`x` as int32 where it is a bool; without -0.0, of which either is the larger zero."""
    return x.to(torch.int32) if x.dtype == torch.bool else x + 0


def integer(x: Tensor) -> Tensor:
    return number(whole(x))


def fitting(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both with shapes that stretch to one: of the second, where it does not, one element a row."""
    n = x.shape[0]
    try:
        torch.broadcast_shapes(x.shape[1:], y.shape[1:])
    except RuntimeError:
        y = y.reshape(n, -1)[:, 0]
    rank = max(x.dim(), y.dim())
    return tuple(one.reshape(n, *[1] * (rank - one.dim()), *one.shape[1:]) for one in (x, y))


def flat(x: Tensor) -> Tensor:
    """`[N, K]`, K at least 1."""
    return x.reshape(x.shape[0], -1)


def places(x: Tensor, length: int) -> Tensor:
    """`[N, K]` of 0..length-1."""
    return (flat(integer(x))[:, :5].long() % length + length) % length


def binary(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda x, y, k: function(*fitting(x, y))


def dim_of(x: Tensor, k: int) -> int:
    return k % (x.dim() - 1) + 1 if x.dim() > 1 else 0


def reduced(function: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    def over(x: Tensor, y: Tensor, k: int) -> Tensor:
        x = x if x.dim() > 1 else x[:, None]
        return function(x, dim_of(x, k))

    return over


def divisor(y: Tensor) -> Tensor:
    y = integer(y)
    return torch.where((y == 0) | (y == -1), 3, y)


OPERATIONS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "add": binary(lambda x, y: x + y),
    "sub": binary(lambda x, y: number(x) - number(y)),
    "mul": binary(lambda x, y: x * y),
    "div": binary(lambda x, y: x / y),
    "add a number": lambda x, y, k: x + k,
    "times a number": lambda x, y, k: x * (k * 0.37),
    "less a number": lambda x, y, k: k - number(x),
    "//": binary(lambda x, y: integer(x) // divisor(y)),
    "%": binary(lambda x, y: integer(x) % divisor(y)),
    "fmod": lambda x, y, k: torch.fmod(integer(x), k + 2),
    "and": binary(lambda x, y: integer(x) & integer(y)),
    "xor": binary(lambda x, y: integer(x) ^ integer(y)),
    "not": lambda x, y, k: ~integer(x),
    "shl": lambda x, y, k: integer(x) << (k % 7),
    "shr": lambda x, y, k: integer(x) >> (k % 7),
    "neg": lambda x, y, k: -number(x),
    "abs": lambda x, y, k: number(x).abs(),
    "sign": lambda x, y, k: torch.sign(number(x)),
    "square": lambda x, y, k: torch.square(number(x)),
    "floor": lambda x, y, k: torch.floor(number(x)),
    "round": lambda x, y, k: torch.round(number(x)),
    "maximum": binary(lambda x, y: torch.maximum(number(x), number(y))),
    "minimum": binary(lambda x, y: torch.minimum(number(x), number(y))),
    "clamp": lambda x, y, k: number(x).clamp(k - 3, k + 3),
    "lt": binary(lambda x, y: x < y),
    "eq": binary(lambda x, y: x == y),
    "isnan": lambda x, y, k: torch.isnan(x),
    "where": binary(lambda x, y: torch.where(x > y, x, y)),
    "where a number": lambda x, y, k: torch.where(x > k, x, k),
    "logical": binary(torch.logical_xor),
    "fill": lambda x, y, k: x.masked_fill(x == k, 1),
    "to": lambda x, y, k: (x if TYPES[k].is_floating_point or TYPES[k] == torch.bool else whole(x)).to(TYPES[k]),
    "float": lambda x, y, k: x.float(),
    "view": lambda x, y, k: x.float().view(torch.int32) if not x.is_floating_point() else integer(x),
    "sum": reduced(lambda x, dim: integer(x).sum(dim)),
    "any": reduced(lambda x, dim: x.any(dim)),
    "all": reduced(lambda x, dim: (x != 0).all(dim, keepdim=True)),
    "amax": reduced(lambda x, dim: number(x).amax(dim)),
    "amin": reduced(lambda x, dim: number(x).amin(dim, keepdim=True)),
    "argmax": reduced(lambda x, dim: number(x).argmax(dim)),
    "cumsum": reduced(lambda x, dim: integer(x).cumsum(dim)),
    "flip": reduced(lambda x, dim: x.flip(dims=(dim,))),
    "unsqueeze": lambda x, y, k: flat(x)[:, :4].unsqueeze(-1),
    "flatten": lambda x, y, k: flat(x),
    "permute": lambda x, y, k: x.movedim(-1, 1) if x.dim() > 1 else x,
    "stack": binary(lambda x, y: torch.stack(torch.broadcast_tensors(x, y), dim=-1)),
    "cat": lambda x, y, k: torch.cat([flat(x)[:, :40], flat(y)[:, :40]], dim=1),
    "roll": lambda x, y, k: flat(x).roll(k, dims=1),
    "sort": lambda x, y, k: torch.sort(flat(x)[:, :5], dim=1, stable=True)[k % 2],
    "gather": lambda x, y, k: flat(x).gather(1, places(y, flat(x).shape[1])),
    "index": lambda x, y, k: flat(x)[torch.arange(x.shape[0]), places(y, flat(x).shape[1])[:, 0]],
    "scatter": lambda x, y, k: flat(x).scatter(1, places(y, flat(x).shape[1]), 1),
    "one_hot": lambda x, y, k: torch.nn.functional.one_hot(places(x, 5)[:, 0], num_classes=5),
    "table": lambda x, y, k: torch.tensor([3, -1, 4, 1, -5])[places(x, 5)],
}


def run(steps: tuple[Step, ...], *inputs: Tensor) -> dict[str, Tensor]:
    """The last values of a program; a value of more than 300 elements a row is cut."""
    values = list(inputs)
    for name, left, right, k in steps:
        made = OPERATIONS[name](values[left % len(values)], values[right % len(values)], k)
        values.append(made if flat(made).shape[1] <= 300 and made.dim() <= 4 else flat(made)[:, :90])
    return {f"{len(values) - at}": values[-at] for at in range(1, 4)}


NUMBERS = st.integers(0, 6)
STEP = st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 40), st.integers(0, 40), NUMBERS)
PROGRAM = st.lists(STEP, min_size=3, max_size=12).map(tuple)


def programs(count: int, shard: int) -> list[tuple[Step, ...]]:
    """`count` programs, the same in every run."""
    made: list[tuple[Step, ...]] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(PROGRAM)
    def collect(program: tuple[Step, ...]) -> None:
        made.append(program)

    collect.hypothesis.inner_test.__name__ += str(shard)  # its name is the seed
    collect()
    return made


def agree(count: int, shard: int, folder: Path) -> None:
    cases = [
        Case(f"{number}: {program}", lambda *given, program=program: run(program, *given), INPUTS, WINDOWS)
        for number, program in enumerate(programs(count, shard))
    ]
    bench = Bench(cases, folder)
    wrong: list[Any] = [(name, error) for name, error in bench.errors.items()]
    wrong += [(case, lines) for case in cases if case.name not in bench.errors and (lines := bench.differences(case))]
    assert wrong == [], f"{len(wrong)} of {len(cases)}; the first: {wrong[0]}"


@pytest.mark.long
def test_random_programs_have_the_bits_of_torch(tmp_path: Path) -> None:
    agree(25, 0, tmp_path)


@pytest.mark.long
@pytest.mark.nightly
def test_many_random_programs_have_the_bits_of_torch(tmp_path: Path) -> None:
    agree(100, 1, tmp_path)
