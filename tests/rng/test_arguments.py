"""Arguments without meaning raise in both forms, with the same words, before anything is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from simulacrum.errors import DrawError
from simulacrum.portable.scalar import Float32
from simulacrum.rng import arguments, batched, scalar
from simulacrum.rng.layout import Layout, Slot

LAYOUT = Layout(
    [
        Slot("speed", "step", "uniform", "float32"),
        Slot("angle", "step", "uniform", "float64", 2),
        Slot("kind", "step", "integers", "int32", 3),
        Slot("wide", "step", "integers", "int64"),
        Slot("gust", "step", "bernoulli", "float32"),
        Slot("which", "step", "choice", "float32"),
        Slot("noise", "step", "normal", "float32"),
        Slot("start", "reset", "uniform", "float32"),
    ]
)
SPEED, ANGLE, WHICH = LAYOUT.slots[0], LAYOUT.slots[1], LAYOUT.slots[5]


def at_step(form: str) -> Any:
    if form == "scalar":
        return scalar.ScalarDraw(LAYOUT, "step", (1, 2), 0)
    zeros = torch.zeros(3, 2, dtype=torch.int32)
    return batched.BatchedDraw(LAYOUT, "step", zeros, zeros[:, 0])


NAN, INF = float("nan"), float("inf")
BAD_ARGUMENTS: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("uniform", ("speed",), {"low": 1, "high": 0}, "high is below low"),
    ("uniform", ("speed",), {"high": NAN}, "high is not finite"),
    ("uniform", ("speed",), {"high": 1e39}, "high is not finite in float32"),
    ("uniform", ("speed",), {"low": -3e38, "high": 3e38}, "high - low overflows float32"),
    ("uniform", ("speed",), {"high": "1"}, "high is not a number"),
    ("integers", ("kind", 0), {}, "there is no integer to draw"),
    ("integers", ("kind", 2**16 + 1), {}, "too many integers"),
    ("integers", ("kind", 3.0), {}, "high is not an integer"),
    ("integers", ("kind", 2**31 + 9), {"low": 2**31}, "do not fit int32"),
    ("integers", ("wide", 2**31 + 1), {}, "too many integers"),
    ("bernoulli", ("gust", 1.1), {}, "p is no probability"),
    ("bernoulli", ("gust", -0.1), {}, "p is no probability"),
    ("bernoulli", ("gust", NAN), {}, "p is not finite"),
    ("bernoulli", ("gust", True), {}, "p is not a number"),
    ("normal", ("noise", 0.0, -1.0), {}, "std is negative"),
    ("choice", ("which", (1, -1, 3)), {}, r"weights\[1\] is negative"),
    ("choice", ("which", (0, 0.0)), {}, "the weights choose nothing"),
    ("choice", ("which", ()), {}, "the weights choose nothing"),
    ("choice", ("which", (3e38, 3e38)), {}, "total weight overflows"),
    ("choice", ("which", (1, INF)), {}, r"weights\[1\] is not finite"),
    ("uniform", ("sped",), {}, "'sped' is not declared"),
    ("uniform", ("start",), {}, "declared for reset"),
    ("normal", ("speed",), {}, "declared as uniform"),
    ("uniform", ("angle",), {"index": 2}, "index out of range"),
    ("uniform", ("speed",), {"index": 0}, "has no indices"),
]


@pytest.mark.parametrize("form", ["scalar", "batched"])
@pytest.mark.parametrize(("method", "positional", "named", "fragment"), BAD_ARGUMENTS)
def test_bad_arguments(
    form: str, method: str, positional: tuple[Any, ...], named: dict[str, Any], fragment: str
) -> None:
    with pytest.raises(DrawError, match=fragment) as caught:
        getattr(at_step(form), method)(*positional, **named)
    assert repr(positional[0]) in str(caught.value)
    assert "at step" in str(caught.value)


def test_numbers_are_rounded_once_to_the_slots_dtype() -> None:
    assert arguments.rounded(0.1, SPEED, "p") == float(np.float32(0.1))
    assert arguments.rounded(np.float64(0.1), ANGLE, "p") == 0.1
    assert arguments.rounded(Float32(0.1), ANGLE, "p") == float(np.float32(0.1))
    # Rounding this integer to float64 first would round it twice, to the other neighbour.
    tricky = 2**60 + 2**36 + 1
    assert arguments.rounded(tricky, SPEED, "p") == float(torch.tensor(tricky).to(torch.float32))
    assert arguments.rounded(tricky, SPEED, "p") != float(np.float32(float(tricky)))


def test_partial_sums_round_every_addition() -> None:
    weights = (0.1, 0.2, 0.3, 1e-9)
    expected = np.float32(0)
    for weight, partial in zip(weights, arguments.cumulative(weights, WHICH), strict=True):
        expected = np.float32(expected + np.float32(weight))
        assert partial == float(expected)


@pytest.mark.parametrize(
    ("key", "t", "fragment"),
    [
        (torch.zeros(3, 2), torch.zeros(3, dtype=torch.int32), "key has the wrong form"),
        (torch.zeros(3, dtype=torch.int32), torch.zeros(3, dtype=torch.int32), "key has the wrong form"),
        (torch.zeros(3, 2, dtype=torch.int32), torch.zeros(3, dtype=torch.int64), "t has the wrong form"),
        (torch.zeros(3, 2, dtype=torch.int32), torch.zeros(2, dtype=torch.int32), "t has the wrong form"),
    ],
)
def test_keys_and_steps_of_another_form(key: torch.Tensor, t: torch.Tensor, fragment: str) -> None:
    with pytest.raises(DrawError, match=fragment):
        batched.BatchedDraw(LAYOUT, "step", key, t)


def test_a_tensor_of_floats_is_no_bound_of_integers() -> None:
    with pytest.raises(DrawError, match="high is a tensor of floats"):
        at_step("batched").integers("kind", torch.ones(3))
