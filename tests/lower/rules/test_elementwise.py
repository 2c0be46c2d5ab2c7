"""Arithmetic, comparison, logic, bits, rounding and conversion: every operation, every dtype, extreme values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from kit.lowering import DTYPES, FLOATS, INTEGERS, Bench, Case, pairs, small
from torch import Tensor

pytestmark = pytest.mark.long  # its library takes a minute to compile

Table = Mapping[str, Callable[..., Any]]
NUMBERS = DTYPES[1:]

# Of two numbers.
ANY: Table = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "less": torch.less,
    "less_equal": torch.less_equal,
    "greater": torch.greater,
    "greater_equal": torch.greater_equal,
    "not_equal": torch.not_equal,
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "multiply": torch.multiply,
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "logical_not": lambda x, y: torch.logical_not(x),
    "isnan": lambda x, y: torch.isnan(x),
    "isinf": lambda x, y: torch.isinf(x),
    "isfinite": lambda x, y: torch.isfinite(x),
    "where": lambda x, y: torch.where(x > y, x, y),
    "add a number": lambda x, y: x + 1,
    "a number less": lambda x, y: 3 - x.to(torch.int32),
    "divide": lambda x, y: x / y,
    "true_divide": torch.true_divide,
    **{f"to {dtype}": (lambda x, y, dtype=dtype: x.to(dtype)) for dtype in (torch.bool, *FLOATS)},
    "double": lambda x, y: x.double(),
    "float": lambda x, y: x.float(),
    "bool": lambda x, y: x.bool(),
    "type_as": lambda x, y: y.double().type_as(x.float()),
    "neither": lambda x, y: ~(x == y),
}
NUMBER: Table = {
    "sub": lambda x, y: x - y,
    "subtract": torch.subtract,
    "rsub": lambda x, y: 7 - x,
    "neg": lambda x, y: -x,
    "negative": lambda x, y: torch.negative(x),
    "abs": lambda x, y: torch.abs(x),
    "absolute": lambda x, y: torch.absolute(x),
    "square": lambda x, y: torch.square(x),
    "pow 2": lambda x, y: x**2,
    "pow 3": lambda x, y: x**3,
    "sign": lambda x, y: torch.sign(x),
    "sgn": lambda x, y: torch.sgn(x),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "max": torch.max,
    "min": torch.min,
    "relu": lambda x, y: F.relu(x),
    "clamp": lambda x, y: x.clamp(3, 100),
    "clamp below": lambda x, y: x.clamp(max=7),
    "clip": lambda x, y: x.clip(1, 2),
    "clamp_min": lambda x, y: x.clamp_min(2),
    "clamp_max": lambda x, y: x.clamp_max(2),
    "clamp between tensors": lambda x, y: x.clamp(y, x),
    "clamp the wrong way": lambda x, y: x.clamp(50, 3),
    "clamp to a broken bound": lambda x, y: x.clamp(0.5, 2.5),
    "reciprocal": lambda x, y: torch.reciprocal(x),
    "divide by 3": lambda x, y: x / 3,
    "number / tensor": lambda x, y: 2.5 / x,
    "times a float": lambda x, y: x * 0.3,
    "below a float": lambda x, y: x < 0.5,
    "rounded": lambda x, y: torch.round(x),
    "floor": lambda x, y: torch.floor(x),
    "ceil": lambda x, y: torch.ceil(x),
    "trunc": lambda x, y: torch.trunc(x),
    "fix": lambda x, y: torch.fix(x),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, 3),
    "masked_fill a tensor": lambda x, y: x.masked_fill(y > 0, torch.tensor(3).to(x.dtype)),
    "polynomial": lambda x, y: ((x * 3 + 7) * x - 2) * y + x,
}
INTEGER: Table = {
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "and a number": lambda x, y: x & 5,
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
    "bitwise_not": lambda x, y: torch.bitwise_not(x),
    "invert": lambda x, y: ~x,
    "left": lambda x, y: x << y,
    "right": lambda x, y: x >> y,
    "left by 3": lambda x, y: x << 3,
    "right by 3": lambda x, y: x >> 3,
    "left by 7": lambda x, y: torch.bitwise_left_shift(x, 7),
    "right by 7": lambda x, y: torch.bitwise_right_shift(x, 7),
    "logical right": lambda x, y: (x >> 3) & ((1 << 5) - 1),
    "rotated": lambda x, y: (x << 3) | ((x >> 5) & 7),
    "add alpha": lambda x, y: torch.add(x, y, alpha=3),
    "sub alpha": lambda x, y: torch.sub(x, y, alpha=3),
    "rsub alpha": lambda x, y: torch.rsub(x, y, alpha=3),
    **{f"to {dtype}": (lambda x, y, dtype=dtype: x.to(dtype)) for dtype in INTEGERS},
    "int": lambda x, y: x.int(),
    "long": lambda x, y: x.long(),
}
BOOL: Table = {
    **{key: INTEGER[key] for key in ("and", "or", "xor", "bitwise_not", "invert", "int", "long")},
    **{f"to {dtype}": (lambda x, y, dtype=dtype: x.to(dtype)) for dtype in INTEGERS},
    **{f"add alpha {alpha}": (lambda x, y, a=alpha: torch.add(x, y, alpha=a)) for alpha in (False, True, 0, 1, 2)},
    "add a truth, alpha": lambda x, y: torch.add(x, True, alpha=False),
}
FLOAT: Table = {
    "div trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "clamp -1.5": lambda x, y: x.clamp(-1.5, 2.5),
    "a constant above": lambda x, y: torch.where(x > 0, float("inf"), -float("inf")) * x,
    "not a number": lambda x, y: torch.where(x > 0, float("nan"), x),
    "the root of its square": lambda x, y: torch.neg(torch.full_like(x, float("inf"))) + x,
    "less than all": lambda x, y: torch.neg(torch.full_like(x, -float("inf"))) - x,
    "zero less": lambda x, y: torch.where(x > y, -0.0, -torch.zeros_like(x)),
    "clamp to nothing": lambda x, y: x.clamp(min=float("nan")),
    "choice / number": lambda x, y: torch.where(x > 0, 0.1, torch.where(x > y, 0.3, -7.0)) / 0.3 - 0.1,
    "divided integer": lambda x, y: torch.where(x > 0, 3, 5).to(x.dtype) / 3,
}
# Whole divisions: torch raises for 0, and stops the process for the lowest integer by -1 (test_library has those).
WHOLE: Table = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "floor_divide": torch.floor_divide,
    "// 7": lambda x, y: x // 7,
    "% 7": lambda x, y: x % 7,
    "trunc 7": lambda x, y: torch.div(x, 7, rounding_mode="trunc"),
    "fmod 7": lambda x, y: torch.fmod(x, 7),
    "// 64": lambda x, y: x // 64,
    "% 64": lambda x, y: x % 64,
}
SIGNED_WHOLE: Table = {
    "// -3": lambda x, y: x // -3,
    "% -3": lambda x, y: x % -3,
    "trunc -3": lambda x, y: torch.div(x, -3, rounding_mode="trunc"),
    "fmod -3": lambda x, y: torch.fmod(x, -3),
}


def whole_pairs(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    x, y = pairs(dtype)
    y = torch.where(y == 0, 1, y)
    return x, y if dtype == torch.uint8 else torch.where((y == -1) & (x == torch.iinfo(dtype).min), 1, y)


def all_of(table: Table) -> Callable[..., Any]:
    return lambda *inputs: {name: function(*inputs) for name, function in table.items()}


def numbers_without_ties(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Pairs without -0.0: the larger of two zeros is either in torch, by whether a vector took it (see below)."""
    x, y = pairs(dtype)
    return (x, y) if not dtype.is_floating_point else (x + 0.0, y + 0.0)


def shifts(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    x, _ = pairs(dtype)
    return x, small(dtype, 0 if dtype == torch.uint8 else -70, 70)


def mixed(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Two dtypes, and one of them beside numbers and tensors without dimension: what torch promotes to what."""
    zero_dim = torch.tensor(3).to(y.dtype)
    return {
        "add": x + y,
        "mul": y * x,
        "eq": x == y,
        "lt": x < y,
        "where": torch.where(x == y, x, y),
        "where a number": torch.where(x > y, x, 1),
        "cat": torch.cat([x[:, None], y[:, None]], dim=1),
        "stack": torch.stack([x, y], dim=1),
        "add no dimension": x + zero_dim,
        "gt no dimension": x > zero_dim,
        "divide": x / zero_dim,
        "times a float": y * 0.1,
        "equal to a float": x == 0.5,
        **mixed_numbers(x, y),
    }


def mixed_numbers(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """The same, of what bools have not."""
    if torch.bool in (x.dtype, y.dtype):
        return {}
    return {
        "sub": y - x,
        "maximum": torch.maximum(x, y),
        "minimum": torch.minimum(y, x),
        "clamp": torch.clamp(x, y, y + 1),
        "divide": x / y,
        "logical": torch.logical_xor(x, y),
    }


def mixed_pairs(left: torch.dtype, right: torch.dtype) -> tuple[Tensor, Tensor]:
    x, y = pairs(left, right)
    return tuple(one + 0.0 if one.dtype.is_floating_point else one for one in (x, y))  # no -0.0, as above


TO_INTEGER: Table = {str(dtype): (lambda x, dtype=dtype: x.to(dtype)) for dtype in INTEGERS}
# To the same width, as bits.
VIEWS = {
    torch.float32: (torch.int32, torch.float32),
    torch.float64: (torch.int64, torch.float64),
    torch.int32: (torch.float32, torch.int32),
    torch.int64: (torch.float64,),
    torch.int8: (torch.uint8,),
    torch.uint8: (torch.int8,),
    torch.bool: (torch.uint8, torch.int8),
}


def viewed(x: Tensor) -> dict[str, Tensor]:
    return {str(dtype): x.view(dtype) for dtype in VIEWS[x.dtype]}


def in_range(dtype: torch.dtype) -> tuple[Tensor]:
    """Floats whose whole part every integer type can hold, -0.0 and subnormals among them."""
    x = pairs(dtype)[0]
    return (torch.where((x > -1) & (x < 128), x, 0.75),)


def chained(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """In place on what nobody else sees, as the draws do."""
    total = x + y
    total = total.add_(x)
    spilled = (x >> 3).bitwise_and_(31).add_(y, alpha=1 << 5)
    return {"total": total.bitwise_xor_(y), "spilled": spilled, "bool": (x > y).logical_not_()}


ORDER = list(itertools.combinations(DTYPES, 2))
CASES = [
    *(Case(f"any {dtype}", all_of(ANY), pairs(dtype)) for dtype in DTYPES),
    *(Case(f"numbers {dtype}", all_of(NUMBER), numbers_without_ties(dtype)) for dtype in NUMBERS),
    *(Case(f"integers {dtype}", all_of(INTEGER), shifts(dtype)) for dtype in INTEGERS),
    *(Case(f"bits {dtype}", all_of({k: INTEGER[k] for k in ("and", "or", "xor")}), pairs(dtype)) for dtype in INTEGERS),
    Case("bools", all_of(BOOL), pairs(torch.bool)),
    *(Case(f"floats {dtype}", all_of(FLOAT), pairs(dtype)) for dtype in FLOATS),
    *(Case(f"whole {dtype}", all_of(WHOLE), whole_pairs(dtype)) for dtype in INTEGERS),
    *(Case(f"whole by less {dtype}", all_of(SIGNED_WHOLE), pairs(dtype)) for dtype in INTEGERS if dtype != torch.uint8),
    *(Case(f"mixed {left} {right}", mixed, mixed_pairs(left, right)) for left, right in ORDER),
    *(Case(f"to integer {dtype}", all_of(TO_INTEGER), in_range(dtype)) for dtype in FLOATS),
    *(Case(f"view {dtype}", viewed, pairs(dtype)[:1]) for dtype in VIEWS),
    *(Case(f"in place {dtype}", chained, pairs(dtype)) for dtype in INTEGERS),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits_are_those_of_torch(bench: Bench, case: Case) -> None:
    assert bench.differences(case) == []
